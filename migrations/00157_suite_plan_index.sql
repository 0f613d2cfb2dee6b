-- +goose NO TRANSACTION
-- +goose Up
set lock_timeout = 0;
set statement_timeout = 0;
drop index concurrently if exists test_runs_needing;
-- Who ends a run wakes the jobs of those runs of the same suite run that need it.
create index concurrently test_runs_needing on test_runs (suite_run_id) where needs is not null and state in ('QUEUED', 'RUNNING');
drop index concurrently if exists test_jobs_browser;
-- The runs of an organization in a browser.
create index concurrently test_jobs_browser on test_jobs (organization_id, lower(target -> 'capabilities' ->> 'browserName'), run_id);
