-- +goose Up
set local lock_timeout = '3s';
-- The occurrences of a group by version and day. The versions are those that crash_group_values
-- has of the group; '' stands for all others, and for reports without one.
create table crash_group_version_days (
    group_id bigint not null references crash_groups on delete cascade,
    version  text not null,
    day      date not null,
    count    bigint not null,
    primary key (group_id, day, version)
) with (fillfactor = 70);
-- Retention deletes old days.
create index crash_group_version_days_day on crash_group_version_days (day);
