-- +goose NO TRANSACTION
-- +goose Up
-- What a request gives a run in place of what its cases have. Each statement is a transaction of
-- its own, and can be made again: no table waits for another.
set lock_timeout = '3s';
-- build_id: the distribution's build that the suite is run on. test_url: where it runs, '' for
-- where each case was recorded. targets: null leaves them to the cases. sealed_variables:
-- the values given to the run by their names, until the run has ended.
alter table suite_runs
    add column if not exists build_id bigint references builds on delete set null,
    add column if not exists test_url text not null default '',
    add column if not exists targets jsonb,
    add column if not exists variable_names text[] not null default '{}',
    add column if not exists sealed_variables bytea;
-- recorded_url: the case's own address, where the run began at another; null where it did not.
alter table test_runs
    add column if not exists build_id bigint references builds on delete set null,
    add column if not exists recorded_url text,
    add column if not exists variable_names text[] not null default '{}',
    add column if not exists sealed_variables bytea;
set lock_timeout = 0;
set statement_timeout = 0;
drop index concurrently if exists suite_runs_build;
-- The newest run of each suite on a build; the runs of a suite on a build, newest first.
create index concurrently suite_runs_build on suite_runs (build_id, suite_id, created_at desc, id desc) where build_id is not null;
drop index concurrently if exists test_runs_build;
-- The runs on a build, newest first; deleting the build looks for them.
create index concurrently test_runs_build on test_runs (build_id, created_at desc, id desc) where build_id is not null;
drop index concurrently if exists test_runs_variables;
-- A change of the signing key seals anew what open runs were given.
create index concurrently test_runs_variables on test_runs (id) where sealed_variables is not null;
drop index concurrently if exists suite_runs_variables;
create index concurrently suite_runs_variables on suite_runs (id) where sealed_variables is not null;
