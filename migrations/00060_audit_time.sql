-- +goose NO TRANSACTION
-- +goose Up
set statement_timeout = 0;
drop index concurrently if exists audit_events_at;
-- The events of an organization, newest first, between two dates; and the oldest, which
-- retention deletes. Ascending, for rows come in this order and so fill its pages.
create index concurrently audit_events_at on audit_events (organization_id, at, id);
drop index concurrently if exists audit_events_organization;
