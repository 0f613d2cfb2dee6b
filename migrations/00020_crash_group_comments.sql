-- +goose Up
set local lock_timeout = '3s';
-- What people write about a group, a bounded number for each. Those of a part stay the
-- part's and are shown with the group that it was merged into.
create table crash_group_comments (
    id         bigint generated always as identity primary key,
    group_id   bigint not null references crash_groups on delete cascade,
    -- author is the name at the time, for when the user is gone.
    author_id  bigint references users on delete set null,
    author     text not null,
    text       text not null check (length(text) between 1 and 10000),
    created_at timestamptz not null default now(),
    updated_at timestamptz
);
-- The comments of a group, oldest first; deleting a group deletes them.
create index crash_group_comments_group on crash_group_comments (group_id, id);
-- Deleting a user looks for their comments.
create index crash_group_comments_author on crash_group_comments (author_id) where author_id is not null;
