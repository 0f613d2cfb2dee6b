package testergroup

import (
	"context"
	"strings"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/distribution"
)

// Filter selects groups of an organization.
type Filter struct {
	OrganizationID int64
	TeamID         int64  // 0: every team
	Search         string // part of the name, in any case
}

const matchingGroups = `
from tester_groups g
where g.organization_id = $1 and ($2::bigint = 0 or g.team_id = $2)
	and ($3::text = '' or position(lower($3) in lower(g.name)) > 0)`

const groupPage = `
select ` + groupColumns + matchingGroups + `
order by lower(g.name), g.id limit $4 offset $5`

// List lists groups by name, with the number of all that match.
func List(ctx context.Context, q storage.Querier, f Filter, p storage.Page) ([]Group, int, error) {
	search := strings.TrimSpace(f.Search)
	var total int
	if err := q.GetContext(ctx, &total, `select count(*)`+matchingGroups, f.OrganizationID, f.TeamID, search); err != nil {
		return nil, 0, storage.Wrap(err, "count groups")
	}
	list := []Group{}
	err := q.SelectContext(ctx, &list, groupPage, f.OrganizationID, f.TeamID, search, p.RowLimit(), p.RowOffset())
	return list, total, storage.Wrap(err, "list groups")
}

const projectsOfGroup = `
from project_groups pg join projects p on p.id = pg.project_id and p.deleted_at is null` + distribution.ProjectTables + `
where pg.tester_group_id = $1`

const groupProjectPage = `
select ` + distribution.ProjectColumns + projectsOfGroup + `
order by lower(p.name), p.id limit $2 offset $3`

// Projects lists the apps that a group of the organization was granted, by name,
// with their number. Single builds that it was granted are not among them.
func Projects(ctx context.Context, q storage.Querier, organizationID, groupID int64, p storage.Page) ([]distribution.Project, int, error) {
	g, err := ByID(ctx, q, organizationID, groupID)
	if err != nil {
		return nil, 0, err
	}
	list := []distribution.Project{}
	err = q.SelectContext(ctx, &list, groupProjectPage, groupID, p.RowLimit(), p.RowOffset())
	return list, g.ProjectsCount, storage.Wrap(err, "apps of a group")
}

// Email is a tester of a group in a list of whole groups.
type Email struct {
	GroupID int64  `db:"group_id"`
	Email   string `db:"email"`
}

const groupEmails = `
select gm.tester_group_id as group_id, u.email
from unnest($1::bigint[]) with ordinality as wanted(id, n)
join tester_group_members gm on gm.tester_group_id = wanted.id
join users u on u.id = gm.user_id and u.email is not null
order by wanted.n, gm.user_id limit $2`

// Emails returns the mail addresses of the testers of groups, in the order of the
// groups, at most limit in all.
func Emails(ctx context.Context, q storage.Querier, groupIDs []int64, limit int) ([]Email, error) {
	list := []Email{}
	err := q.SelectContext(ctx, &list, groupEmails, pq.Array(groupIDs), limit)
	return list, storage.Wrap(err, "mail addresses of groups")
}
