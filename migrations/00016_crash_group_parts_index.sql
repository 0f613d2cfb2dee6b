-- +goose NO TRANSACTION
-- +goose Up
set statement_timeout = 0;
drop index concurrently if exists crash_groups_root;
-- A group is shown with its parts; removing a group takes them along.
create index concurrently crash_groups_root on crash_groups (root_id) where root_id is not null;
drop index concurrently if exists crash_groups_merged_into;
-- A part is taken out with what was merged into it.
create index concurrently crash_groups_merged_into on crash_groups (merged_into) where merged_into is not null;
