package account

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// Membership is a user inside an organization, for lists.
type Membership struct {
	User
	MembershipID int64      `db:"membership_id" json:"membership_id"`
	Role         Role       `db:"role" json:"role"`
	BlockedAt    *time.Time `db:"blocked_at" json:"blocked_at"`
}

const insertMembership = `
insert into memberships (organization_id, user_id, role) values ($1, $2, $3) returning id`

// enroll writes a new user's membership.
func enroll(ctx context.Context, tx *storage.Tx, organizationID, userID int64, role Role) error {
	if err := LockOrganization(ctx, tx, organizationID); err != nil {
		return err
	}
	var id int64
	err := tx.GetContext(ctx, &id, insertMembership, organizationID, userID, role)
	return storage.Wrap(err, "create membership")
}

// join writes a new user's membership and team.
func join(ctx context.Context, tx *storage.Tx, actor Actor, organizationID, userID int64, role Role, teamID int64) error {
	if err := enroll(ctx, tx, organizationID, userID, role); err != nil {
		return err
	}
	if teamID == 0 && role == Member {
		// A member of no team can change nothing: where there is one team only, it
		// is that.
		var only []int64
		if err := tx.SelectContext(ctx, &only, firstTeams, organizationID); err != nil {
			return storage.Wrap(err, "the only team")
		}
		if len(only) == 1 {
			teamID = only[0]
		}
	}
	if teamID == 0 {
		return nil
	}
	return joinTeam(ctx, tx, actor, organizationID, userID, teamID)
}

// joinTeam puts somebody into a team that a request names.
func joinTeam(ctx context.Context, tx *storage.Tx, actor Actor, organizationID, userID, teamID int64) error {
	err := AddToTeam(ctx, tx, actor, organizationID, teamID, userID, false)
	if errors.Is(err, storage.ErrNotFound) {
		return &storage.InvalidError{Field: "team_id", Msg: "is no team of the organization"}
	}
	return err
}

const firstTeams = `select id from teams where organization_id = $1 order by id limit 2`

const members = `
select u.id, u.uuid, u.kind, u.username, u.email, u.name, u.created_at,
	m.id as membership_id, m.role, m.blocked_at
from memberships m join users u on u.id = m.user_id
where m.organization_id = $1
order by m.id limit $2 offset $3`

// Members lists the users of an organization, people and service accounts,
// oldest membership first.
func Members(ctx context.Context, q storage.Querier, organizationID int64, p storage.Page) ([]Membership, error) {
	list := []Membership{}
	err := q.SelectContext(ctx, &list, members, organizationID, p.RowLimit(), p.RowOffset())
	return list, storage.Wrap(err, "list members")
}

const memberByLogin = `
select u.id, u.uuid, u.kind, u.username, u.email, u.name, u.created_at,
	m.id as membership_id, m.role, m.blocked_at
from memberships m join users u on u.id = m.user_id
where m.organization_id = $1 and (lower(u.email) = lower($2) or u.username = $2)`

// MemberByLogin finds a member by mail address or user name.
func MemberByLogin(ctx context.Context, q storage.Querier, organizationID int64, login string) (*Membership, error) {
	var list []Membership
	if err := q.SelectContext(ctx, &list, memberByLogin, organizationID, login); err != nil {
		return nil, storage.Wrap(err, "member by login")
	}
	// User names have no @, mail addresses do: at most one row can match.
	if len(list) != 1 {
		return nil, fmt.Errorf("member %q: %w", login, storage.ErrNotFound)
	}
	return &list[0], nil
}

const membersByLogin = `
select want.login, m.user_id from unnest($2::text[]) as want(login)
cross join lateral (
	select id from users where lower(email) = lower(want.login) union select id from users where username = want.login
) u
join memberships m on m.organization_id = $1 and m.user_id = u.id`

// MembersByLogin finds members by mail addresses or user names, as MemberByLogin does: it
// returns their users by the logins that were found.
func MembersByLogin(ctx context.Context, q storage.Querier, organizationID int64, logins []string) (map[string]int64, error) {
	var rows []struct {
		Login  string `db:"login"`
		UserID int64  `db:"user_id"`
	}
	if err := q.SelectContext(ctx, &rows, membersByLogin, organizationID, pq.Array(logins)); err != nil {
		return nil, storage.Wrap(err, "members by login")
	}
	users := make(map[string]int64, len(rows))
	for _, row := range rows {
		users[row.Login] = row.UserID
	}
	return users, nil
}

// MemberByID finds a member by the user's id, and locks the membership.
func MemberByID(ctx context.Context, q storage.Querier, organizationID, userID int64) (*Membership, error) {
	var m Membership
	err := q.GetContext(ctx, &m, `
		select u.id, u.uuid, u.kind, u.username, u.email, u.name, u.created_at,
			m.id as membership_id, m.role, m.blocked_at
		from memberships m join users u on u.id = m.user_id
		where m.organization_id = $1 and m.user_id = $2
		for update of m`, organizationID, userID)
	if err != nil {
		return nil, storage.Wrap(err, fmt.Sprintf("member %d", userID))
	}
	return &m, nil
}

// SetRole changes what a member may do. The keys of a member who becomes a
// tester stay, refused, until they are revoked. ErrConflict when the
// organization would be left without an owner who is not blocked.
func SetRole(ctx context.Context, tx *storage.Tx, actor Actor, organizationID, userID int64, role Role) error {
	if err := role.check(); err != nil {
		return err
	}
	m, err := lockMember(ctx, tx, organizationID, userID)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `update memberships set role = $2 where id = $1`, m.MembershipID, role); err != nil {
		return storage.Wrap(err, "change role")
	}
	if err := KeepOwner(ctx, tx, organizationID); err != nil {
		return err
	}
	return Audit(ctx, tx, Event{OrganizationID: organizationID, Type: UserRoleChanged, Actor: actor,
		Subject: m.Label(), Detail: map[string]any{"from": m.Role, "to": role}})
}

// BlockUser refuses the member's keys until UnblockUser; blocking twice changes
// nothing. ErrConflict for the last owner.
func BlockUser(ctx context.Context, tx *storage.Tx, actor Actor, organizationID, userID int64) error {
	return setBlocked(ctx, tx, actor, organizationID, userID, true)
}

// UnblockUser lets a blocked member in again.
func UnblockUser(ctx context.Context, tx *storage.Tx, actor Actor, organizationID, userID int64) error {
	return setBlocked(ctx, tx, actor, organizationID, userID, false)
}

// endBearers ends Bearer tokens with the block for good; a key comes back with its end.
const endBearers = `delete from bearer_tokens where organization_id = $1 and user_id = $2`

func setBlocked(ctx context.Context, tx *storage.Tx, actor Actor, organizationID, userID int64, blocked bool) error {
	m, err := lockMember(ctx, tx, organizationID, userID)
	if err != nil {
		return err
	}
	if (m.BlockedAt != nil) == blocked {
		return nil
	}
	_, err = tx.ExecContext(ctx, `update memberships set blocked_at = case when $2 then now() end where id = $1`,
		m.MembershipID, blocked)
	if err != nil {
		return storage.Wrap(err, "block member")
	}
	what := UserUnblocked
	if blocked {
		what = UserBlocked
		if _, err := tx.ExecContext(ctx, endBearers, organizationID, userID); err != nil {
			return storage.Wrap(err, "end bearer tokens")
		}
		if err := KeepOwner(ctx, tx, organizationID); err != nil {
			return err
		}
	}
	return Audit(ctx, tx, Event{OrganizationID: organizationID, Type: what, Actor: actor, Subject: m.Label(),
		Detail: map[string]any{"id": userID}})
}

func lockMember(ctx context.Context, tx *storage.Tx, organizationID, userID int64) (*Membership, error) {
	if err := LockOrganization(ctx, tx, organizationID); err != nil {
		return nil, err
	}
	return MemberByID(ctx, tx, organizationID, userID)
}

// KeepOwner is storage.ErrConflict when a change has left the organization without an owner who
// is not blocked. It runs after the change, under the organization's lock.
func KeepOwner(ctx context.Context, tx *storage.Tx, organizationID int64) error {
	var owners int
	err := tx.GetContext(ctx, &owners, `select count(*) from memberships
		where organization_id = $1 and role = 'owner' and blocked_at is null`, organizationID)
	if err != nil {
		return storage.Wrap(err, "count owners")
	}
	if owners == 0 {
		return fmt.Errorf("an organization keeps at least one owner: %w", storage.ErrConflict)
	}
	return nil
}
