-- +goose NO TRANSACTION
-- +goose Up
set statement_timeout = 0;
drop index concurrently if exists crash_group_days_day;
-- The overview counts some days of all groups of an organization. Of many groups it reads the
-- days as a range: to look up those of each takes longer. A row is entered once, when a group is
-- first seen on a day.
create index concurrently crash_group_days_day on crash_group_days (day);
