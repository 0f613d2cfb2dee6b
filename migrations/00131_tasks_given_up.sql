-- +goose NO TRANSACTION
-- +goose Up
set statement_timeout = 0;
drop index concurrently if exists tasks_given_up;
-- A purge takes what is to be forgotten out of the tasks of some kinds that were cancelled or
-- failed for good. It is written at the end of such a task and at no other change of one.
create index concurrently tasks_given_up on tasks (organization_id, kind, id) where state in ('dead', 'cancelled');
