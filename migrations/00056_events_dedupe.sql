-- +goose NO TRANSACTION
-- +goose Up
set statement_timeout = 0;
drop index concurrently if exists events_dedupe;
-- A second event with the dedupe key of a first one is not written.
create unique index concurrently events_dedupe on events (organization_id, dedupe_key) where dedupe_key is not null;
