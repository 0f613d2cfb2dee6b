-- $1 builds of a hundred apps, spread over a year; each build has a file of some megabytes.
with o as (
    select t.organization_id as id, t.id as team from teams t order by t.id limit 1
), apps as (
    insert into projects (organization_id, team_id, name, package_name, platform, token, landing_page_mode)
    select o.id, o.team, 'Shop ' || n, 'com.example.shop' || n, (array['Android', 'iOS'])[1 + n % 2], gen_random_uuid()::text, 'open'
    from o, generate_series(1, 100) n returning id, organization_id, name, package_name, platform
), numbered as (
    select apps.*, row_number() over (order by id) - 1 as place from apps
), uploads as (
    insert into files (organization_id, object_key, size, sha256, content_type, created_at)
    select o.id, 'bench/console/' || n, 1000000 + n * 37 % 90000000, '', 'application/octet-stream', now() - interval '1 year' * (1 - n::float / $1::int)
    from o, generate_series(1, $1::int) n returning id, created_at
), counted as (
    select id, created_at, row_number() over (order by id) as n from uploads
), written as (
    insert into builds (organization_id, project_id, token, app_name, version, version_code, platform, package_name, kind, file_id, file_name,
        release_notes, downloads, crashes, uploaded_by_name, uploaded_via, created_at, updated_at, verification)
    select a.organization_id, a.id, gen_random_uuid()::text, a.name, '4.' || counted.n / 2500 || '.0', counted.n::text, a.platform, a.package_name,
        case a.platform when 'iOS' then 'ipa' else 'apk' end, counted.id, 'shop-' || counted.n || '.apk', 'What is new in ' || counted.n,
        counted.n % 50, counted.n % 7, 'CI', 'api', counted.created_at, counted.created_at, 'verified'
    from counted join numbered a on a.place = counted.n % 100 returning id, project_id
)
select count(*) from written
