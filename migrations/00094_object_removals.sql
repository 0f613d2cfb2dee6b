-- +goose Up
set local lock_timeout = '3s';
-- Objects that no row names any more, and that are deleted later: a copy of the objects
-- that is made after a dump of the database still finds what the dump names.
create table object_removals (
    object_key   text primary key check (length(object_key) between 1 and 1024),
    requested_at timestamptz not null default now(),
    due_at       timestamptz not null
);
-- The task object:removal takes what is due, the oldest first.
create index object_removals_due on object_removals (due_at);
