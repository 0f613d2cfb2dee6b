-- +goose Up
set local lock_timeout = '3s';
-- What became of running tests: runs of suites and cases, their jobs (one case on
-- one target) and files, and the events that webhooks deliver.
--
-- Runs name their case and suite without a foreign key: those may go while a run
-- is under way, and run:maintenance removes in steps what nobody can reach any more.
create table suite_runs (
    id              uuid primary key,            -- version 7; also the id of its suite:run task
    organization_id bigint not null references organizations on delete cascade,
    team_id         bigint not null,
    suite_id        uuid not null,
    suite_name      text not null,
    user_uuid       uuid not null,
    build_name      text not null,
    state           text not null default 'QUEUED'
                    check (state in ('QUEUED', 'RUNNING', 'PASSED', 'FAILED', 'ERROR', 'CANCELLED')),
    run_count       integer not null,            -- case runs that it starts
    -- All case runs are inserted; before that the run cannot end.
    fanned_out      boolean not null default false,
    error           text not null default '',
    request_id      text not null default '',
    created_at      timestamptz not null default now(),
    started_at      timestamptz,
    finished_at     timestamptz,
    -- Of a scheduled run: its firing, and a tunnel that replaces those of the cases.
    firing_id       uuid,
    tunnel          text not null default ''
);
-- A suite's runs, newest first.
create index suite_runs_newest on suite_runs (suite_id, created_at desc, id desc);
-- The maintenance deletes old runs.
create index suite_runs_age on suite_runs (created_at);
-- Deleting an organization looks for its runs.
create index suite_runs_organization on suite_runs (organization_id);
-- The maintenance compares open suite runs with their tasks.
create index suite_runs_open on suite_runs (id) where state in ('QUEUED', 'RUNNING');
-- A schedule looks for the open runs of its last firing.
create index suite_runs_firing on suite_runs (firing_id) where firing_id is not null;

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
    state           text not null default 'QUEUED'
                    check (state in ('QUEUED', 'RUNNING', 'PASSED', 'FAILED', 'ERROR', 'CANCELLED')),
    created_at      timestamptz not null default now(),
    started_at      timestamptz,
    finished_at     timestamptz,
    unique (suite_run_id, case_id)
);
-- A case's runs, newest first.
create index test_runs_newest on test_runs (case_id, created_at desc, id desc);
-- The maintenance deletes old runs.
create index test_runs_age on test_runs (created_at);
-- Deleting an organization looks for its runs.
create index test_runs_organization on test_runs (organization_id);

create table test_jobs (
    id              uuid primary key,            -- also the id of its test:job task
    organization_id bigint not null references organizations on delete cascade,
    run_id          uuid not null references test_runs on delete cascade,
    position        integer not null,            -- from 0, the order of the targets
    target          jsonb not null,              -- effective capabilities
    state           text not null default 'QUEUED'
                    check (state in ('QUEUED', 'RUNNING', 'PASSED', 'FAILED', 'ERROR', 'CANCELLED')),
    error_code      text not null default '',
    error           text not null default '',
    records         jsonb not null default '[]', -- what became of each step
    healed          integer not null default 0,  -- steps that found their element by the fingerprint
    started_at      timestamptz,
    finished_at     timestamptz,
    unique (run_id, position)
);
-- The last check: the maintenance compares open jobs with their tasks.
create index test_jobs_open on test_jobs (id) where state in ('QUEUED', 'RUNNING');
-- Deleting an organization looks for its jobs.
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
-- A job shows its files.
create index run_files_job on run_files (job_id);
-- Deleting an organization looks for its files.
create index run_files_organization on run_files (organization_id);

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
-- Deleting an organization looks for its events; their order is that of the ids.
create index events_organization on events (organization_id, id);
-- The maintenance deletes old events.
create index events_age on events (created_at);
