-- +goose Up
set local lock_timeout = '3s';
-- Another app of the team has the same package, platform and folder: this one is a copy of
-- it, or was made twice before that was refused. Uploads that name the package only go to
-- the other one. Null of all others. No foreign key: the other one may be deleted, and this
-- one stays what it is.
alter table projects add column duplicate_of bigint;

-- The platform in its one spelling (storage/artifact/platform.go). What is none of the
-- names becomes '', which the first build of the app sets; no build ever had such a name.
with spelling(platform) as (
    values ('Android'), ('iOS'), ('tvOS'), ('macOS'), ('Windows'), ('Linux'), ('Switch'), ('Xbox'), ('PlayStation'), ('Web')
)
update projects p set platform = coalesce((select s.platform from spelling s where lower(s.platform) = lower(trim(p.platform))), '')
where p.platform not in (select platform from spelling) and p.platform <> '';

-- Apps of one package and platform in one folder of a team: the one that has builds, or is
-- older, stays the app; the others are marked. Nothing is merged, moved or deleted.
with ranked as (
    select id, first_value(id) over (
        partition by team_id, coalesce(folder_id, 0), package_name, platform
        order by build_count > 0 desc, id) as kept
    from projects where deleted_at is null and package_name <> ''
)
update projects p set duplicate_of = r.kept from ranked r where r.id = p.id and r.kept <> p.id;

-- The log of the database names them; so does duplicate_of of GET /api/v3/projects.
-- +goose StatementBegin
do $$
declare
    app record;
begin
    for app in select id, duplicate_of, package_name, platform from projects where duplicate_of is not null order by id loop
        raise warning 'app % (%, %) is a second one beside app %: it keeps its builds, and uploads by package name go to the other one',
            app.id, app.package_name, app.platform, app.duplicate_of;
    end loop;
end
$$;
-- +goose StatementEnd
