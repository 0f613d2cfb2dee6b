-- +goose NO TRANSACTION
-- +goose Up
-- Each statement is a transaction of its own, and can be made again: no table waits for another.
set lock_timeout = '3s';
-- Why a job failed (storage/failure.Diagnosis); null for others, and for those of earlier versions.
alter table test_jobs add column if not exists diagnosis jsonb;
-- What the newest job that passed saw, of a case on a target in an environment, with a data row.
-- target is the digest of the target, and row_place -1 without a row.
create table if not exists last_good_jobs (
    case_id         text not null,
    environment     text not null,
    row_place       int not null,
    target          text not null,
    job_id          uuid not null references test_jobs on delete cascade,
    run_id          uuid not null,
    organization_id bigint not null,
    run_created_at  timestamptz not null,
    digest          bytea not null check (octet_length(digest) <= 16384),
    primary key (case_id, environment, row_place, target)
);
-- Serves the deletion of the job.
create index if not exists last_good_jobs_job on last_good_jobs (job_id);
-- The failures of a suite run, by their cause.
create table if not exists failure_groups (
    suite_run_id uuid not null references suite_runs on delete cascade,
    key          text not null,
    subject      text not null,
    reason       text not null check (reason in ('product', 'test', 'environment', 'unknown')),
    jobs         int not null,
    cases        int not null,
    primary key (suite_run_id, key)
);
create table if not exists failure_group_cases (
    suite_run_id uuid not null,
    key          text not null,
    case_id      text not null,
    case_name    text not null,
    run_id       uuid not null,
    jobs         int not null,
    primary key (suite_run_id, key, case_id),
    foreign key (suite_run_id, key) references failure_groups on delete cascade
);
set lock_timeout = 0;
