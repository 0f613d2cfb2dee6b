-- +goose Up
set local lock_timeout = '3s';
-- What people decided about a group and what reports did to that: its history, which stays
-- with the group, also where many were changed by one task.
create table crash_group_changes (
    id         bigint generated always as identity primary key,
    group_id   bigint not null references crash_groups on delete cascade,
    -- state is the new one, '' where it stayed as it was.
    state      text not null default '' check (state in ('', 'open', 'resolved', 'ignored')),
    -- actor is the name at the time, for when the user is gone; '': a report.
    actor_id   bigint references users on delete set null,
    actor      text not null default '',
    detail     jsonb not null default '{}',
    task_id    uuid, -- of a change of many groups
    created_at timestamptz not null default now()
);
-- The history of a group, newest first; deleting a group deletes it.
create index crash_group_changes_group on crash_group_changes (group_id, id desc);
-- Deleting a user looks for their changes.
create index crash_group_changes_actor on crash_group_changes (actor_id) where actor_id is not null;
