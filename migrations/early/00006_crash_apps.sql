-- +goose Up
-- A crash project may belong to an app; then its crashes find their builds.
set local lock_timeout = '3s';
alter table crash_projects add column project_id bigint references projects on delete set null;
create index crash_projects_project on crash_projects (project_id) where project_id is not null;
