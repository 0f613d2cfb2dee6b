-- +goose Up
set local lock_timeout = '3s';
-- What is to happen when a group is new, regressed, or occurs often: for one crash project, or for
-- all of the organization.
create table crash_rules (
    id               bigint generated always as identity primary key,
    organization_id  bigint not null references organizations on delete cascade,
    crash_project_id bigint references crash_projects on delete cascade, -- null: all
    name             text not null check (length(name) between 1 and 100),
    enabled          boolean not null,
    trigger          text not null check (trigger in ('new', 'regressed', 'users', 'reports')),
    above            integer not null default 0, -- users or reports
    minutes          integer not null default 0,
    conditions       jsonb not null default '[]',
    people           bigint[] not null default '{}', -- who get a mail
    webhook          boolean not null default false,
    assignee_id      bigint references users on delete set null,
    repeat_hours     integer not null default 0, -- 0: not before the group was resolved
    fired            bigint not null default 0,
    fired_at         timestamptz,
    created_at       timestamptz not null default now(),
    updated_at       timestamptz not null default now()
);
-- The rules of an organization, with each batch of reports and in their list.
create index crash_rules_organization on crash_rules (organization_id, id);
-- Deleting a crash project deletes its rules.
create index crash_rules_project on crash_rules (crash_project_id) where crash_project_id is not null;
-- Deleting a user takes them out of the rules that assign to them.
create index crash_rules_assignee on crash_rules (assignee_id) where assignee_id is not null;
