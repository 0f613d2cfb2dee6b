-- +goose NO TRANSACTION
-- +goose Up
set statement_timeout = 0;
drop index concurrently if exists webhooks_failing;
-- Operators list the webhooks whose newest attempt failed, and those that the service suspended.
create index concurrently webhooks_failing on webhooks (id) where failures > 0;
