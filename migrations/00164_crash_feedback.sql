-- +goose Up
-- What users wrote about a crash. It has no foreign key to the crash, which may be pending and
-- has no row then: whoever removes a crash removes it.
set local lock_timeout = '3s';
create table crash_feedback (
    id bigint generated always as identity primary key,
    organization_id bigint not null,
    crash_project_id bigint not null references crash_projects (id) on delete cascade,
    crash_id uuid not null,
    digest bytea not null,
    name text not null,
    email text not null,
    text text not null,
    created_at timestamptz not null default now()
);
-- The feedback of a crash; of one that is sent again there is one row.
create unique index crash_feedback_crash on crash_feedback (crash_id, digest);
-- Deleting a crash project; the newest of a group is found by its crashes among these.
create index crash_feedback_project on crash_feedback (crash_project_id, id desc);
