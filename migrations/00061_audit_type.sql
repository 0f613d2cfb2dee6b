-- +goose NO TRANSACTION
-- +goose Up
set statement_timeout = 0;
drop index concurrently if exists audit_events_type;
-- The events of an organization of one type, newest first; a trail reads those of
-- several types next to each other.
create index concurrently audit_events_type on audit_events (organization_id, type, at, id);
drop index concurrently if exists audit_events_user;
-- The events of a person in an organization, newest first.
create index concurrently audit_events_user on audit_events (organization_id, actor_user_id, at, id) where actor_user_id is not null;
