-- +goose NO TRANSACTION
-- +goose Up
-- Runs with a job for each data row and target. Each statement is a transaction of its own, and
-- can be made again: no table waits for another.
set lock_timeout = '3s';
-- What the steps are run with; null for none, and once the data are deleted.
alter table test_revisions
    add column if not exists data_id uuid references test_data on delete set null;
-- data_id outlives the data, as the run does. picked: the rows that were asked for, null for all.
-- job_targets: what each row is run on, until the run is fanned out. job_count and target_count: 0 for a run without rows.
alter table test_runs
    add column if not exists data_id uuid,
    add column if not exists picked integer[],
    add column if not exists job_targets jsonb,
    add column if not exists job_count integer not null default 0,
    add column if not exists target_count integer not null default 0,
    add column if not exists fanned_out boolean not null default true;
-- The row of the job: its place, from 0, and its name.
alter table test_jobs
    add column if not exists row_place integer,
    add column if not exists row_name text not null default '';
set lock_timeout = 0;
set statement_timeout = 0;
drop index concurrently if exists test_revisions_data;
-- Deleting data looks for the revisions that name it.
create index concurrently test_revisions_data on test_revisions (data_id) where data_id is not null;
drop index concurrently if exists test_jobs_open_of_run;
-- The end of a job looks whether it was the last one of its run.
create index concurrently test_jobs_open_of_run on test_jobs (run_id) where state in ('QUEUED', 'RUNNING');
drop index concurrently if exists test_runs_open_of_suite;
-- The end of a run looks whether it was the last one of its suite run.
create index concurrently test_runs_open_of_suite on test_runs (suite_run_id) where state in ('QUEUED', 'RUNNING');
drop index concurrently if exists test_runs_fanning_out;
-- The maintenance compares runs that are not fanned out with their tasks.
create index concurrently test_runs_fanning_out on test_runs (id) where not fanned_out;
