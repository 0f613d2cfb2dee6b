-- +goose NO TRANSACTION
-- +goose Up
-- The crashes of a build. Concurrently: the table may be large and in use. A
-- first try that was cut off leaves an invalid index under the name.
set statement_timeout = 0;
drop index concurrently if exists crashes_build;
create index concurrently crashes_build on crashes (build_id) where build_id is not null;
reset statement_timeout;
