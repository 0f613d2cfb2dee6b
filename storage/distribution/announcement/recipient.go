package announcement

import (
	"context"
	"fmt"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// Tester is somebody to notify.
type Tester struct {
	UserID int64  `db:"user_id" json:"user_id"`
	Email  string `db:"email" json:"email"`
	Name   string `db:"name" json:"name"`
}

// recipients finds a granted person from the groups, so that the cost is that of the groups
// and not that of the organization.
const recipients = `
with b as (
	select b.id, b.project_id, b.organization_id, b.all_testers or p.all_testers as everyone
	from builds b join projects p on p.id = b.project_id
	where b.id = $1 and b.deleted_at is null and p.deleted_at is null
), people as (
	select gm.user_id from b join build_groups bg on bg.build_id = b.id
		join tester_group_members gm on gm.tester_group_id = bg.tester_group_id and gm.user_id > $2
	union
	select gm.user_id from b join project_groups pg on pg.project_id = b.project_id
		join tester_group_members gm on gm.tester_group_id = pg.tester_group_id and gm.user_id > $2
	union
	select pt.user_id from b join project_testers pt on pt.project_id = b.project_id and pt.user_id > $2
	union
	select m.user_id from b join memberships m on m.organization_id = b.organization_id
		and m.role = 'tester' and m.user_id > $2
	where b.everyone
)
select u.id as user_id, u.email, u.name
from b join memberships m on m.organization_id = b.organization_id and m.blocked_at is null
join people on people.user_id = m.user_id
join users u on u.id = m.user_id and u.email is not null
order by u.id limit $3`

// Recipients are the people to notify of a build, after the user id given, at
// most limit: members of granted groups and who was given the app (every tester with all_testers)
// who are not blocked and have a mail address.
func Recipients(ctx context.Context, q storage.Querier, buildID, after int64, limit int) ([]Tester, error) {
	list := []Tester{}
	err := q.SelectContext(ctx, &list, recipients, buildID, after, storage.Page{Limit: limit}.RowLimit())
	return list, storage.Wrap(err, fmt.Sprintf("recipients of build %d", buildID))
}

// testers counts the people of a project once, since the builds of a list share it, and for
// each build those who were given it and not the project.
const testers = `
with b as materialized (
	select id, project_id, all_testers from builds
	where organization_id = $1 and id = any($2) and deleted_at is null
), p as materialized (
	select id, all_testers from projects where id in (select project_id from b)
), people as materialized (
	select pg.project_id, gm.user_id from p join project_groups pg on pg.project_id = p.id
		join tester_group_members gm on gm.tester_group_id = pg.tester_group_id
	union
	select pt.project_id, pt.user_id from p join project_testers pt on pt.project_id = p.id
	union
	select p.id, m.user_id from p join memberships m on m.organization_id = $1 and m.role = 'tester'
	where p.all_testers
), counted as (
	select project_id, count(*) as n from people group by project_id
), more as (
	select b.id, b.project_id, gm.user_id from b join build_groups bg on bg.build_id = b.id
		join tester_group_members gm on gm.tester_group_id = bg.tester_group_id
	union
	select b.id, b.project_id, m.user_id from b join memberships m on m.organization_id = $1 and m.role = 'tester'
	where b.all_testers
), extra as (
	select m.id, count(*) as n from more m
	left join people on people.project_id = m.project_id and people.user_id = m.user_id
	where people.user_id is null group by m.id
)
select b.id, coalesce(counted.n, 0) + coalesce(extra.n, 0) as n
from b left join counted on counted.project_id = b.project_id left join extra on extra.id = b.id`

// Testers counts, for each build, the people who were given it, by groups or by themselves.
func Testers(ctx context.Context, q storage.Querier, organizationID int64, buildIDs []int64) (map[int64]int, error) {
	counts := make(map[int64]int, len(buildIDs))
	if len(buildIDs) == 0 {
		return counts, nil
	}
	var rows []struct {
		ID int64 `db:"id"`
		N  int   `db:"n"`
	}
	if err := q.SelectContext(ctx, &rows, testers, organizationID, pq.Array(buildIDs)); err != nil {
		return nil, storage.Wrap(err, "count testers of builds")
	}
	for _, row := range rows {
		counts[row.ID] = row.N
	}
	return counts, nil
}
