-- +goose NO TRANSACTION
-- +goose Up
-- Tests that failed are played again, and each attempt is kept. Each statement is a transaction of
-- its own, and can be made again: no table waits for another.
set lock_timeout = '3s';
-- How often a test that failed is played again; null: as the next wider says, none by default.
alter table organizations add column if not exists retries smallint;
alter table test_suites add column if not exists retries smallint;
-- rerun_of: the earlier run of the suite whose cases are run again; rerun_only: failed, flaky, or
-- '' for all of them.
alter table suite_runs
    add column if not exists retries smallint,
    add column if not exists rerun_of uuid,
    add column if not exists rerun_only text not null default '';
-- flaky: the jobs that passed after they had failed. quarantine: why a failure of the run does not
-- fail its suite run, as it was when the run was made; null where it does.
alter table test_runs
    add column if not exists retries smallint,
    add column if not exists rerun_of uuid,
    add column if not exists flaky integer not null default 0,
    add column if not exists quarantine text,
    add column if not exists quarantine_until timestamptz;
-- attempts: those that have ended and are rows of test_attempts; the job itself is the one after
-- them. attempt_at: when that one began; started_at is when the first did.
alter table test_jobs
    add column if not exists attempts smallint not null default 0,
    add column if not exists attempt_at timestamptz;
alter table run_files add column if not exists attempt smallint not null default 1;
-- FLAKY: passed after it had failed. The rows that are there have none of it, so they are checked
-- without the lock that keeps writers away.
alter table test_jobs drop constraint if exists test_jobs_state_check, add constraint test_jobs_state_check
    check (state in ('QUEUED', 'RUNNING', 'PASSED', 'FLAKY', 'FAILED', 'ERROR', 'CANCELLED')) not valid;
-- The attempts of a job before its last one: what failed, and was played again.
create table if not exists test_attempts (
    job_id          uuid not null references test_jobs on delete cascade,
    number          smallint not null,           -- from 1
    organization_id bigint not null,
    state           text not null check (state in ('FAILED', 'ERROR')),
    error_code      text not null default '',
    error           text not null default '',
    records         jsonb not null default '[]',
    healed          integer not null default 0,
    drifted         integer not null default 0,
    started_at      timestamptz not null,
    finished_at     timestamptz not null,
    primary key (job_id, number)
);
set lock_timeout = 0;
set statement_timeout = 0;
alter table test_jobs validate constraint test_jobs_state_check;
