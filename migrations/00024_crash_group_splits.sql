-- +goose Up
set local lock_timeout = '3s';
-- What was split off from groups of crashes: the reports of a group's keys that have a
-- stack, or a value of an attribute, belong to another key, whose group was made for
-- them. The rules of a group are tried in the order of their ids; the first that
-- matches decides.
create table crash_group_splits (
    id               bigint generated always as identity primary key,
    crash_project_id bigint not null references crash_projects on delete cascade,
    -- The group whose keys they came with, itself and not the one that is shown.
    group_id         bigint not null references crash_groups on delete cascade,
    target_key_id    bigint not null references crash_group_keys on delete cascade,
    kind             text not null check (kind in ('stack', 'attribute')),
    stack            bytea,
    attribute        text,
    value            text,
    created_at       timestamptz not null default now(),
    check (kind <> 'stack' or length(stack) = 16),
    check (kind <> 'attribute' or attribute is not null and value is not null)
);
-- A report that is counted looks for the rules of its group.
create index crash_group_splits_group on crash_group_splits (group_id, id);
-- Moving reports looks for the rules of the new key; removing a key takes them along.
create index crash_group_splits_target on crash_group_splits (target_key_id);
-- A crash project has a bounded number, and takes them along; a purge looks here for the
-- attribute that it forgets.
create index crash_group_splits_project on crash_group_splits (crash_project_id);
