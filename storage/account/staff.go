package account

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// Staff is a member of an organization who is more than a tester: a person or a service
// account, with what admins ask about them.
type Staff struct {
	Membership
	JoinedAt time.Time `db:"joined_at"`
	// LastSeenAt is the last use of a key that is in force or of a session of the console, as
	// they write it down: once in some minutes. nil: none is known.
	LastSeenAt *time.Time `db:"last_seen_at"`
	Keys       int        `db:"keys"` // in force
	Teams      []StaffTeam
}

// StaffTeam is a team that a member is in.
type StaffTeam struct {
	UserID int64  `db:"user_id" json:"-"`
	ID     int64  `db:"id" json:"id"`
	Name   string `db:"name" json:"name"`
	Admin  bool   `db:"admin" json:"admin"`
}

// StaffFilter selects members.
type StaffFilter struct {
	OrganizationID int64
	Search         string // part of mail address, user name or name, in any case
	Role           Role   // "": every role above tester
	UserID         int64  // 0: all
}

// matchingStaff reads the index memberships_staff, which has those who are no testers: they
// are few beside them.
const matchingStaff = `
from memberships m join users u on u.id = m.user_id
where m.organization_id = $1 and m.role <> 'tester' and ($2::text = '' or m.role = $2)
	and ($4::bigint = 0 or m.user_id = $4) and ($3::text = '' or position(lower($3) in lower(concat_ws(E'\n', u.email, u.username, u.name))) > 0)`

// staffPage finds keys by api_keys_user, sessions by console_sessions_member.
const staffPage = `
select u.id, u.uuid, u.kind, u.username, u.email, u.name, u.created_at,
	m.id as membership_id, m.role, m.blocked_at, m.created_at as joined_at, k.keys, greatest(k.used, s.used) as last_seen_at
from (select m.id, m.user_id, m.role, m.blocked_at, m.created_at` + matchingStaff + ` order by m.id limit $5 offset $6) m
join users u on u.id = m.user_id
left join lateral (select count(*) as keys, max(last_used_at) as used from api_keys
	where user_id = m.user_id and organization_id = $1 and revoked_at is null) k on true
left join lateral (select max(last_used_at) as used from console_sessions
	where user_id = m.user_id and organization_id = $1) s on true
order by m.id`

const staffTeams = `
select tm.user_id, t.id, t.name, tm.admin
from team_memberships tm join teams t on t.id = tm.team_id and t.organization_id = $1
where tm.user_id = any($2)
order by lower(t.name), t.id`

// StaffOf lists the members of an organization who are more than testers, the longest there
// first, with the number of all that match.
func StaffOf(ctx context.Context, q storage.Querier, f StaffFilter, p storage.Page) ([]Staff, int, error) {
	var total int
	if err := q.GetContext(ctx, &total, `select count(*)`+matchingStaff, f.OrganizationID, f.Role, f.Search, f.UserID); err != nil {
		return nil, 0, storage.Wrap(err, "count members")
	}
	list := []Staff{}
	if err := q.SelectContext(ctx, &list, staffPage, f.OrganizationID, f.Role, f.Search, f.UserID, p.RowLimit(), p.RowOffset()); err != nil {
		return nil, 0, storage.Wrap(err, "list members")
	}
	ids := make([]int64, len(list))
	for i := range list {
		ids[i] = list[i].ID
	}
	var teams []StaffTeam
	if err := q.SelectContext(ctx, &teams, staffTeams, f.OrganizationID, pq.Array(ids)); err != nil {
		return nil, 0, storage.Wrap(err, "teams of members")
	}
	of := map[int64][]StaffTeam{}
	for _, t := range teams {
		of[t.UserID] = append(of[t.UserID], t)
	}
	for i := range list {
		list[i].Teams = of[list[i].ID]
	}
	return list, total, nil
}

// StaffByID reads a member who is more than a tester.
func StaffByID(ctx context.Context, q storage.Querier, organizationID, userID int64) (*Staff, error) {
	list, _, err := StaffOf(ctx, q, StaffFilter{OrganizationID: organizationID, UserID: userID}, storage.Page{Limit: 1})
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("member %d: %w", userID, storage.ErrNotFound)
	}
	return &list[0], nil
}

// ErrAbove means that nobody changes a member of a higher role than their own, and nobody gives one.
var ErrAbove = errors.New("a member of a higher role")

// ErrService means that a service account is no person, and is changed at its own address.
var ErrService = errors.New("a service account")

// LockStaff locks a person of the organization who is more than a tester, for a change by
// somebody of a role, and returns the membership.
func LockStaff(ctx context.Context, tx *storage.Tx, organizationID, userID int64, by Role) (*Membership, error) {
	m, err := lockMember(ctx, tx, organizationID, userID)
	switch {
	case err != nil:
		return nil, err
	case m.Role == Tester:
		return nil, fmt.Errorf("member %d: %w", userID, storage.ErrNotFound)
	case m.Kind != Person:
		return nil, ErrService
	case !by.AtLeast(m.Role):
		return nil, ErrAbove
	}
	return m, nil
}

// ChangeRole is SetRole by somebody of a role, among the roles above tester. A person who has
// the role already stays as they are, without an audit entry.
func ChangeRole(ctx context.Context, tx *storage.Tx, actor Actor, organizationID, userID int64, by, role Role) error {
	if !role.AtLeast(Member) {
		return storage.Invalid("role", "must be owner, admin or member")
	}
	m, err := LockStaff(ctx, tx, organizationID, userID, by)
	if err != nil || m.Role == role {
		return err
	}
	if !by.AtLeast(role) {
		return ErrAbove
	}
	return SetRole(ctx, tx, actor, organizationID, userID, role)
}
