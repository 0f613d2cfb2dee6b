-- +goose Up
set local lock_timeout = '3s';
-- Groups of testers belong to a team, count their testers, and are not the only way
-- to an app: single testers may be given one.

-- No cascade: a team that has groups is not deleted. Null where the organization has
-- no team.
alter table tester_groups
    add column team_id bigint references teams,
    add column testers_count bigint not null default 0,
    add column updated_at timestamptz not null default now();
update tester_groups g set
    team_id = (select min(id) from teams t where t.organization_id = g.organization_id),
    testers_count = (select count(*) from tester_group_members gm where gm.tester_group_id = g.id);
-- The list of a team's groups; deleting a team looks for them.
create index tester_groups_team on tester_groups (team_id);

-- The counter is kept by a trigger and not by the statements that add and remove
-- members: a user who is deleted leaves the groups by a cascade. The rows are locked
-- by ascending id, as by all who lock several.
-- +goose StatementBegin
create function count_group_testers() returns trigger language plpgsql as $$
begin
    perform from tester_groups where id in (select tester_group_id from changed) order by id for no key update;
    update tester_groups g set updated_at = now(),
        testers_count = g.testers_count + case tg_op when 'INSERT' then c.n else -c.n end
    from (select tester_group_id, count(*) as n from changed group by tester_group_id) c
    where g.id = c.tester_group_id;
    return null;
end $$;
-- +goose StatementEnd
create trigger tester_group_members_added after insert on tester_group_members
    referencing new table as changed for each statement execute function count_group_testers();
create trigger tester_group_members_removed after delete on tester_group_members
    referencing old table as changed for each statement execute function count_group_testers();

-- Testers who were given an app by themselves.
create table project_testers (
    project_id bigint not null references projects on delete cascade,
    user_id    bigint not null references users on delete cascade,
    created_at timestamptz not null default now(),
    primary key (project_id, user_id)
);
-- A tester's page looks for the apps of one tester; deleting a user looks for the rows.
create index project_testers_user on project_testers (user_id);
