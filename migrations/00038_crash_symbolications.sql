-- +goose Up
set local lock_timeout = '3s';
-- What symbols made of crashes, and which symbols they lack.

-- The frames of a crash as the developer wrote the code; no row: nothing was looked up.
create table crash_symbolications (
    crash_id        uuid primary key,
    organization_id bigint not null references organizations on delete cascade,
    -- pending: a task will look the symbols up.
    state           text not null check (state in ('pending', 'complete', 'partial', 'missing', 'none')),
    -- The number of files that were looked for and are not there.
    missing         integer not null default 0,
    symbolicated_at timestamptz not null default now(),
    -- Compressed JSON: the report that was read out of a dump; null for other crashes.
    report          bytea,
    -- Compressed JSON: the frames that were replaced, and what served them; null while pending.
    frames          bytea,
    -- Compressed JSON: why the crash has its key, where it was computed anew after the
    -- crash was processed; null: as in crash_explanations.
    explanation     bytea
);
alter table crash_symbolications alter column report set storage external;
alter table crash_symbolications alter column frames set storage external;
alter table crash_symbolications alter column explanation set storage external;

-- The key that the first crash of a key got when its symbols arrived: an alias, which
-- belongs to the same group. Crashes that get another one leave the group.
create table crash_group_aliases (
    key_id       bigint primary key references crash_group_keys on delete cascade,
    alias_key_id bigint not null references crash_group_keys on delete cascade
);
-- Removing a key takes its place as an alias along.
create index crash_group_aliases_alias on crash_group_aliases (alias_key_id);

-- A file that crashes of a project lack.
create table symbol_needs (
    id               bigint generated always as identity primary key,
    organization_id  bigint not null references organizations on delete cascade,
    crash_project_id bigint not null references crash_projects on delete cascade,
    kind             text not null check (kind in ('native', 'proguard', 'sourcemap')),
    -- The module, script or application that it is for.
    name             text not null,
    version          text not null default '',
    arch             text not null default '',
    -- Digest of kind, name and identifiers: one row for each need.
    digest           bytea not null,
    -- What was looked for, in order: [{"type","value","release"}].
    looked_for       jsonb not null,
    first_seen       timestamptz not null,
    last_seen        timestamptz not null,
    unique (crash_project_id, digest)
);
-- The list of what is missing, last seen first.
create index symbol_needs_list on symbol_needs (organization_id, last_seen desc, id desc);

-- The names under which a file would serve a need: symbols that arrive look here.
create table symbol_need_identifiers (
    organization_id bigint not null references organizations on delete cascade,
    type            text not null,
    value           text not null,
    release         text not null default '',
    need_id         bigint not null references symbol_needs on delete cascade,
    primary key (organization_id, type, value, release, need_id)
);
-- Removing a need takes its names along.
create index symbol_need_identifiers_need on symbol_need_identifiers (need_id);

-- The crashes that lack a file. The ids of crashes sort by time: newest first is an order
-- of the key.
create table crash_needs (
    need_id         bigint not null references symbol_needs on delete cascade,
    crash_id        uuid not null,
    primary key (need_id, crash_id)
);
-- A crash that is read, symbolicated anew or removed looks for its needs.
create index crash_needs_crash on crash_needs (crash_id);

-- A dSYM that came before its build waits for it here: the image UUIDs of symbols.
create table symbol_images (
    organization_id bigint not null references organizations on delete cascade,
    image_uuid      text not null,
    symbol_id       bigint not null references symbols on delete cascade,
    -- A build that arrives looks for its symbols.
    primary key (organization_id, image_uuid, symbol_id)
);
create index symbol_images_symbol on symbol_images (symbol_id);

-- Groups whose reports went apart when symbols arrived, and where to.
create table crash_group_successors (
    group_id     bigint not null references crash_groups on delete cascade,
    successor_id bigint not null references crash_groups on delete cascade,
    crashes      bigint not null default 0,
    created_at   timestamptz not null default now(),
    primary key (group_id, successor_id)
);
-- Removing a group takes its place in others along.
create index crash_group_successors_successor on crash_group_successors (successor_id);
