-- +goose Up
set local lock_timeout = '3s';
-- Who is assigned to a new group of a crash project: the first pattern that a path or module of
-- its stack matches decides.
create table crash_owners (
    crash_project_id bigint not null references crash_projects on delete cascade,
    position         integer not null,
    pattern          text not null check (length(pattern) between 1 and 200),
    user_id          bigint not null references users on delete cascade,
    primary key (crash_project_id, position)
);
-- Deleting a user deletes their patterns.
create index crash_owners_user on crash_owners (user_id);
