-- +goose NO TRANSACTION
-- +goose Up
-- Which cases a suite runs, in which order, and for how long. Each statement is a transaction of
-- its own, and can be made again: no table waits for another.
set lock_timeout = '3s';
-- A suite that has filter_tags runs the cases of its team, or of all, that have these tags and
-- none of filter_not_tags. depends_on: the ids of cases that a case needs, by its id.
alter table test_suites add column if not exists filter_tags text[];
alter table test_suites add column if not exists filter_not_tags text[];
alter table test_suites add column if not exists filter_all_teams boolean not null default false;
alter table test_suites add column if not exists max_duration integer; -- seconds; null: no bound
alter table test_suites add column if not exists run_order text[];
alter table test_suites add column if not exists depends_on jsonb;
-- Cases that a suite runs besides those whose suite it is.
create table if not exists test_suite_cases (
    suite_id uuid not null references test_suites on delete cascade,
    case_id  text not null references test_cases on delete cascade,
    primary key (suite_id, case_id)
);
-- Deleting a case looks for the suites that run it.
create index if not exists test_suite_cases_case on test_suite_cases (case_id);
-- How the shards of a key share out the cases of a suite: cases[n] is run by shard shards[n], from 1.
create table if not exists test_suite_shards (
    suite_id   uuid not null references test_suites on delete cascade,
    key        text not null,
    parts      smallint not null,
    cases      text[] not null,
    shards     smallint[] not null,
    created_at timestamptz not null default now(),
    primary key (suite_id, key, parts)
);
-- The bound of the run, in seconds from its start; and that its cases stand in suite_run_cases.
alter table suite_runs add column if not exists max_duration integer;
alter table suite_runs add column if not exists planned boolean not null default false;
alter table suite_runs add column if not exists shard_number smallint;
alter table suite_runs add column if not exists shard_parts smallint;
alter table suite_runs add column if not exists shard_key text;
-- Cases of which a suite run has no case run yet, in the order of these.
create table if not exists suite_run_cases (
    suite_run_id uuid not null references suite_runs on delete cascade,
    place        integer not null,
    case_id      text not null,
    needs        text[] not null,
    needed       boolean not null,
    primary key (suite_run_id, place)
);
-- The cases of the same suite run that must pass before; null: none. needed: another case has
-- this one among them.
alter table test_runs add column if not exists needs text[];
alter table test_runs add column if not exists needed boolean not null default false;
set lock_timeout = 0;
