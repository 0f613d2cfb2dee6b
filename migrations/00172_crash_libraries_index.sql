-- +goose NO TRANSACTION
-- +goose Up
set lock_timeout = 0;
set statement_timeout = 0;
drop index concurrently if exists crash_projects_libraries;
-- The libraries of an organization's crash projects, with each batch of reports: few name any.
create index concurrently crash_projects_libraries on crash_projects (organization_id) where libraries <> '{}';
