-- +goose NO TRANSACTION
-- +goose Up
-- Each statement is a transaction of its own, and can be made again: no table waits for another.
set lock_timeout = '3s';
-- A run whose jobs are still being made does not end. Workers from before data rows do not know
-- that: while an installation is upgraded, one of them would end a run as PASSED with its first
-- hundred jobs. Its end of the last job is refused now, and done again by whoever takes it over.
update test_runs set fanned_out = true, job_targets = null where not fanned_out and state not in ('QUEUED', 'RUNNING');
alter table test_runs drop constraint if exists test_runs_unfinished_check;
alter table test_runs add constraint test_runs_unfinished_check check (fanned_out or state in ('QUEUED', 'RUNNING')) not valid;
set lock_timeout = 0;
set statement_timeout = 0;
update test_runs set fanned_out = true, job_targets = null where not fanned_out and state not in ('QUEUED', 'RUNNING');
alter table test_runs validate constraint test_runs_unfinished_check;
