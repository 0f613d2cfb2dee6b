package installpage

import (
	"context"
	"fmt"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/distribution"
)

// Access is what a person may do with a build.
type Access struct {
	Allowed bool
	Blocked bool // the membership is blocked
}

const buildAccess = `
select coalesce(m.blocked_at is not null, false) as blocked,
	m.id is not null and m.blocked_at is null and (m.role <> 'tester' or b.all_testers or p.all_testers
		or exists (select from build_groups bg join tester_group_members gm on gm.tester_group_id = bg.tester_group_id
			where bg.build_id = b.id and gm.user_id = m.user_id)
		or exists (select from project_testers pt where pt.project_id = p.id and pt.user_id = m.user_id)
		or exists (select from project_groups pg join tester_group_members gm on gm.tester_group_id = pg.tester_group_id
			where pg.project_id = p.id and gm.user_id = m.user_id)) as allowed
from builds b join projects p on p.id = b.project_id
left join memberships m on m.organization_id = b.organization_id and m.user_id = $2
where b.id = $1 and b.deleted_at is null and p.deleted_at is null`

// BuildAccess reports whether a user may install a build. Who is no member of its
// organization may not.
func BuildAccess(ctx context.Context, q storage.Querier, buildID, userID int64) (Access, error) {
	var row struct{ Allowed, Blocked bool }
	err := q.GetContext(ctx, &row, buildAccess, buildID, userID)
	return Access(row), storage.Wrap(err, fmt.Sprintf("access to build %d", buildID))
}

// ofState selects the builds of project $1 in a state, for the reason of ofProject in package distribution.
// No other index begins with the state, so even a planner that believes a project
// to be small has only this way to it.
const (
	ofState = `(state, project_id, id) >= (wanted.state, $1::bigint, 0)
		and (state, project_id, id) <= (wanted.state, $1, 9223372036854775807) and deleted_at is null`
	newestOfState = ` order by state desc, project_id desc, id desc limit $5`
)

// latestBuildsFor returns the newest $5 builds of project $1 in the states $4 that
// user $2 may have by buildAccess, or anybody when $3. However many builds
// there are, no branch reads more of them than it returns, but for the grants of a
// person's groups: each is looked up, newest first, until there are enough. Those
// of one person are few, or most are of the builds that come first. "offset 0"
// keeps the planner from walking the project's builds in search of the grants.
const latestBuildsFor = `
with visitor as materialized (
	select $3::boolean or member and (role <> 'tester' or all_testers
		or exists (select from project_testers where project_id = $1 and user_id = $2)
		or exists (select from project_groups pg join tester_group_members gm on gm.tester_group_id = pg.tester_group_id
			where pg.project_id = $1 and gm.user_id = $2)) as has_all, member
	from (select p.all_testers, m.role, m.id is not null and m.blocked_at is null as member
		from projects p left join memberships m on m.organization_id = p.organization_id and m.user_id = $2
		where p.id = $1 and p.deleted_at is null) person
), found as (
	select id from unnest($4::text[]) wanted(state) cross join lateral (
		select id from builds where ` + ofState + newestOfState + `) newest
	where (select has_all from visitor)
	union
	select id from unnest($4::text[]) wanted(state) cross join lateral (
		select id from builds where ` + ofState + ` and all_testers` + newestOfState + `) newest
	where (select member and not has_all from visitor)
	union
	select id from tester_group_members gm cross join lateral (
		select bg.build_id as id from build_groups bg cross join lateral (
			select project_id, state, deleted_at from builds where id = bg.build_id offset 0) b
		where bg.tester_group_id = gm.tester_group_id and b.project_id = $1 and b.state = any($4) and b.deleted_at is null
		order by bg.build_id desc limit $5) newest
	where gm.user_id = $2 and (select member and not has_all from visitor)
)
select ` + distribution.BuildColumns + `
from (select id from found order by id desc limit $5) page
join builds b on b.id = page.id` + distribution.BuildTables + `
order by b.id desc`

// LatestBuildsFor are the builds that the page of a project shows to a user (0:
// nobody is signed in), newest first: the enabled ones that the user may have; when
// none of these is enabled, the newest of them, which shows why. An open page
// shows everybody all builds. The list is empty for who may have none.
func LatestBuildsFor(ctx context.Context, q storage.Querier, projectID, userID int64, open bool, limit int) ([]distribution.Build, error) {
	list, err := distribution.ReadBuilds(ctx, q, latestBuildsFor, projectID, userID, open,
		pq.Array([]distribution.State{distribution.Enabled}), storage.Page{Limit: limit}.RowLimit())
	if err != nil || len(list) > 0 {
		return list, err
	}
	return distribution.ReadBuilds(ctx, q, latestBuildsFor, projectID, userID, open,
		pq.Array([]distribution.State{distribution.Disabled, distribution.CertificateExpired, distribution.Invalid}), 1)
}
