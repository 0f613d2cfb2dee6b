package installpage

import (
	"context"
	"fmt"
	"time"

	"github.com/slipway-qa/slipway/storage"
)

// App is an app as the list of a person's apps shows it: with the newest build that
// they may install.
type App struct {
	ProjectID   int64     `db:"project_id"`
	Name        string    `db:"name"`
	PageName    string    `db:"page_name"`
	Platform    string    `db:"platform"`
	BuildToken  string    `db:"build_token"`
	Version     string    `db:"version"`
	VersionCode string    `db:"version_code"`
	UploadedAt  time.Time `db:"created_at"`
	Total       int       `db:"total"` // of all pages
}

// appsFor has the rule of buildAccess, of what a person may install, for all apps of an
// organization at once. A project that is granted as a whole takes one look for its newest
// enabled build; single builds are looked up by the grants of the person's groups.
const appsFor = `
with person as materialized (
	select role, user_id from memberships where organization_id = $1 and user_id = $2 and blocked_at is null
), of_groups as materialized (
	select gm.tester_group_id from tester_group_members gm
	join tester_groups g on g.id = gm.tester_group_id and g.organization_id = $1
	where gm.user_id = $2 and exists (select from person)
), whole as (
	select p.id from projects p, person where p.organization_id = $1 and p.deleted_at is null
		and (person.role <> 'tester' or p.all_testers)
	union
	select p.id from project_testers pt join projects p on p.id = pt.project_id and p.organization_id = $1 and p.deleted_at is null
	where pt.user_id = $2 and exists (select from person)
	union
	select pg.project_id from of_groups join project_groups pg on pg.tester_group_id = of_groups.tester_group_id
), newest as (
	select w.id as project_id, b.id as build_id from whole w cross join lateral (
		select id from builds where (state, project_id, id) >= ('enabled', w.id, 0)
			and (state, project_id, id) <= ('enabled', w.id, 9223372036854775807) and deleted_at is null
		order by state desc, project_id desc, id desc limit 1) b
	union all
	select p.id, b.id from projects p cross join lateral (
		select id from builds where (state, project_id, id) >= ('enabled', p.id, 0)
			and (state, project_id, id) <= ('enabled', p.id, 9223372036854775807) and all_testers and deleted_at is null
		order by state desc, project_id desc, id desc limit 1) b
	where p.organization_id = $1 and p.deleted_at is null and exists (select from person)
	union all
	select b.project_id, max(b.id) from of_groups join build_groups bg on bg.tester_group_id = of_groups.tester_group_id
		join builds b on b.id = bg.build_id and b.state = 'enabled' and b.deleted_at is null and b.organization_id = $1
	group by b.project_id
), found as (
	select project_id, max(build_id) as build_id from newest group by project_id
)
select p.id as project_id, p.name, coalesce(p.landing_page_slug, p.token) as page_name, p.platform, b.token as build_token,
	b.version, b.version_code, b.created_at, count(*) over () as total
from found join projects p on p.id = found.project_id and p.deleted_at is null
join builds b on b.id = found.build_id
order by b.id desc limit $3 offset $4`

// AppsFor are the apps of an organization of which a person may install a build, the
// one with the newest first. For members above tester these are all.
func AppsFor(ctx context.Context, q storage.Querier, organizationID, userID int64, p storage.Page) ([]App, error) {
	list := []App{}
	err := q.SelectContext(ctx, &list, appsFor, organizationID, userID, p.RowLimit(), p.RowOffset())
	return list, storage.Wrap(err, fmt.Sprintf("apps of user %d", userID))
}
