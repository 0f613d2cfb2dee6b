-- +goose Up
set local lock_timeout = '3s';
-- How many builds of an app and channel are kept, and for how many days: 0 is without a
-- bound. null: none for an organization, the organization's for an app.
alter table organizations
    add column retention_builds integer check (retention_builds >= 0),
    add column retention_days   integer check (retention_days >= 0);
alter table projects
    add column retention_builds integer check (retention_builds >= 0),
    add column retention_days   integer check (retention_days >= 0);
-- Retention never deletes these.
alter table builds add column keep boolean not null default false;
