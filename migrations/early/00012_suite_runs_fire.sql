-- +goose NO TRANSACTION
-- +goose Up
-- Concurrently: the table may be large and in use. A first try that was cut off
-- leaves an invalid index under the name.
set statement_timeout = 0;
drop index concurrently if exists suite_runs_fire;
create index concurrently suite_runs_fire on suite_runs (fire_id) where fire_id is not null;
reset statement_timeout;
