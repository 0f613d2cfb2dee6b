-- +goose NO TRANSACTION
-- +goose Up
set statement_timeout = 0;
drop index concurrently if exists crash_groups_assignee;
-- The list of somebody's groups; deleting a user looks for them.
create index concurrently crash_groups_assignee on crash_groups (assignee_id, organization_id) where assignee_id is not null;
