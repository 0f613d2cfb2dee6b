-- +goose NO TRANSACTION
-- +goose Up
set statement_timeout = 0;
drop index concurrently if exists crash_groups_reopened;
-- The groups that regressed since a time: few of all, so that counting a group again costs
-- most of them nothing.
create index concurrently crash_groups_reopened on crash_groups (organization_id, reopened_at desc, id desc) where reopened_at is not null;
