-- +goose Up
set local lock_timeout = '3s';
-- The commits that a build has and the one before it had not, as its CI job says: an array, newest
-- first, of {"id", "name", "email", "at", "message", "paths", "paths_omitted"}. A build without
-- a row never got any. They go with their build.
create table build_commits (
    build_id        bigint primary key references builds on delete cascade,
    organization_id bigint not null,
    commits         jsonb not null,
    omitted         integer not null default 0, -- older ones that were not sent
    set_at          timestamptz not null default now()
);
