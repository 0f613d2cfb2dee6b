-- +goose Up
set local lock_timeout = '3s';
-- Crashes of one bug lack the same files: a set of needs stands here once, and each of the
-- crashes has its number.
create table crash_need_sets (
    id               bigint generated always as identity primary key,
    crash_project_id bigint not null references crash_projects on delete cascade,
    -- Of the ids of the needs, in order: one row for each set.
    digest           bytea not null,
    unique (crash_project_id, digest)
);
create table crash_need_set_members (
    need_id bigint not null references symbol_needs on delete cascade,
    set_id  bigint not null references crash_need_sets on delete cascade,
    -- A file that arrives looks for the sets of the needs that it serves.
    primary key (need_id, set_id)
);
-- A group lists the needs of its crashes; removing a set takes its members along.
create index crash_need_set_members_set on crash_need_set_members (set_id);
