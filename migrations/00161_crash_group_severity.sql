-- +goose Up
-- The worst of the reports of a group: see 158.
set local lock_timeout = '3s';
alter table crash_groups add column severity smallint not null default 4;
