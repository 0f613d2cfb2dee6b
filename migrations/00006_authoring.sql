-- +goose Up
set local lock_timeout = '3s';
-- What people author: cases with their revisions, suites, variables and tunnels.
--
-- Cases and revisions have ids of 24 hexadecimal digits, as the authoring
-- interface has always shown them: 4 bytes of seconds since 1970, so that their
-- order is roughly time, and 8 random bytes. Everything else has uuids.

-- Names are searched for by any part of them; this index type serves that. The
-- extension is a trusted one: the owner of the database may create it.
create extension if not exists pg_trgm;

create table test_suites (
    id              uuid primary key,            -- version 7: order is time
    organization_id bigint not null references organizations on delete cascade,
    team_id         bigint not null references teams on delete cascade,
    name            text not null check (length(name) between 1 and 255),
    tags            text[] not null default '{}',
    run_count       bigint not null default 0,
    -- Users by their public id, which outlives them.
    creator_uuid    uuid not null,
    modifier_uuid   uuid not null,
    created_at      timestamptz not null default now(),
    updated_at      timestamptz not null default now()
);
-- The list pages through an organization's suites, newest first.
create index test_suites_newest on test_suites (organization_id, created_at desc, id desc);
-- The list searches by any part of a name. Without fastupdate: a search would read
-- the list of pending entries whole.
create index test_suites_name on test_suites using gin (lower(name) gin_trgm_ops) with (fastupdate = off);
-- Deleting a team looks for its suites.
create index test_suites_team on test_suites (team_id);

create table test_cases (
    id              text primary key check (id ~ '^[0-9a-f]{24}$'),
    organization_id bigint not null references organizations on delete cascade,
    team_id         bigint not null references teams on delete cascade,
    suite_id        uuid references test_suites on delete set null,
    name            text not null check (length(name) between 1 and 255),
    tags            text[] not null default '{}',
    run_settings    jsonb not null,
    -- Whether run_settings name a target and the newest revision has a step, so that
    -- suites count what can run.
    runnable        boolean not null,
    creator_uuid    uuid not null,
    modifier_uuid   uuid not null,
    created_at      timestamptz not null default now(),
    updated_at      timestamptz not null default now()
);
-- The list pages through an organization's cases, newest first.
create index test_cases_newest on test_cases (organization_id, created_at desc, id desc);
-- The list searches by any part of a name.
create index test_cases_name on test_cases using gin (lower(name) gin_trgm_ops) with (fastupdate = off);
-- A suite counts its cases, and runs them.
create index test_cases_suite on test_cases (suite_id, id) where suite_id is not null;
-- Deleting a team looks for its cases.
create index test_cases_team on test_cases (team_id);

create table test_revisions (
    id                text primary key check (id ~ '^[0-9a-f]{24}$'),
    case_id           text not null references test_cases on delete cascade,
    number            integer not null,          -- from 1
    intent            text not null default '',
    steps             jsonb not null,
    discovered_intent text not null default '',
    description       text not null default '',
    reasoning         jsonb not null default '[]',
    created_at        timestamptz not null default now(),
    unique (case_id, number)
);

create table test_variables (
    id              uuid primary key,
    organization_id bigint not null references organizations on delete cascade,
    scope           text not null check (scope in ('org', 'team', 'testSuite', 'testCase')),
    team_id         bigint references teams on delete cascade,
    suite_id        uuid references test_suites on delete cascade,
    case_id         text references test_cases on delete cascade,
    name            text not null check (name ~ '^[a-z0-9_]{1,64}$'),
    is_secret       boolean not null,
    value           text,                        -- of one that is no secret
    sealed          bytea,                       -- of a secret, encrypted
    version         integer not null default 1,  -- rises with each change
    creator_uuid    uuid not null,
    modifier_uuid   uuid not null,
    created_at      timestamptz not null default now(),
    updated_at      timestamptz not null default now(),
    check (is_secret = (sealed is not null) and is_secret = (value is null)),
    check ((scope = 'team') = (team_id is not null) and (scope = 'testSuite') = (suite_id is not null)
        and (scope = 'testCase') = (case_id is not null))
);
-- A name is used once in each scope; a run reads an organization's variables.
create unique index test_variables_name on test_variables
    (organization_id, name, scope, coalesce(team_id, 0), coalesce(suite_id, '00000000-0000-0000-0000-000000000000'), coalesce(case_id, ''));
-- Deleting a team looks for its variables.
create index test_variables_team on test_variables (team_id) where team_id is not null;
-- Deleting a suite looks for its variables.
create index test_variables_suite on test_variables (suite_id) where suite_id is not null;
-- Deleting a case looks for its variables.
create index test_variables_case on test_variables (case_id) where case_id is not null;

-- Named proxies that workers can reach. The address may hold a password and is
-- encrypted.
create table tunnels (
    organization_id bigint not null references organizations on delete cascade,
    name            text not null check (length(name) between 1 and 100),
    kind            text not null check (kind in ('http', 'socks5')),
    host            text not null,               -- host and port, for people
    sealed          bytea not null,              -- the whole address
    creator_uuid    uuid not null,
    created_at      timestamptz not null default now(),
    primary key (organization_id, name)
);
