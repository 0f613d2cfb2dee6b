-- +goose Up
set local lock_timeout = '3s';
-- The occurrences of a group by hour, of two weeks: longer ones are shown by day.
create table crash_group_hours (
    group_id bigint not null references crash_groups on delete cascade,
    hour     timestamptz not null,
    count    bigint not null,
    primary key (group_id, hour)
) with (fillfactor = 70);
-- Retention deletes old hours.
create index crash_group_hours_hour on crash_group_hours (hour);
