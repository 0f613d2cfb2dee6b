-- +goose NO TRANSACTION
-- +goose Up
set statement_timeout = 0;
drop index concurrently if exists test_case_texts_text;
-- The search over everything looks for any part of the text inside one organization. Without
-- fastupdate, as of the names.
create index concurrently test_case_texts_text on test_case_texts using gin (organization_id, lower(text) gin_trgm_ops) with (fastupdate = off);
drop index concurrently if exists projects_search;
-- The search over everything looks for apps by any part of name or package.
create index concurrently projects_search on projects
    using gin (organization_id, lower(name || E'\n' || package_name) gin_trgm_ops) with (gin_pending_list_limit = 64) where deleted_at is null;
drop index concurrently if exists builds_search;
-- The search over everything looks for builds by the beginning of their version.
create index concurrently builds_search on builds (organization_id, lower(version) text_pattern_ops) where deleted_at is null;
