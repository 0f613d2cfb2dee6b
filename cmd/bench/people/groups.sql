insert into users (uuid, kind, username, email, name)
select gen_random_uuid(), 'person', 'bench-' || n, lower(first || '.' || last) || n || '@example.com', first || ' ' || last
from (select n, initcap(s[1 + n % 7] || s[1 + n % 10]) as first,
		initcap(s[1 + n % 10] || s[1 + n / 10 % 10] || s[1 + n / 100 % 10]) as last
	from generate_series(1, 100000) n,
		(select array['ber', 'lin', 'mar', 'kov', 'sen', 'dal', 'tor', 'win', 'hug', 'pex'] as s) syllables) names;
insert into memberships (organization_id, user_id, role)
select (select min(id) from organizations), id, 'tester' from users where username like 'bench-%';
insert into tester_groups (organization_id, team_id, name)
select (select min(id) from organizations), (select min(id) from teams), name
from unnest(array['everybody', 'a tenth', 'a hundredth']) name;
insert into tester_group_members (tester_group_id, user_id)
select g.id, u.id from users u join tester_groups g on g.name = 'everybody' or g.name = 'a tenth' and u.id % 10 = 0
	or g.name = 'a hundredth' and u.id % 100 = 0
where u.username like 'bench-%';
insert into projects (organization_id, team_id, name, token, landing_page_mode, all_testers)
select (select min(id) from organizations), (select min(id) from teams), name, md5(name), 'closed', name = 'all testers'
from unnest(array['one group', 'three groups and more', 'all testers']) name;
insert into project_groups (project_id, tester_group_id)
select p.id, g.id from projects p join tester_groups g on g.name = 'everybody' or p.name = 'three groups and more' or p.name = 'all testers' and g.name <> 'everybody'
where p.name in ('one group', 'three groups and more') or p.name = 'all testers' and g.name <> 'everybody';
insert into project_testers (project_id, user_id)
select p.id, u.id from projects p join users u on u.username like 'bench-%' and u.id % 97 = 0
where p.name = 'three groups and more';
vacuum analyze
