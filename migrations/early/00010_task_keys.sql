-- +goose NO TRANSACTION
-- +goose Up
-- Concurrently: the table may be large and in use. A first try that was cut off
-- leaves an invalid index under the name.
set statement_timeout = 0;
-- The end of a task makes the next one due that was put off for its key.
drop index concurrently if exists tasks_keys;
create index concurrently tasks_keys on tasks (concurrency_key, run_at)
    where state = 'queued' and concurrency_key is not null;
-- The upkeep compares suite runs that are open with their tasks.
drop index concurrently if exists suite_runs_open;
create index concurrently suite_runs_open on suite_runs (id) where status in ('QUEUED', 'RUNNING');
-- A run on storage:filename=NAME looks for the newest such build.
drop index concurrently if exists builds_file_name;
create index concurrently builds_file_name on builds (organization_id, file_name, id) where deleted_at is null;
reset statement_timeout;
