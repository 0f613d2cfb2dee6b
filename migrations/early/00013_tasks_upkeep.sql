-- +goose NO TRANSACTION
-- +goose Up
-- Concurrently: the table may be large and in use. A first try that was cut off
-- leaves an invalid index under the name.
set statement_timeout = 0;
-- Metrics ask for the newest success of each upkeep kind, and a wish whether its
-- kind was made lately.
drop index concurrently if exists tasks_upkeep;
create index concurrently tasks_upkeep on tasks (kind, state, created_at desc) where organization_id is null;
reset statement_timeout;
