-- +goose NO TRANSACTION
-- +goose Up
-- The history of tests, and how long it is kept. Each statement is a transaction of its own, and
-- can be made again: no table waits for another.
set lock_timeout = '3s';
-- After how many days the runs of tests go, and how many of a case or suite are kept; null of a
-- suite leaves it to the organization. null days of an organization are those of the installation,
-- null runs no bound.
alter table organizations
    add column if not exists run_retention_days integer check (run_retention_days between 1 and 3650),
    add column if not exists run_retention_runs integer check (run_retention_runs between 1 and 10000);
alter table test_suites
    add column if not exists run_retention_days integer check (run_retention_days between 1 and 3650),
    add column if not exists run_retention_runs integer check (run_retention_runs between 1 and 10000);
-- healed and attempts: the sums of the jobs, written when the run ends; null before, and of runs
-- that ended when there were no such columns. pinned_at: since when no retention takes the run.
alter table test_runs
    add column if not exists healed integer,
    add column if not exists attempts integer,
    add column if not exists pinned_at timestamptz,
    add column if not exists pinned_by uuid;
-- The same of the case runs, and flaky: those that passed after they had failed.
alter table suite_runs
    add column if not exists healed integer,
    add column if not exists attempts integer,
    add column if not exists flaky integer,
    add column if not exists pinned_at timestamptz,
    add column if not exists pinned_by uuid;
set lock_timeout = 0;
set statement_timeout = 0;
drop index concurrently if exists test_runs_alone;
-- Retention takes the oldest runs of a case that belong to no run of a suite.
create index concurrently test_runs_alone on test_runs (case_id, created_at, id) where suite_run_id is null;
drop index concurrently if exists test_runs_pinned;
-- The pinned runs of an organization are counted.
create index concurrently test_runs_pinned on test_runs (organization_id) where pinned_at is not null;
drop index concurrently if exists suite_runs_pinned;
create index concurrently suite_runs_pinned on suite_runs (organization_id) where pinned_at is not null;
-- Retention goes from case to case and no longer by age alone. Without these indexes, what a
-- history reads of one case is never looked for among the runs of all others.
drop index concurrently if exists test_runs_age;
drop index concurrently if exists suite_runs_age;
