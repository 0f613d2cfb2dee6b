-- +goose Up
set local lock_timeout = '3s';
-- What is executed before and after the steps of a test; null: nothing. That of a suite goes
-- around each of its cases.
alter table test_revisions add column set_up jsonb, add column tear_down jsonb;
alter table test_suites
    add column set_up jsonb,
    add column tear_down jsonb;
-- As they were when the suite run was started. group_ids: the groups that both run by
-- themselves.
alter table suite_runs
    add column set_up jsonb,
    add column tear_down jsonb,
    add column group_ids uuid[];
