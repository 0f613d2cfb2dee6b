-- +goose Up
-- Crashes, from the bytes that a client sent to the groups that people read.

create table crash_projects (
    id              bigint generated always as identity primary key,
    organization_id bigint not null references organizations on delete cascade,
    name            text not null check (length(name) between 1 and 255),
    created_at      timestamptz not null default now(),
    unique (organization_id, name)
);

create table crash_tokens (
    id               bigint generated always as identity primary key,
    crash_project_id bigint not null references crash_projects on delete cascade,
    name             text not null default '',
    digest           bytea not null unique check (length(digest) = 32),
    hint             text not null,
    scopes           text[] not null default '{error:post}',
    quota_per_minute integer check (quota_per_minute > 0),
    created_at       timestamptz not null default now(),
    revoked_at       timestamptz
);
create index crash_tokens_project on crash_tokens (crash_project_id) where revoked_at is null;

-- The reports of one commit and organization: their documents (scrubbed, one
-- after another) compressed together. entries is a JSON array, one object a
-- report: {"project","start","end","format","conflict_of"}; start and end are
-- byte offsets in the inflated body. The id of report n is the batch id with n
-- in its last byte, so no index leads from a report to its batch.
create table crash_batches (
    id              uuid primary key,
    organization_id bigint not null references organizations on delete cascade,
    received_at     timestamptz not null default now(),
    entries         jsonb not null,
    body            bytea not null
);
-- The body is compressed already.
alter table crash_batches alter column body set storage external;

-- Which uuids a crash project has seen. The first body under a uuid is the
-- report; another body under the same uuid is kept as a conflict.
create table crash_uuids (
    project_id bigint not null,
    uuid       uuid not null,
    digest     bytea not null,
    crash_id   uuid not null,
    conflict   boolean not null default false
);
create unique index crash_uuids_first on crash_uuids (project_id, uuid) where not conflict;
create unique index crash_uuids_conflict on crash_uuids (project_id, uuid, digest) where conflict;

create table crash_groups (
    id              bigint generated always as identity primary key,
    organization_id bigint not null references organizations on delete cascade,
    project_id      bigint not null references crash_projects on delete cascade,
    fingerprint     bytea not null,
    algorithm       smallint not null,
    title           text not null,
    culprit         text not null,
    classifier      text not null,
    state           text not null default 'open' check (state in ('open', 'resolved', 'ignored')),
    count           bigint not null,
    first_seen      timestamptz not null,
    last_seen       timestamptz not null,
    resolved_at     timestamptz,
    reopened_at     timestamptz,
    regressions     integer not null default 0,
    created_at      timestamptz not null default now()
) with (fillfactor = 70);
-- The three orders of the group list.
create index crash_groups_last_seen on crash_groups (organization_id, last_seen desc, id desc);
create index crash_groups_first_seen on crash_groups (organization_id, first_seen desc, id desc);
create index crash_groups_count on crash_groups (organization_id, count desc, id desc);

-- Key -> group: a report belongs to a key, a key to a group. Merging groups
-- and late re-keying move keys, never reports.
create table crash_group_keys (
    id         bigint generated always as identity primary key,
    project_id bigint not null references crash_projects on delete cascade,
    key        bytea not null check (length(key) = 32),
    algorithm  smallint not null,
    group_id   bigint not null references crash_groups on delete cascade,
    created_at timestamptz not null default now(),
    unique (project_id, key)
);
create index crash_group_keys_group on crash_group_keys (group_id);

create table crash_group_days (
    group_id bigint not null references crash_groups on delete cascade,
    day      date not null,
    count    bigint not null,
    primary key (group_id, day)
) with (fillfactor = 70);

-- Versions and hosts affected, a bounded number of distinct values a group.
create table crash_group_values (
    group_id   bigint not null references crash_groups on delete cascade,
    kind       text not null check (kind in ('version', 'host')),
    value      text not null,
    count      bigint not null,
    first_seen timestamptz not null,
    last_seen  timestamptz not null,
    primary key (group_id, kind, value)
) with (fillfactor = 70);

-- One row a report, written by the worker. key_id is null where the format is
-- stored but not read (state 'stored') or the report broke the worker's rules
-- (state 'failed', with the reason in error).
create table crashes (
    id              uuid primary key,
    organization_id bigint not null references organizations on delete cascade,
    project_id      bigint not null,
    key_id          bigint references crash_group_keys on delete cascade,
    uuid            uuid not null,
    uuid_conflict_of uuid,
    state           text not null check (state in ('processed', 'stored', 'failed')),
    format          text not null,
    error           text,
    occurred_at     timestamptz not null,
    received_at     timestamptz not null,
    processed_at    timestamptz not null default now(),
    lang            text not null,
    agent           text not null,
    classifier      text not null,
    message         text not null,
    version         text not null,
    host            text not null,
    duplicates      integer not null default 1,
    attributes      jsonb not null
);
-- The crashes of a group, newest first, are those of its keys.
create index crashes_key on crashes (key_id, occurred_at desc);
-- All crashes of an organization, newest first.
create index crashes_received on crashes (organization_id, received_at desc, id desc);
-- attribute.KEY=VALUE, of groups and of the purge.
create index crashes_attributes on crashes using gin (attributes jsonb_path_ops);
-- A purge reads the documents of the few reports that have no attributes here.
create index crashes_failed on crashes (organization_id, id) where state = 'failed';

-- Why each report of a batch got its key: JSON documents compressed together,
-- offsets has one more element than the batch has entries.
create table crash_explanations (
    batch_id uuid primary key references crash_batches on delete cascade,
    offsets  integer[] not null,
    body     bytea not null
);
alter table crash_explanations alter column body set storage external;

create table crash_attachments (
    id              uuid primary key,
    organization_id bigint not null references organizations on delete cascade,
    crash_id        uuid not null,
    name            text not null,
    content_type    text not null,
    size            bigint not null,
    object_key      text not null unique,
    created_at      timestamptz not null default now()
);
create index crash_attachments_crash on crash_attachments (crash_id);

-- The ids of groups that were merged away lead to the group that has their
-- reports now.
create table crash_group_merges (
    old_id    bigint primary key,
    group_id  bigint not null references crash_groups on delete cascade,
    merged_at timestamptz not null default now()
);
create index crash_group_merges_group on crash_group_merges (group_id);
