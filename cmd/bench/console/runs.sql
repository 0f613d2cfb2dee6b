-- $1 runs of a thousand cases in twenty suites, of fifty cases each. A suite runs all its
-- cases; of a hundred runs three fail, and five are healed. A job has its eight steps.
with t as (
    select t.organization_id, t.id, u.uuid from teams t, (select uuid from users order by id limit 1) u order by t.id limit 1
), suites as (
    insert into test_suites (id, organization_id, team_id, name, creator_uuid, modifier_uuid, created_at)
    select gen_random_uuid(), t.organization_id, t.id, 'Suite ' || n, t.uuid, t.uuid, now() - interval '1 year' from t, generate_series(1, 20) n
    returning id, name
), placed as (
    select id, name, row_number() over (order by id) - 1 as place from suites
), cases as (
    insert into test_cases (id, organization_id, team_id, suite_id, name, tags, run_settings, runnable, creator_uuid, modifier_uuid, created_at)
    select lpad(to_hex(n), 24, '0'), t.organization_id, t.id, placed.id, 'Order of product ' || n || ' by voucher', array['shop', 'tag' || n % 9],
        '{"testUrl":"https://shop.example.com","runTargets":[{"capabilities":{"browserName":"chrome"},"isRdc":false}]}', true, t.uuid, t.uuid,
        now() - interval '1 year' + n * interval '1 minute'
    from t, generate_series(1, 1000) n join placed on placed.place = n % 20 returning id, name, suite_id
), revisions as (
    insert into test_revisions (id, case_id, number, intent, steps)
    select lpad(to_hex(x'f00000'::int + ('x' || right(cases.id, 6))::bit(24)::int), 24, '0'), cases.id, 1, 'Order ' || cases.name, (
        select jsonb_agg(jsonb_build_object('order', s, 'comment', 'Click button ' || s, 'tool', jsonb_build_object('type', 'click_element',
            'args', jsonb_build_object('selector', jsonb_build_object('type', 'css', 'value', '#button-' || s))))) from generate_series(0, 7) s)
    from cases returning id, case_id
), suite_runs as (
    insert into suite_runs (id, organization_id, team_id, suite_id, suite_name, user_uuid, build_name, state, run_count, fanned_out, created_at, started_at, finished_at)
    select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '7' || substr(md5('s' || n), 1, 3) || '8' || substr(md5('s' || n), 4, 15))::uuid,
        t.organization_id, t.id, placed.id, placed.name, t.uuid, 'build ' || n, case when n % 10 = 3 then 'FAILED' else 'PASSED' end, 50, true, at, at, at + interval '4 minutes'
    from t, (select n, now() - interval '90 days' * (1 - n::float / ($1::int / 50)) as at from generate_series(1, $1::int / 50) n) numbers
        join placed on placed.place = n % 20 returning id, suite_id, created_at, build_name, state
), runs as (
    insert into test_runs (id, organization_id, team_id, case_id, revision_id, suite_run_id, user_uuid, case_name, build_name, test_url, state, created_at, started_at, finished_at)
    select (left(s.id::text, 13) || '-7' || substr(md5(s.id || c.id), 1, 3) || '-8' || substr(md5(s.id || c.id), 4, 3) || '-' || substr(md5(s.id || c.id), 7, 12))::uuid,
        t.organization_id, t.id, c.id, r.id, s.id, t.uuid, c.name, s.build_name, 'https://shop.example.com',
        case when s.state = 'FAILED' and ('x' || right(c.id, 2))::bit(8)::int % 3 = 0 then 'FAILED' else 'PASSED' end, s.created_at, s.created_at, s.created_at + interval '40 seconds'
    from t, suite_runs s join cases c on c.suite_id = s.suite_id join revisions r on r.case_id = c.id
    returning id, organization_id, state, created_at
), jobs as (
    insert into test_jobs (id, organization_id, run_id, position, target, state, error_code, error, records, healed, started_at, finished_at)
    select gen_random_uuid(), organization_id, id, 0, '{"capabilities":{"browserName":"chrome"},"isRdc":false}', state,
        case state when 'FAILED' then 'ASSERTION_FAILED' else '' end, case state when 'FAILED' then 'expected 3 items, found 2' else '' end,
        '[]', case when ascii(right(id::text, 1)) % 16 = 1 then 1 else 0 end, created_at, created_at + interval '35 seconds'
    from runs returning id
)
select count(*) from jobs
