-- +goose NO TRANSACTION
-- +goose Up
set statement_timeout = 0;
drop index concurrently if exists tasks_cancelled;
-- Cancelled tasks are few among those that ended; a list of them reads these alone. It is
-- written at a cancellation and at no other change of a task.
create index concurrently tasks_cancelled on tasks (organization_id, id desc) where state = 'cancelled';
