-- +goose Up
set local lock_timeout = '3s';
-- The newest algorithm for which a key of an older one was looked at: whether its
-- stored reports have one key under the newer algorithm. 0: for none.
alter table crash_group_keys add column checked_version smallint not null default 0;
