-- +goose NO TRANSACTION
-- +goose Up
-- Saved logins of suites: a case that runs once per suite run and target before the others, whose
-- cookies and storage these are given. Each statement is a transaction of its own, and can be made
-- again: no table waits for another.
set lock_timeout = '3s';
-- {"testCaseId", "when"}; null: none.
alter table test_suites add column if not exists login jsonb;
-- As it was when the suite run was started.
alter table suite_runs add column if not exists login jsonb;
-- Which login of the suite run the run is, by its target and generation; null for a run of a case
-- of the suite.
alter table test_runs add column if not exists login_key text;
create table if not exists suite_logins (
    suite_run_id uuid not null references suite_runs on delete cascade,
    key          text not null,              -- of the target
    generation   integer not null default 1, -- rises when the login is played again
    run_id       uuid,                       -- the newest run of the login; null where there could be none
    error        text not null default '',   -- why there could be none
    sealed       bytea,                      -- cookies and storage; null until the run has passed
    created_at   timestamptz not null default now(),
    -- A job looks for that of its target.
    primary key (suite_run_id, key)
);
set lock_timeout = 0;
set statement_timeout = 0;
drop index concurrently if exists test_runs_case_of_suite;
-- A suite run has one run of each of its cases, and one of each time that a login is played; its
-- runs are listed by this.
create unique index concurrently test_runs_case_of_suite on test_runs (suite_run_id, case_id, coalesce(login_key, ''));
set lock_timeout = '3s';
alter table test_runs drop constraint if exists test_runs_suite_run_id_case_id_key;
set lock_timeout = 0;
