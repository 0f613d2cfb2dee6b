-- +goose Up
set local lock_timeout = '3s';
-- The versions of the application that crash reports and sessions of a crash project
-- named, a bounded number of each project. crashes counts occurrences.
create table crash_versions (
    crash_project_id bigint not null references crash_projects on delete cascade,
    version          text not null,
    first_seen       timestamptz not null,
    last_seen        timestamptz not null,
    crashes          bigint not null default 0,
    primary key (crash_project_id, version)
) with (fillfactor = 70);
