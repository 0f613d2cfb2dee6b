-- What the worker counts with the reports.
insert into crash_group_days (group_id, day, count)
select k.group_id, (c.occurred_at at time zone 'UTC')::date, sum(c.duplicates)
from crashes c join crash_group_keys k on k.id = c.key_id group by 1, 2;
insert into crash_group_hours (group_id, hour, count)
select k.group_id, date_trunc('hour', c.occurred_at), sum(c.duplicates)
from crashes c join crash_group_keys k on k.id = c.key_id where c.occurred_at > now() - interval '14 days' group by 1, 2;
insert into crash_group_version_days (group_id, version, day, count)
select k.group_id, c.version, (c.occurred_at at time zone 'UTC')::date, sum(c.duplicates)
from crashes c join crash_group_keys k on k.id = c.key_id group by 1, 2, 3;
insert into crash_group_values (group_id, kind, value, count, first_seen, last_seen)
select group_id, kind, value, n, first_seen, last_seen from (
    select k.group_id, v.kind, v.value, sum(c.duplicates) as n, min(c.occurred_at) as first_seen, max(c.occurred_at) as last_seen,
        row_number() over (partition by k.group_id, v.kind order by sum(c.duplicates) desc) as place
    from crashes c join crash_group_keys k on k.id = c.key_id
    cross join lateral (values ('version', c.version), ('host', c.host)) v(kind, value)
    group by 1, 2, 3) ranked where place <= 200;
update crash_groups g set count = s.n, first_seen = s.first_seen, last_seen = s.last_seen from (
    select k.group_id, sum(c.duplicates) as n, min(c.occurred_at) as first_seen, max(c.occurred_at) as last_seen
    from crashes c join crash_group_keys k on k.id = c.key_id group by 1) s
where g.id = s.group_id;
vacuum analyze
