-- +goose Up
-- Who may call: organizations, their people and service accounts, keys, and
-- the audit trail of what they changed. Numeric ids are what the distribution
-- interfaces show, uuids what the authoring interface shows.

create table organizations (
    id          bigint generated always as identity primary key,
    uuid        uuid not null unique,
    slug        text not null unique check (slug ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'),
    name        text not null check (length(name) between 1 and 255),
    created_at  timestamptz not null default now()
);

create table teams (
    id              bigint generated always as identity primary key,
    uuid            uuid not null unique,
    organization_id bigint not null references organizations on delete cascade,
    name            text not null check (length(name) between 1 and 255),
    created_at      timestamptz not null default now(),
    unique (organization_id, name)
);

-- A service account is a user of kind 'service': it has keys and a role, but
-- no mail address and no sign-in.
create table users (
    id          bigint generated always as identity primary key,
    uuid        uuid not null unique,
    kind        text not null default 'person' check (kind in ('person', 'service')),
    username    text not null unique,
    email       text,
    name        text not null default '',
    created_at  timestamptz not null default now(),
    check ((kind = 'person') = (email is not null))
);
-- Basic authentication of the distribution interfaces names the mail address.
create unique index users_email on users (lower(email));

create table memberships (
    id              bigint generated always as identity primary key,
    organization_id bigint not null references organizations on delete cascade,
    user_id         bigint not null references users on delete cascade,
    role            text not null check (role in ('owner', 'admin', 'member', 'tester')),
    blocked_at      timestamptz,
    created_at      timestamptz not null default now(),
    unique (organization_id, user_id)
);
-- Authentication by key looks for the memberships of one user.
create index memberships_user on memberships (user_id);

create table team_memberships (
    team_id     bigint not null references teams on delete cascade,
    user_id     bigint not null references users on delete cascade,
    admin       boolean not null default false,
    created_at  timestamptz not null default now(),
    primary key (team_id, user_id)
);
create index team_memberships_user on team_memberships (user_id);

-- One table for both kinds of personal keys: 'api' (distribution, upload,
-- crash reading) and 'access' (authoring). Only the SHA-256 digest is kept.
create table api_keys (
    id              bigint generated always as identity primary key,
    organization_id bigint not null references organizations on delete cascade,
    user_id         bigint not null references users on delete cascade,
    kind            text not null check (kind in ('api', 'access')),
    name            text not null default '',
    digest          bytea not null unique check (length(digest) = 32),
    hint            text not null,
    created_at      timestamptz not null default now(),
    last_used_at    timestamptz,
    revoked_at      timestamptz
);
create index api_keys_user on api_keys (user_id, kind) where revoked_at is null;

-- Operators run the installation; they belong to no organization.
create table operators (
    id          bigint generated always as identity primary key,
    username    text not null unique,
    digest      bytea not null check (length(digest) = 32),
    created_at  timestamptz not null default now(),
    revoked_at  timestamptz
);

-- Append-only: a trigger refuses changes. Rows name their subject by text, so
-- that they outlive it.
create table audit_events (
    id              bigint generated always as identity primary key,
    organization_id bigint,
    at              timestamptz not null default now(),
    type            integer not null,
    action          text not null,
    actor_user_id   bigint,
    actor           text not null,
    subject         text not null default '',
    detail          jsonb not null default '{}',
    request_id      text not null default '',
    ip_address      text not null default ''
);
-- The trails page through one organization's events, newest first.
create index audit_events_organization on audit_events (organization_id, id desc);

-- +goose StatementBegin
create function refuse_change() returns trigger language plpgsql as $$
begin
    raise exception '% is append-only', tg_table_name;
end $$;
-- +goose StatementEnd
create trigger audit_events_append_only before update or delete on audit_events
    for each row execute function refuse_change();
