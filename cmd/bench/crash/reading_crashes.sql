-- $1, $2: from and to which crash; $3: groups. Few groups have most crashes, over 90
-- days. Attributes have few, hundreds, thousands of values, and one each.
with p as materialized (
    select id, organization_id from crash_projects order by id limit 1
), k as materialized (
    select row_number() over (order by id) as n, id from crash_group_keys
), r as materialized (
    select n, 1 + floor($3::int * power(random(), 2.5))::int as g, random() as a, random() as b, random() as c,
        now() - random() * interval '90 days' as at
    from generate_series($1::int + 1, $2::int) n
)
insert into crashes (id, organization_id, crash_project_id, key_id, uuid, state, format, occurred_at, received_at,
    lang, agent, classifier, message, version, host, attributes)
select (lpad(to_hex((extract(epoch from r.at) * 1000)::bigint), 12, '0') || '7' || substr(md5('i' || r.n), 1, 3)
        || '8' || substr(md5('i' || r.n), 4, 13) || '00')::uuid,
    p.organization_id, p.id, k.id, gen_random_uuid(), 'processed', 'json', r.at, r.at,
    'nodejs', '@backtrace/node', 'TypeError',
    'step ' || r.g || ' failed for order ' || case when r.b < 0.7 then r.g % 40 else floor(r.b * 100)::int end,
    '4.' || floor(r.b * 40)::int || '.0', 'web-' || floor(r.c * 150)::int,
    jsonb_build_object('os', case when r.a < 0.6 then 'Linux' when r.a < 0.8 then 'Windows' else 'Darwin' end,
        'environment', case when r.c < 0.9 then 'production' else 'staging' end,
        'tier', case when r.b < 0.03 then 'gold' when r.b < 0.5 then 'silver' else 'free' end,
        'customer', case when r.b < 0.03 then 'acme' else 'c' || floor(r.c * 2000)::int end,
        'device.model', 'model-' || floor(300 * r.a * r.b)::int, 'cpu.count', (array[2, 4, 8, 16])[1 + r.n % 4],
        'application.version', '4.' || floor(r.b * 40)::int || '.0', 'hostname', 'web-' || floor(r.c * 150)::int,
        'locale', 'l' || floor(r.a * 30)::int, 'rooted', r.c < 0.02, 'user.id', 'u' || floor(r.a * 200000)::int,
        'session.id', md5('s' || r.n), 'memory.free', floor(r.c * 1e9)::bigint, 'application', 'shop',
        'error.message', 'step ' || r.g || ' failed', 'uname.machine', 'x64', 'lang.version', 'v20.11.' || r.g % 3,
        'process.age', floor(r.a * 100000)::int)
from r cross join p join k on k.n = r.g
