-- +goose Up
set local lock_timeout = '3s';
-- Whom a group reached: samples of the hashes of users (or devices), as crash_version_days has
-- them, and the builds from which its reports came. A part has a row of its own; shown is the
-- sample of a group that is shown together with its parts, null where it has none.
create table crash_group_reach (
    group_id       bigint primary key references crash_groups on delete cascade,
    sample         bytea not null default '',
    shown          bytea,
    first_build_id bigint, -- the builds that were uploaded first and last
    last_build_id  bigint
) with (fillfactor = 70);
-- Hashes do not compress.
alter table crash_group_reach alter column sample set storage external;
alter table crash_group_reach alter column shown set storage external;
