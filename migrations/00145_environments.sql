-- +goose NO TRANSACTION
-- +goose Up
-- Environments: where tests run, and with which values. Each statement is a transaction of its own,
-- and can be made again: no table waits for another.
set lock_timeout = '3s';
create table if not exists test_environments (
    id              uuid primary key,
    organization_id bigint not null references organizations on delete cascade,
    team_id         bigint references teams on delete cascade, -- null: the organization's
    name            text not null check (name ~ '^[a-z0-9-]{1,60}$'),
    test_url        text not null default '',
    tunnel          text not null default '',
    targets         jsonb not null default '[]',
    variables       jsonb not null default '{}', -- name: value, those that are no secrets
    secret_names    text[] not null default '{}',
    headers         jsonb not null default '{}', -- name: value, those that are no secrets
    secret_headers  text[] not null default '{}',
    sealed          bytea,                       -- the values of secrets and of secret headers; null: none
    version         integer not null default 1,  -- rises with each change
    creator_uuid    uuid not null,
    modifier_uuid   uuid not null,
    created_at      timestamptz not null default now(),
    updated_at      timestamptz not null default now(),
    -- A run names its environment, and lists are by name.
    unique (organization_id, name)
);
-- Deleting a team looks for its environments.
create index if not exists test_environments_team on test_environments (team_id) where team_id is not null;
-- The name of the environment that a run was given, '' for none: what it had is sealed with the
-- variables of the run.
alter table test_runs add column if not exists environment text not null default '';
alter table suite_runs add column if not exists environment text not null default '';
-- The environment that runs of the suite have that name none; '': none.
alter table test_suites add column if not exists default_environment text not null default '';
-- The environment of the runs that a schedule starts; '': that of each suite.
alter table test_schedules add column if not exists environment text not null default '';
set lock_timeout = 0;
