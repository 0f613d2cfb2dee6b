-- +goose NO TRANSACTION
-- +goose Up
set statement_timeout = 0;
drop index concurrently if exists tasks_turn;
-- A worker finds the organizations that wait in a queue by jumping through it, and claims
-- the first task of one of them.
create index concurrently tasks_turn on tasks (queue, (coalesce(organization_id, 0)), priority, run_at)
    where state = 'queued';
drop index concurrently if exists tasks_due;
-- The relay counts the due tasks of a queue, up to a bound. The expression keeps claims,
-- which compare run_at itself, from this index: before the first statistics it looks as
-- good to the planner as tasks_turn.
create index concurrently tasks_due on tasks (queue, (run_at at time zone 'UTC')) where state = 'queued';
drop index concurrently if exists tasks_request;
-- The task list finds what a request made.
create index concurrently tasks_request on tasks (request_id, id desc) where request_id <> '';
drop index concurrently if exists tasks_failed;
-- The task list searches the errors, newest task first.
create index concurrently tasks_failed on tasks (organization_id, id desc) where error is not null;
drop index concurrently if exists tasks_undelivered;
drop index concurrently if exists tasks_outstanding;
