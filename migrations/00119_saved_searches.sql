-- +goose Up
set local lock_timeout = '3s';
-- Filters of a list that a person keeps, a bounded number for each; with a team, its
-- members see them too.
create table saved_searches (
    id              bigint generated always as identity primary key,
    organization_id bigint not null,
    user_id         bigint not null,
    team_id         bigint references teams on delete cascade,
    area            text not null check (area in ('crash-groups')),
    name            text not null check (length(name) between 1 and 200),
    query           text not null check (length(query) <= 8192),
    created_at      timestamptz not null default now(),
    foreign key (organization_id, user_id) references memberships (organization_id, user_id) on delete cascade
);
-- A person's list, by name; a person has a name once.
create unique index saved_searches_name on saved_searches (organization_id, user_id, area, name);
-- The list of a team's members; deleting a team deletes them.
create index saved_searches_team on saved_searches (team_id) where team_id is not null;
