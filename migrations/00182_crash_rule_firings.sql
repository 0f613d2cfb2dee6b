-- +goose Up
set local lock_timeout = '3s';
-- When a rule fired for a group last, and how often: it fires once until the group was resolved, or
-- its time has passed.
create table crash_rule_firings (
    rule_id  bigint not null references crash_rules on delete cascade,
    group_id bigint not null references crash_groups on delete cascade,
    fired_at timestamptz not null default now(),
    times    integer not null default 1,
    primary key (rule_id, group_id)
);
-- Deleting a group.
create index crash_rule_firings_group on crash_rule_firings (group_id);
