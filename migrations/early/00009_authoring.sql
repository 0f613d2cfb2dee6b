-- +goose Up
set local lock_timeout = '3s';
-- Tests: cases with their revisions, suites, runs with their jobs and files,
-- variables, tunnels, and the events that webhooks deliver.

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
-- Without fastupdate: a search would read the list of pending entries whole.
create index test_suites_name on test_suites using gin (lower(name) gin_trgm_ops) with (fastupdate = off);
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
create index test_cases_name on test_cases using gin (lower(name) gin_trgm_ops) with (fastupdate = off);
-- A suite counts its cases, and runs them.
create index test_cases_suite on test_cases (suite_id, id) where suite_id is not null;
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

-- Runs name their case and suite without a foreign key: those may go while a run
-- is under way, and run:upkeep removes in steps what nobody can reach any more.
create table suite_runs (
    id              uuid primary key,            -- version 7; also the id of its suite:run task
    organization_id bigint not null references organizations on delete cascade,
    team_id         bigint not null,
    suite_id        uuid not null,
    suite_name      text not null,
    user_uuid       uuid not null,
    build_name      text not null,
    status          text not null default 'QUEUED'
                    check (status in ('QUEUED', 'RUNNING', 'PASSED', 'FAILED', 'ERROR', 'CANCELLED')),
    run_count       integer not null,            -- case runs that it starts
    -- The case runs are all there; before that the run cannot end.
    fanned_out      boolean not null default false,
    error           text not null default '',
    request_id      text not null default '',
    created_at      timestamptz not null default now(),
    started_at      timestamptz,
    finished_at     timestamptz
);
create index suite_runs_newest on suite_runs (suite_id, created_at desc, id desc);
create index suite_runs_age on suite_runs (created_at);
create index suite_runs_organization on suite_runs (organization_id);

create table test_runs (
    id              uuid primary key,            -- version 7
    organization_id bigint not null references organizations on delete cascade,
    team_id         bigint not null,
    case_id         text not null,
    revision_id     text not null,
    suite_run_id    uuid references suite_runs on delete cascade,
    user_uuid       uuid not null,
    case_name       text not null,
    build_name      text not null,
    test_url        text not null default '',
    tunnel          text not null default '',
    status          text not null default 'QUEUED'
                    check (status in ('QUEUED', 'RUNNING', 'PASSED', 'FAILED', 'ERROR', 'CANCELLED')),
    created_at      timestamptz not null default now(),
    started_at      timestamptz,
    finished_at     timestamptz,
    unique (suite_run_id, case_id)
);
create index test_runs_newest on test_runs (case_id, created_at desc, id desc);
create index test_runs_age on test_runs (created_at);
create index test_runs_organization on test_runs (organization_id);

create table test_jobs (
    id              uuid primary key,            -- also the id of its test:job task
    organization_id bigint not null references organizations on delete cascade,
    run_id          uuid not null references test_runs on delete cascade,
    position        integer not null,            -- from 0, the order of the targets
    target          jsonb not null,              -- effective capabilities
    status          text not null default 'QUEUED'
                    check (status in ('QUEUED', 'RUNNING', 'PASSED', 'FAILED', 'ERROR', 'CANCELLED')),
    error_code      text not null default '',
    error           text not null default '',
    records         jsonb not null default '[]', -- what became of each step
    healed          integer not null default 0,  -- steps that found their element by the fingerprint
    started_at      timestamptz,
    finished_at     timestamptz,
    unique (run_id, position)
);
-- The net under everything: jobs that are open, compared with their tasks.
create index test_jobs_open on test_jobs (id) where status in ('QUEUED', 'RUNNING');
create index test_jobs_organization on test_jobs (organization_id);

create table run_files (
    id              uuid primary key,
    organization_id bigint not null references organizations on delete cascade,
    job_id          uuid not null references test_jobs on delete cascade,
    kind            text not null check (kind in ('screenshot', 'source', 'console')),
    step            integer not null,            -- place of the step, from 0
    object_key      text not null unique,
    content_type    text not null,
    size            bigint not null,
    created_at      timestamptz not null default now()
);
create index run_files_job on run_files (job_id);
create index run_files_organization on run_files (organization_id);

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
    version         integer not null default 1,
    creator_uuid    uuid not null,
    modifier_uuid   uuid not null,
    created_at      timestamptz not null default now(),
    updated_at      timestamptz not null default now(),
    check (is_secret = (sealed is not null) and is_secret = (value is null)),
    check ((scope = 'team') = (team_id is not null) and (scope = 'testSuite') = (suite_id is not null)
        and (scope = 'testCase') = (case_id is not null))
);
create unique index test_variables_name on test_variables
    (organization_id, name, scope, coalesce(team_id, 0), coalesce(suite_id, '00000000-0000-0000-0000-000000000000'), coalesce(case_id, ''));
create index test_variables_team on test_variables (team_id) where team_id is not null;
create index test_variables_suite on test_variables (suite_id) where suite_id is not null;
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

-- What happened, for webhooks to deliver. body holds the event's own members.
create table events (
    id              uuid primary key,            -- version 7
    organization_id bigint not null references organizations on delete cascade,
    team_id         bigint,
    action          text not null,
    subject         text not null,
    body            jsonb not null,
    created_at      timestamptz not null default now()
);
create index events_organization on events (organization_id, id);
create index events_age on events (created_at);

-- Requests that carried an Idempotency-Key, and what they made.
create table authoring_keys (
    organization_id bigint not null references organizations on delete cascade,
    operation       text not null,               -- with what it was asked of: testcase.run:ID
    key             text not null check (length(key) between 1 and 255),
    result          text not null,               -- the id of what was made
    created_at      timestamptz not null default now(),
    primary key (organization_id, operation, key)
);
create index authoring_keys_age on authoring_keys (created_at);
