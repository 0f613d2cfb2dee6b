-- +goose Up
set local lock_timeout = '3s';
-- Lists of steps that tests share. A group that was deleted stays without its revisions'
-- readers: a run that began before goes on with them, and one that begins later says by its
-- name what is gone.
create table step_groups (
    id              uuid primary key,            -- version 7: order is time
    organization_id bigint not null references organizations on delete cascade,
    team_id         bigint not null references teams on delete cascade,
    name            text not null check (length(name) between 1 and 255),
    revision_id     uuid not null,               -- the latest
    creator_uuid    uuid not null,
    modifier_uuid   uuid not null,
    created_at      timestamptz not null default now(),
    updated_at      timestamptz not null default now(),
    deleted_at      timestamptz
);
-- The list pages through an organization's groups, newest first.
create index step_groups_newest on step_groups (organization_id, created_at desc, id desc) where deleted_at is null;
-- Deleting a team looks for its groups.
create index step_groups_team on step_groups (team_id);

create table step_group_revisions (
    id          uuid primary key,
    group_id    uuid not null references step_groups on delete cascade,
    number      integer not null,
    description text not null,
    parameters  jsonb not null,
    steps       jsonb not null,
    created_at  timestamptz not null default now(),
    unique (group_id, number)
);

-- Which groups the latest revision of a case, a suite, and the latest one of a group run by
-- themselves. Written with these.
create table step_group_uses (
    group_id      uuid not null references step_groups on delete cascade,
    case_id       text references test_cases on delete cascade,
    suite_id      uuid references test_suites on delete cascade,
    user_group_id uuid references step_groups on delete cascade,
    check (num_nonnulls(case_id, suite_id, user_group_id) = 1)
);
-- Who uses a group.
create index step_group_uses_group on step_group_uses (group_id);
-- What one uses; each once.
create unique index step_group_uses_case on step_group_uses (case_id, group_id) where case_id is not null;
create unique index step_group_uses_suite on step_group_uses (suite_id, group_id) where suite_id is not null;
create unique index step_group_uses_in_group on step_group_uses (user_group_id, group_id) where user_group_id is not null;

-- The groups that the steps of a revision run by themselves; null: none.
alter table test_revisions add column group_ids uuid[];
-- The revisions of the groups that the run plays, also of groups in groups; null: none.
alter table test_runs add column group_revisions uuid[];
