package account

import (
	"context"
	"fmt"
	"time"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// upsertTeamMember needs both sides in the organization: otherwise the select has no row.
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
	UserID int64  `db:"user_id"`
	Login  string `db:"login"`
	Role   Role   `db:"role"`
	Admin  *bool  `db:"admin"` // nil: not in the team
}

const placesOf = `
select m.user_id, coalesce(u.email, u.username) as login, m.role, tm.admin
from memberships m join users u on u.id = m.user_id
left join team_memberships tm on tm.user_id = m.user_id and tm.team_id = $2
where m.organization_id = $1 and m.user_id = any($3) order by m.user_id for key share of m`

const upsertTeamMembers = `
insert into team_memberships (team_id, user_id, admin)
select $1, n.user_id, n.admin from unnest($2::bigint[], $3::boolean[]) as n(user_id, admin) order by n.user_id
on conflict (team_id, user_id) do update set admin = excluded.admin`

// AddTeamMember puts a member of the organization into a team or changes whether the
// member is its admin; no audit entry where nothing changes. ErrNotFound for one who
// is no member of the organization; a tester belongs to no team.
func AddTeamMember(ctx context.Context, tx *storage.Tx, w Writer, teamID int64, p Place) error {
	t, err := lockTeam(ctx, tx, w, teamID)
	if err != nil {
		return err
	}
	return t.place(ctx, tx, w, []Place{p})
}

// place gives members their places; of several for one member the last one counts.
func (t *Team) place(ctx context.Context, tx *storage.Tx, w Writer, places []Place) error {
	users := make([]int64, len(places))
	for i, p := range places {
		users[i] = p.UserID
	}
	var rows []placeNow
	if err := tx.SelectContext(ctx, &rows, placesOf, w.OrganizationID, t.ID, pq.Array(users)); err != nil {
		return storage.Wrap(err, fmt.Sprintf("members of team %d", t.ID))
	}
	now := make(map[int64]placeNow, len(rows))
	for _, row := range rows {
		now[row.UserID] = row
	}
	wanted := map[int64]bool{}
	for _, p := range places {
		m, ok := now[p.UserID]
		if !ok {
			return fmt.Errorf("member %d: %w", p.UserID, storage.ErrNotFound)
		}
		if m.Role == Tester {
			return storage.Invalid("user_id", "is of a tester: testers belong to no team")
		}
		wanted[p.UserID] = p.Admin
	}
	var changed []int64
	var admins []bool
	var events []Event
	for _, row := range rows {
		admin := wanted[row.UserID]
		if row.Admin != nil && *row.Admin == admin {
			continue
		}
		changed, admins = append(changed, row.UserID), append(admins, admin)
		events = append(events, Event{OrganizationID: w.OrganizationID, Type: TeamMemberAdded, Actor: w.Actor, Subject: t.Name,
			Detail: map[string]any{"id": t.ID, "user_id": row.UserID, "login": row.Login, "admin": admin}})
	}
	if len(changed) == 0 {
		return nil
	}
	if _, err := tx.ExecContext(ctx, upsertTeamMembers, t.ID, pq.Array(changed), pq.Array(admins)); err != nil {
		return storage.Wrap(err, fmt.Sprintf("add members to team %d", t.ID))
	}
	return Audit(ctx, tx, events...)
}

// deleteTeamMembers removes the members who leave, or with $3 all but those in $2.
const deleteTeamMembers = `
with removed as (
	delete from team_memberships where team_id = $1 and (user_id = any($2)) <> $3 returning user_id
)
select removed.user_id, coalesce(u.email, u.username) as login from removed join users u on u.id = removed.user_id
order by removed.user_id`

// RemoveTeamMember takes somebody out of a team; ErrNotFound who is not in it.
func RemoveTeamMember(ctx context.Context, tx *storage.Tx, w Writer, teamID, userID int64) error {
	t, err := lockTeam(ctx, tx, w, teamID)
	if err != nil {
		return err
	}
	removed, err := t.displace(ctx, tx, w, []int64{userID}, false)
	if err != nil {
		return err
	}
	if removed == 0 {
		return fmt.Errorf("user %d in team %d: %w", userID, teamID, storage.ErrNotFound)
	}
	return nil
}

// displace takes users out of the team, or all others, and returns how many were in it.
func (t *Team) displace(ctx context.Context, tx *storage.Tx, w Writer, users []int64, others bool) (int, error) {
	var removed []placeNow
	if err := tx.SelectContext(ctx, &removed, deleteTeamMembers, t.ID, pq.Array(users), others); err != nil {
		return 0, storage.Wrap(err, fmt.Sprintf("remove members of team %d", t.ID))
	}
	events := make([]Event, len(removed))
	for i, m := range removed {
		events[i] = Event{OrganizationID: w.OrganizationID, Type: TeamMemberRemoved, Actor: w.Actor, Subject: t.Name,
			Detail: map[string]any{"id": t.ID, "user_id": m.UserID, "login": m.Login}}
	}
	return len(removed), Audit(ctx, tx, events...)
}

// ReplaceTeamMembers leaves exactly these people in a team. However many they are, it is
// six statements.
func ReplaceTeamMembers(ctx context.Context, tx *storage.Tx, w Writer, teamID int64, places []Place) error {
	t, err := lockTeam(ctx, tx, w, teamID)
	if err != nil {
		return err
	}
	stay := make([]int64, 0, len(places))
	for _, p := range places {
		stay = append(stay, p.UserID)
	}
	if _, err := t.displace(ctx, tx, w, stay, true); err != nil {
		return err
	}
	return t.place(ctx, tx, w, places)
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
