-- +goose NO TRANSACTION
-- +goose Up
set statement_timeout = 0;
drop index concurrently if exists builds_organization_newest;
-- The newest builds of an organization.
create index concurrently builds_organization_newest on builds (organization_id, id desc) where deleted_at is null;
drop index concurrently if exists suite_runs_organization_newest;
-- The newest suite runs of an organization.
create index concurrently suite_runs_organization_newest on suite_runs (organization_id, created_at desc, id desc);
drop index concurrently if exists test_schedules_next;
-- The schedules of an organization that are due next.
create index concurrently test_schedules_next on test_schedules (organization_id, next_run_at) where next_run_at is not null;
drop index concurrently if exists tasks_organization_dead;
-- The tasks of an organization that failed for good: their number, and the newest.
create index concurrently tasks_organization_dead on tasks (organization_id, id desc) where state = 'dead';
drop index concurrently if exists crash_group_titles_unread;
-- The groups whose functions are to be read.
create index concurrently crash_group_titles_unread on crash_group_titles (group_id) where not functions;
drop index concurrently if exists crash_group_comments_text;
-- The search over everything looks for any part of a comment inside one organization.
create index concurrently crash_group_comments_text on crash_group_comments using gin (organization_id, lower(text) gin_trgm_ops) with (fastupdate = off);
drop index concurrently if exists tester_groups_search;
-- The same of the names of groups of testers.
create index concurrently tester_groups_search on tester_groups using gin (organization_id, lower(name) gin_trgm_ops) with (fastupdate = off);
drop index concurrently if exists tester_devices_search;
-- The same of devices.
create index concurrently tester_devices_search on tester_devices
    using gin (organization_id, lower(udid || E'\n' || name) gin_trgm_ops) with (fastupdate = off);
drop index concurrently if exists symbols_search;
-- The same of the names of symbol files.
create index concurrently symbols_search on symbols using gin (organization_id, lower(name) gin_trgm_ops) with (fastupdate = off);
drop index concurrently if exists symbol_files_search;
-- The same of the paths of symbol files in archives.
create index concurrently symbol_files_search on symbol_files
    using gin (organization_id, lower(path) gin_trgm_ops) with (fastupdate = off) where path <> '';
