-- +goose NO TRANSACTION
-- +goose Up
set statement_timeout = 0;
drop index concurrently if exists crash_groups_parts;
-- The groups of an organization that were merged into others: the overview counts their days.
create index concurrently crash_groups_parts on crash_groups (organization_id, id) where root_id is not null;
