-- $1 events from the number $2 on, of $3 in all, which are spread over a year. Six of ten
-- are downloads by 20,000 testers, one of a thousand is of an admin; one of 200 has a word
-- of its own.
insert into audit_events (organization_id, at, type, action, actor_user_id, actor, subject, detail, request_id, ip_address)
select o.id, now() - interval '1 year' + n * (interval '1 year' / $3::int), kind.type, kind.action, null,
    'tester' || hash % 20000 || '@example.com', 'build ' || hash % 5000,
    jsonb_build_object('projectId', hash % 97, 'buildId', hash % 5000, 'appName', 'Shop ' || hash % 97,
        'appVersion', '1.' || hash % 50 || ' (' || hash % 5000 || ')', 'filesize', 1000000 + hash % 90000000,
        'note', case when n % 200 = 0 then 'rarity' else 'usual' end),
    md5(n::text), '192.0.2.' || hash % 250
from (select id from organizations order by id limit 1) o,
    (select n, ('x' || substr(md5(n::text), 1, 7))::bit(28)::int as hash
     from generate_series($2::int + 1, $2::int + $1::int) n) numbers,
    lateral (select case when n % 1000 = 0 then 1905 when n % 10 < 6 then 1410 when n % 10 < 8 then 1400
        when n % 10 = 8 then 1401 when n % 100 = 9 then 1200 else 1212 end as type) t,
    lateral (select t.type, case t.type when 1905 then 'security.changed' when 1410 then 'build.downloaded'
        when 1400 then 'build.uploaded' when 1401 then 'build.updated' when 1200 then 'testers.invited'
        else 'group.member_added' end as action) kind
