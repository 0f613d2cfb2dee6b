-- +goose NO TRANSACTION
-- +goose Up
set statement_timeout = 0;
drop index concurrently if exists crash_group_values_version;
-- The groups of which a version was reported.
create index concurrently crash_group_values_version on crash_group_values (value, group_id) where kind = 'version';
