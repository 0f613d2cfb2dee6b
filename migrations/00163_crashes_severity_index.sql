-- +goose NO TRANSACTION
-- +goose Up
set statement_timeout = 0;
drop index concurrently if exists crashes_severity;
-- The same lists of reports, by their arrival.
create index concurrently crashes_severity on crashes (organization_id, received_at desc, id desc) where severity < 4;
