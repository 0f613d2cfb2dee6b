package account

import (
	"context"
	"fmt"
	"strings"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// CountedTeam is a team with the numbers of what it has.
type CountedTeam struct {
	Team
	MembersCount  int `db:"members_count"`
	ProjectsCount int `db:"projects_count"`
	GroupsCount   int `db:"groups_count"`
}

const countedTeamColumns = `t.id, t.uuid, t.organization_id, t.name, t.created_at,
	(select count(*) from team_memberships tm join memberships m on m.organization_id = t.organization_id
		and m.user_id = tm.user_id where tm.team_id = t.id) as members_count,
	(select count(*) from projects p where p.team_id = t.id and p.deleted_at is null) as projects_count,
	(select count(*) from tester_groups g where g.team_id = t.id) as groups_count`

const countedTeam = `select ` + countedTeamColumns + ` from teams t where t.organization_id = $1 and t.id = $2`

// TeamByID reads a team of the organization.
func TeamByID(ctx context.Context, q storage.Querier, organizationID, id int64) (*CountedTeam, error) {
	var t CountedTeam
	if err := q.GetContext(ctx, &t, countedTeam, organizationID, id); err != nil {
		return nil, storage.Wrap(err, fmt.Sprintf("team %d", id))
	}
	return &t, nil
}

const matchingTeams = `
from teams t where t.organization_id = $1 and ($2::text = '' or position(lower($2) in lower(t.name)) > 0)`

const teamPage = `
select ` + countedTeamColumns + matchingTeams + `
order by lower(t.name), t.id limit $3 offset $4`

// Teams lists the teams of an organization by name, with the number of all that match.
// Search is part of the name, in any case.
func Teams(ctx context.Context, q storage.Querier, organizationID int64, search string, p storage.Page) ([]CountedTeam, int, error) {
	search = strings.TrimSpace(search)
	var total int
	if err := q.GetContext(ctx, &total, `select count(*)`+matchingTeams, organizationID, search); err != nil {
		return nil, 0, storage.Wrap(err, "count teams")
	}
	list := []CountedTeam{}
	err := q.SelectContext(ctx, &list, teamPage, organizationID, search, p.RowLimit(), p.RowOffset())
	return list, total, storage.Wrap(err, "list teams")
}

// Administrator is somebody with administrator rights: the owners and admins of the
// organization, and the members who are admins of a team.
type Administrator struct {
	UserID int64         `db:"user_id"`
	Login  string        `db:"login"` // mail address, or a service account's user name
	Role   Role          `db:"role"`
	Teams  pq.Int64Array `db:"teams"` // in which the person may change things
}

const administratorsOf = `
from memberships m join users u on u.id = m.user_id
where m.organization_id = $1 and m.blocked_at is null and (m.role in ('owner', 'admin') or m.role = 'member'
	and exists (select from team_memberships tm join teams t on t.id = tm.team_id and t.organization_id = $1
		where tm.user_id = m.user_id and tm.admin))`

const administratorPage = `
select u.id as user_id, coalesce(u.email, u.username) as login, m.role,
	array(select tm.team_id from team_memberships tm join teams t on t.id = tm.team_id and t.organization_id = $1
		where tm.user_id = m.user_id order by tm.team_id) as teams` + administratorsOf + `
order by array_position(array['owner', 'admin', 'member'], m.role), lower(coalesce(u.email, u.username)), u.id limit $2 offset $3`

// Administrators lists who may administer something in an organization and is not
// blocked: owners, then admins, then admins of teams, with their number.
func Administrators(ctx context.Context, q storage.Querier, organizationID int64, p storage.Page) ([]Administrator, int, error) {
	var total int
	if err := q.GetContext(ctx, &total, `select count(*)`+administratorsOf, organizationID); err != nil {
		return nil, 0, storage.Wrap(err, "count administrators")
	}
	list := []Administrator{}
	err := q.SelectContext(ctx, &list, administratorPage, organizationID, p.RowLimit(), p.RowOffset())
	return list, total, storage.Wrap(err, "list administrators")
}
