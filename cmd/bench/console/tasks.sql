-- $1 tasks from the number $2 on, of $3 in all, spread over the last twenty hours,
-- which no retention takes away, newest last. One of
-- 200 failed for good; some are planned for next year.
insert into tasks (id, kind, queue, organization_id, payload, max_attempts, request_id, state, run_at, attempt, worker, error, created_at, started_at, finished_at)
select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '7' || substr(md5('t' || n), 1, 3) || '8' || substr(md5('t' || n), 4, 15))::uuid,
    k.kind, k.queue, o.id, jsonb_build_object('number', n), 5, 'request-' || n / 3,
    case when n % 200 = 0 then 'dead' when n % 2000 = 1 then 'queued' when n % 500 = 2 then 'cancelled' else 'succeeded' end,
    case when n % 2000 = 1 then now() + interval '1 year' else at end, case when n % 2000 = 1 then 0 else 1 end, 'worker-' || n % 9,
    case when n % 200 = 0 then 'the server answered ' || 500 + n % 5 end, at,
    case when n % 2000 <> 1 then at + n % 700 * interval '1 millisecond' end,
    case when n % 2000 <> 1 then at + n % 700 * interval '1 millisecond' + n % 90 * interval '10 milliseconds' end
from (select id from organizations order by id limit 1) o,
    (select n, now() - interval '20 hours' + n * (interval '20 hours' / $3::int) as at from generate_series($2::int + 1, $2::int + $1::int) n) numbers,
    lateral (select (array['build:notify', 'mail:send', 'suite:run', 'build:verify', 'test:job', 'symbol:index'])[1 + n % 6] as kind,
        (array['default', 'mail', 'critical', 'default', 'run', 'default'])[1 + n % 6] as queue) k
