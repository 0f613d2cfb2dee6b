-- +goose NO TRANSACTION
-- +goose Up
set statement_timeout = 0;
drop index concurrently if exists crash_groups_unfaceted;
-- Groups whose facets are to be made, of an organization or of all.
create index concurrently crash_groups_unfaceted on crash_groups (organization_id, id) where facets_at is null;
drop index concurrently if exists crash_groups_facets_stale;
-- Groups whose facets are to be made again.
create index concurrently crash_groups_facets_stale on crash_groups (facets_at) where facets_stale;
