-- +goose Up
set local lock_timeout = '3s';
-- How many users (or devices) the reports of a group name, with those of its parts. Groups that
-- are there have no users_since until crash:retention has counted the reports that are kept.
alter table crash_groups
    add column users bigint not null default 0,
    add column users_since timestamptz,
    -- An ignored group is open again when it has so many users.
    add column ignored_until_users bigint;
alter table crash_groups alter column users_since set default now();
