-- $1 testers of the first organization, all in the group Everybody and fifty in Few; a
-- build of an app, to which every second tester is invited. One of a thousand is blocked.
with o as (
    select id from organizations order by id limit 1
), file as (
    insert into files (organization_id, object_key, size, sha256, content_type)
    select id, 'bench/testers', 1, '', 'application/octet-stream' from o returning id
), project as (
    insert into projects (organization_id, team_id, name, platform, token, landing_page_mode)
    select o.id, (select min(id) from teams where organization_id = o.id), 'Bench', 'Android', gen_random_uuid()::text, 'open' from o
    returning id, organization_id
), build as (
    insert into builds (organization_id, project_id, token, app_name, version, platform, kind, file_id, file_name)
    select project.organization_id, project.id, gen_random_uuid()::text, 'Bench', '1', 'Android', 'apk', file.id, 'bench.apk'
    from project, file returning id
), people as (
    insert into users (uuid, username, email, name)
    select gen_random_uuid(), 'bench-tester-' || n, 'tester' || n || '@example.com', 'Tester ' || md5(n::text)
    from generate_series(1, $1::int) n returning id
), members as (
    insert into memberships (organization_id, user_id, role, blocked_at)
    select o.id, people.id, 'tester', case when people.id % 1000 = 0 then now() end from o, people returning user_id
), groups as (
    insert into tester_groups (organization_id, team_id, name)
    select o.id, (select min(id) from teams where organization_id = o.id), name from o, (values ('Everybody'), ('Few')) as names(name)
    returning id, name
), grouped as (
    insert into tester_group_members (tester_group_id, user_id)
    select groups.id, members.user_id from groups, members
    where groups.name = 'Everybody' or members.user_id in (select user_id from members order by user_id limit 50)
), invited as (
    insert into build_invites (organization_id, build_id, user_id, nonce, status)
    select o.id, build.id, members.user_id, decode(md5(members.user_id::text), 'hex'), 'sent' from o, build, members
    where members.user_id % 2 = 0
)
select id from build
