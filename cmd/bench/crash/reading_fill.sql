-- $1: groups. Title and culprit are those of an application; 5 % of the groups are of
-- the class Checkout.
with g as (
    insert into crash_groups (organization_id, crash_project_id, fingerprint, algorithm, title, culprit, classifier,
        count, first_seen, last_seen, users_since)
    select p.organization_id, p.id, decode(md5('k' || n) || md5('l' || n), 'hex'), 1,
        (array['TypeError', 'NullPointerException', 'SIGSEGV', 'KeyError', 'panic'])[1 + n % 5] || ' in '
            || case when n % 20 = 0 then 'Checkout' else 'Module' || n % 97 end || '.step' || n,
        'reading ' || n, (array['TypeError', 'NullPointerException', 'SIGSEGV', 'KeyError', 'panic'])[1 + n % 5],
        0, now(), now(), null
    from (select id, organization_id from crash_projects order by id limit 1) p, generate_series(1, $1::int) n
    returning id, crash_project_id, fingerprint, algorithm
)
insert into crash_group_keys (crash_project_id, key, algorithm, group_id)
select crash_project_id, fingerprint, algorithm, id from g order by id
