-- +goose NO TRANSACTION
-- +goose Up
set lock_timeout = 0;
set statement_timeout = 0;
drop index concurrently if exists test_runs_environment;
-- The runs in an environment, newest first.
create index concurrently test_runs_environment on test_runs (organization_id, environment, created_at desc, id desc) where environment <> '';
drop index concurrently if exists suite_runs_environment;
-- The runs of a suite in an environment, newest first.
create index concurrently suite_runs_environment on suite_runs (suite_id, environment, created_at desc, id desc) where environment <> '';
