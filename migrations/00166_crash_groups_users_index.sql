-- +goose NO TRANSACTION
-- +goose Up
set statement_timeout = 0;
drop index concurrently if exists crash_groups_users;
-- The group list, those that affect the most users first.
create index concurrently crash_groups_users on crash_groups (organization_id, users desc, id desc);
drop index concurrently if exists crash_groups_uncounted_users;
-- The groups from before there were users, of which crash:retention counts them.
create index concurrently crash_groups_uncounted_users on crash_groups (id) where users_since is null;
