-- +goose NO TRANSACTION
-- +goose Up
set statement_timeout = 0;
drop index concurrently if exists crash_groups_severity;
-- The lists of hangs, of out of memory and of handled errors, by when they were last seen.
create index concurrently crash_groups_severity on crash_groups (organization_id, last_seen desc, id desc) where severity < 4;
