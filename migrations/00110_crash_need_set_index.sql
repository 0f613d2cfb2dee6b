-- +goose NO TRANSACTION
-- +goose Up
set statement_timeout = 0;
drop index concurrently if exists crash_symbolications_needs;
-- The crashes that lack a set of files, the newest first.
create index concurrently crash_symbolications_needs on crash_symbolications (need_set_id, crash_id) where need_set_id is not null;
