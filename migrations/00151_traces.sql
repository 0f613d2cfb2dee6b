-- +goose NO TRANSACTION
-- +goose Up
-- Each statement is a transaction of its own, and can be made again: no table waits for another.
set lock_timeout = '3s';
-- Which traces of tests are kept, of runs that do not say so: '' leaves it to the next of run,
-- suite run, case, suite, organization.
alter table organizations add column if not exists trace text not null default '';
alter table test_suites add column if not exists trace text not null default '';
alter table test_runs add column if not exists trace text not null default '';
alter table suite_runs add column if not exists trace text not null default '';
-- Not valid first: the rows that are there need no second look while the table is locked.
alter table organizations drop constraint if exists organizations_trace_check;
alter table organizations add constraint organizations_trace_check check (trace in ('', 'off', 'on_failure', 'on')) not valid;
alter table test_suites drop constraint if exists test_suites_trace_check;
alter table test_suites add constraint test_suites_trace_check check (trace in ('', 'off', 'on_failure', 'on')) not valid;
alter table test_runs drop constraint if exists test_runs_trace_check;
alter table test_runs add constraint test_runs_trace_check check (trace in ('', 'off', 'on_failure', 'on')) not valid;
alter table suite_runs drop constraint if exists suite_runs_trace_check;
alter table suite_runs add constraint suite_runs_trace_check check (trace in ('', 'off', 'on_failure', 'on')) not valid;
alter table run_files drop constraint if exists run_files_kind_check;
alter table run_files add constraint run_files_kind_check check (kind in
    ('screenshot', 'source', 'console', 'trace', 'network', 'difference', 'expected', 'actual', 'finding')) not valid;
set lock_timeout = 0;
set statement_timeout = 0;
alter table organizations validate constraint organizations_trace_check;
alter table test_suites validate constraint test_suites_trace_check;
alter table test_runs validate constraint test_runs_trace_check;
alter table suite_runs validate constraint suite_runs_trace_check;
alter table run_files validate constraint run_files_kind_check;
