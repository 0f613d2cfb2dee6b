package account

import (
	"context"
	"fmt"
	"time"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// Both sides must belong to the organization: otherwise the select has no row.
const upsertTeamMember = `
insert into team_memberships (team_id, user_id, admin)
select t.id, m.user_id, $4 from teams t
join memberships m on m.organization_id = t.organization_id and m.user_id = $3
where t.organization_id = $1 and t.id = $2
on conflict (team_id, user_id) do update set admin = excluded.admin
returning team_id`

// AddToTeam puts a member of the organization into one of its teams, or changes
// whether the member is the team's admin.
func AddToTeam(ctx context.Context, tx *storage.Tx, actor Actor, organizationID, teamID, userID int64, admin bool) error {
	var id int64
	if err := tx.GetContext(ctx, &id, upsertTeamMember, organizationID, teamID, userID, admin); err != nil {
		return storage.Wrap(err, fmt.Sprintf("add user %d to team %d", userID, teamID))
	}
	return Audit(ctx, tx, Event{OrganizationID: organizationID, Type: TeamMemberAdded, Actor: actor,
		Subject: fmt.Sprintf("team %d", teamID), Detail: map[string]any{"user_id": userID, "admin": admin}})
}

// Place is what a request asks for somebody in a team.
type Place struct {
	UserID int64
	Admin  bool
}

type placeNow struct {
	Login string `db:"login"`
	Role  Role   `db:"role"`
	Admin *bool  `db:"admin"` // nil: not in the team
}

const placeOf = `
select coalesce(u.email, u.username) as login, m.role, tm.admin
from memberships m join users u on u.id = m.user_id
left join team_memberships tm on tm.user_id = m.user_id and tm.team_id = $2
where m.organization_id = $1 and m.user_id = $3 for key share of m`

// AddTeamMember puts a member of the organization into a team or changes whether the
// member is its admin; no audit entry where nothing changes. ErrNotFound for one who
// is no member of the organization; a tester belongs to no team.
func AddTeamMember(ctx context.Context, tx *storage.Tx, w Writer, teamID int64, p Place) error {
	t, err := lockTeam(ctx, tx, w, teamID)
	if err != nil {
		return err
	}
	return t.place(ctx, tx, w, p)
}

func (t *Team) place(ctx context.Context, tx *storage.Tx, w Writer, p Place) error {
	var now placeNow
	if err := tx.GetContext(ctx, &now, placeOf, w.OrganizationID, t.ID, p.UserID); err != nil {
		return storage.Wrap(err, fmt.Sprintf("member %d", p.UserID))
	}
	if now.Role == Tester {
		return storage.Invalid("user_id", "is of a tester: testers belong to no team")
	}
	if now.Admin != nil && *now.Admin == p.Admin {
		return nil
	}
	var id int64
	if err := tx.GetContext(ctx, &id, upsertTeamMember, w.OrganizationID, t.ID, p.UserID, p.Admin); err != nil {
		return storage.Wrap(err, fmt.Sprintf("add user %d to team %d", p.UserID, t.ID))
	}
	return Audit(ctx, tx, Event{OrganizationID: w.OrganizationID, Type: TeamMemberAdded, Actor: w.Actor, Subject: t.Name,
		Detail: map[string]any{"id": t.ID, "user_id": p.UserID, "login": now.Login, "admin": p.Admin}})
}

const deleteTeamMember = `
with removed as (delete from team_memberships where team_id = $1 and user_id = $2 returning user_id)
select coalesce(u.email, u.username) from removed join users u on u.id = removed.user_id`

// RemoveTeamMember takes somebody out of a team; ErrNotFound who is not in it.
func RemoveTeamMember(ctx context.Context, tx *storage.Tx, w Writer, teamID, userID int64) error {
	t, err := lockTeam(ctx, tx, w, teamID)
	if err != nil {
		return err
	}
	return t.displace(ctx, tx, w, userID)
}

func (t *Team) displace(ctx context.Context, tx *storage.Tx, w Writer, userID int64) error {
	var login string
	if err := tx.GetContext(ctx, &login, deleteTeamMember, t.ID, userID); err != nil {
		return storage.Wrap(err, fmt.Sprintf("user %d in team %d", userID, t.ID))
	}
	return Audit(ctx, tx, Event{OrganizationID: w.OrganizationID, Type: TeamMemberRemoved, Actor: w.Actor, Subject: t.Name,
		Detail: map[string]any{"id": t.ID, "user_id": userID, "login": login}})
}

// ReplaceTeamMembers leaves exactly these people in a team.
func ReplaceTeamMembers(ctx context.Context, tx *storage.Tx, w Writer, teamID int64, places []Place) error {
	t, err := lockTeam(ctx, tx, w, teamID)
	if err != nil {
		return err
	}
	stay := make([]int64, 0, len(places))
	for _, p := range places {
		stay = append(stay, p.UserID)
	}
	var leave []int64
	err = tx.SelectContext(ctx, &leave, `select user_id from team_memberships where team_id = $1 and user_id <> all($2) order by user_id`,
		teamID, pq.Array(stay))
	if err != nil {
		return storage.Wrap(err, "members of a team")
	}
	for _, user := range leave {
		if err := t.displace(ctx, tx, w, user); err != nil {
			return err
		}
	}
	for _, p := range places {
		if err := t.place(ctx, tx, w, p); err != nil {
			return err
		}
	}
	return nil
}

// TeamMember is somebody in a team.
type TeamMember struct {
	UserID   int64     `db:"user_id"`
	Email    string    `db:"email"` // "" for a service account
	Username string    `db:"username"`
	Name     string    `db:"name"`
	Role     Role      `db:"role"` // in the organization
	Admin    bool      `db:"admin"`
	Blocked  bool      `db:"blocked"`
	AddedAt  time.Time `db:"added_at"`
}

const teamMembers = `
select u.id as user_id, coalesce(u.email, '') as email, u.username, u.name, m.role, tm.admin,
	m.blocked_at is not null as blocked, tm.created_at as added_at
from team_memberships tm
join memberships m on m.organization_id = $1 and m.user_id = tm.user_id
join users u on u.id = tm.user_id
where tm.team_id = $2
order by not tm.admin, lower(coalesce(u.email, u.username)), u.id limit $3 offset $4`

// TeamMembers lists the members of a team of the organization, its admins first.
func TeamMembers(ctx context.Context, q storage.Querier, organizationID, teamID int64, p storage.Page) ([]TeamMember, error) {
	list := []TeamMember{}
	err := q.SelectContext(ctx, &list, teamMembers, organizationID, teamID, p.RowLimit(), p.RowOffset())
	return list, storage.Wrap(err, fmt.Sprintf("members of team %d", teamID))
}
