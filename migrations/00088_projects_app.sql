-- +goose NO TRANSACTION
-- +goose Up
set statement_timeout = 0;
-- Builds of generic files had the spelling of the upload interface: windows, switch, macos.
with spelling(platform) as (
    values ('Android'), ('iOS'), ('tvOS'), ('macOS'), ('Windows'), ('Linux'), ('Switch'), ('Xbox'), ('PlayStation'), ('Web')
)
update builds b set platform = s.platform
from spelling s
where lower(s.platform) = lower(trim(b.platform)) and b.platform <> s.platform;

drop index concurrently if exists projects_app;
-- Programs of before that still run may have made second apps since the former step, and
-- since a first try of this one.
with ranked as (
    select id, first_value(id) over (
        partition by team_id, coalesce(folder_id, 0), package_name, lower(platform)
        order by build_count > 0 desc, id) as kept
    from projects where deleted_at is null and package_name <> '' and duplicate_of is null
)
update projects p set duplicate_of = r.kept from ranked r where r.id = p.id and r.kept <> p.id;
-- One app of a package and platform in a folder of a team: an upload that names the package
-- finds it. Those that the former step marked stand beside it.
create unique index concurrently projects_app on projects (team_id, coalesce(folder_id, 0), package_name, lower(platform))
    where deleted_at is null and package_name <> '' and duplicate_of is null;
