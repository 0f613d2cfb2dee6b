package tester

import (
	"context"
	"fmt"
	"time"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// Status is how far an invitation came.
type Status string

// The states of an invitation. It goes on from one to a later one and never back;
// Revoked ends it, until the person is invited again.
const (
	Created   Status = "created"   // nobody was mailed
	Sent      Status = "sent"      // the mail was written
	Opened    Status = "opened"    // the personal link was opened
	Installed Status = "installed" // the build was downloaded
	Revoked   Status = "revoked"
)

// Invite is the invitation of one person to one build.
type Invite struct {
	ID             int64      `db:"id"`
	OrganizationID int64      `db:"organization_id"`
	BuildID        int64      `db:"build_id"`
	UserID         int64      `db:"user_id"`
	TesterID       int64      `db:"tester_id"` // of the membership
	Email          string     `db:"email"`
	Name           string     `db:"name"`
	Blocked        bool       `db:"blocked"`
	Status         Status     `db:"status"`
	InvitedBy      string     `db:"invited_by"`
	InvitedAt      time.Time  `db:"invited_at"`
	SentAt         *time.Time `db:"sent_at"`
	OpenedAt       *time.Time `db:"opened_at"`
	InstalledAt    *time.Time `db:"installed_at"` // when the download began
	// UsedAt is when the person's first session of the build came: by then it is installed.
	UsedAt    *time.Time `db:"used_at"`
	RevokedAt *time.Time `db:"revoked_at"`
	Nonce     []byte     `db:"nonce" json:"-"`
	// Secret is that of the personal link (link.Links.Invite), "" of an invitation
	// that is revoked or whose person is blocked: the link would not open.
	Secret string `db:"-"`
}

// inviteColumns are of an invitation i, the membership m and the user u.
const inviteColumns = `i.id, i.organization_id, i.build_id, i.user_id, m.id as tester_id, coalesce(u.email, '') as email,
	u.name, m.blocked_at is not null as blocked, i.status, i.invited_by, i.invited_at, i.sent_at, i.opened_at,
	i.installed_at, i.revoked_at, i.nonce, (select min(s.first_at) from build_installs s
		where s.build_id = i.build_id and s.channel = 'session' and coalesce(s.user_id, 0) = i.user_id) as used_at`

// ensureInvites begins an invitation that was revoked anew; others stay as they are. The nonce
// has 122 random bits. It inserts in the order of the ids, so that two at once wait for each
// other and do not deadlock.
const ensureInvites = `
insert into build_invites (organization_id, build_id, user_id, nonce, invited_by)
select m.organization_id, b.id, m.user_id, decode(replace(gen_random_uuid()::text, '-', ''), 'hex'), $4
from builds b join memberships m on m.organization_id = b.organization_id and m.user_id = any($3) and m.blocked_at is null
where b.organization_id = $1 and b.id = $2 and b.deleted_at is null
order by m.user_id
on conflict (build_id, user_id) do update set nonce = excluded.nonce, status = 'created', invited_by = excluded.invited_by,
	invited_at = now(), sent_at = null, opened_at = null, installed_at = null, revoked_at = null
where build_invites.status = 'revoked'`

// EnsureInvites invites people to a build who are not yet, and returns the invitations
// of all of them by user id. Who is blocked or no member of the organization has
// none.
func EnsureInvites(ctx context.Context, tx *storage.Tx, organizationID, buildID int64, userIDs []int64) (map[int64]Invite, error) {
	if err := InviteAll(ctx, tx, organizationID, buildID, userIDs, ""); err != nil {
		return nil, err
	}
	all, err := InvitesOf(ctx, tx, organizationID, buildID, userIDs)
	for user, i := range all {
		if i.Secret == "" {
			delete(all, user)
		}
	}
	return all, err
}

// InviteAll is EnsureInvites for any number of people, without reading the invitations;
// by is the name of who invites.
func InviteAll(ctx context.Context, tx *storage.Tx, organizationID, buildID int64, userIDs []int64, by string) error {
	if len(userIDs) == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, ensureInvites, organizationID, buildID, pq.Array(userIDs), by)
	return storage.Wrap(err, fmt.Sprintf("invite to build %d", buildID))
}

const invitesOf = `
select ` + inviteColumns + `
from build_invites i
join memberships m on m.organization_id = i.organization_id and m.user_id = i.user_id
join users u on u.id = i.user_id
where i.organization_id = $1 and i.build_id = $2 and i.user_id = any($3)`

// InvitesOf reads the invitations of people to a build, by user id; those that are
// revoked too.
func InvitesOf(ctx context.Context, q storage.Querier, organizationID, buildID int64, userIDs []int64) (map[int64]Invite, error) {
	found := map[int64]Invite{}
	if len(userIDs) == 0 {
		return found, nil
	}
	rows := []Invite{}
	if err := q.SelectContext(ctx, &rows, invitesOf, organizationID, buildID, pq.Array(userIDs)); err != nil {
		return nil, storage.Wrap(err, "invitations")
	}
	if err := sign(ctx, q, rows); err != nil {
		return nil, err
	}
	for _, i := range rows {
		found[i.UserID] = i
	}
	return found, nil
}

// sign derives the secrets of the links that open.
func sign(ctx context.Context, q storage.Querier, rows []Invite) error {
	if len(rows) == 0 {
		return nil
	}
	key, err := account.InstallationSecret(ctx, q)
	if err != nil {
		return err
	}
	for n := range rows {
		if i := &rows[n]; i.Status != Revoked && !i.Blocked {
			i.Secret = secretOf(key, i.ID, i.Nonce)
		}
	}
	return nil
}

// rank is the place of a status in the order of the states.
const rank = `array_position(array['created', 'sent', 'opened', 'installed'], `

const markInvites = `
update build_invites set status = $3,
	sent_at = case when $3 = 'sent' then now() else sent_at end,
	opened_at = case when $3 = 'opened' then now() else opened_at end,
	installed_at = case when $3 = 'installed' then now() else installed_at end
where build_id = $1 and user_id = any($2) and status <> 'revoked' and ` + rank + `status) < ` + rank + `$3::text)`

// MarkInvite stores how far the invitation of a person to a build came: sent, opened
// or installed. Nothing changes for who was not invited, whose invitation is further
// or revoked.
func MarkInvite(ctx context.Context, tx *storage.Tx, buildID, userID int64, status Status) error {
	return MarkInvites(ctx, tx, buildID, []int64{userID}, status)
}

// MarkInvites is MarkInvite for several people.
func MarkInvites(ctx context.Context, tx *storage.Tx, buildID int64, userIDs []int64, status Status) error {
	if len(userIDs) == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, markInvites, buildID, pq.Array(userIDs), string(status))
	return storage.Wrap(err, fmt.Sprintf("mark invitations to build %d as %s", buildID, status))
}

const revokeInvites = `
update build_invites set status = 'revoked', revoked_at = now()
where organization_id = $1 and user_id = $2 and ($3::bigint = 0 or build_id = $3) and status <> 'revoked'`

// endInviteSessions ends all sessions of invitations, for they do not say which link began
// them. Who has another link opens that one again. It reads page_sessions_member.
const endInviteSessions = `
delete from page_sessions where organization_id = $1 and user_id = $2 and via = 'invite'`

// RevokeInvites ends the invitations of a person to a build, to all builds with build 0,
// with the sessions that invitation links began, and returns how many invitations there
// were.
func RevokeInvites(ctx context.Context, tx *storage.Tx, organizationID, userID, buildID int64) (int64, error) {
	n, err := storage.Affected(tx.ExecContext(ctx, revokeInvites, organizationID, userID, buildID))
	if err != nil || n == 0 {
		return n, storage.Wrap(err, fmt.Sprintf("revoke invitations of user %d", userID))
	}
	_, err = tx.ExecContext(ctx, endInviteSessions, organizationID, userID)
	return n, storage.Wrap(err, fmt.Sprintf("end sessions of invitations of user %d", userID))
}

const holdInvite = `select id from build_invites where id = $1 and status <> 'revoked' for no key update`

// HoldInvite keeps an invitation from being revoked until the transaction ends, so that a
// session begins before the revocation, which ends it, or not at all. storage.ErrNotFound
// when it was revoked.
func HoldInvite(ctx context.Context, tx *storage.Tx, id int64) error {
	var held int64
	return storage.Wrap(tx.GetContext(ctx, &held, holdInvite, id), fmt.Sprintf("invitation %d", id))
}

const invitesPage = `
select ` + inviteColumns + `
from build_invites i
join memberships m on m.organization_id = i.organization_id and m.user_id = i.user_id
join users u on u.id = i.user_id
where i.organization_id = $1 and i.build_id = $2 and ($3 = '' or i.status = $3)
order by i.user_id limit $4 offset $5`

// InviteList is a page of invitations. Total is the number of all, or, where Exact is
// false, a number that there are at least; Next reports then whether a page follows.
type InviteList struct {
	Invites     []Invite
	Total       int
	Exact, Next bool
}

// invitesReach is how far the invitations to a build are counted.
const invitesReach = 10_000

// Invites lists the invitations to a build by user id, those of a status ("": all).
func Invites(ctx context.Context, q storage.Querier, organizationID, buildID int64, status Status, p storage.Page) (*InviteList, error) {
	list := &InviteList{Invites: []Invite{}}
	err := q.GetContext(ctx, &list.Total, `select count(*) from (select from build_invites
		where organization_id = $1 and build_id = $2 and ($3 = '' or status = $3) limit $4) reached`,
		organizationID, buildID, string(status), invitesReach+1)
	if err != nil {
		return nil, storage.Wrap(err, "count invitations")
	}
	list.Exact, list.Total = list.Total <= invitesReach, min(list.Total, invitesReach)
	limit := p.RowLimit()
	if err := q.SelectContext(ctx, &list.Invites, invitesPage, organizationID, buildID, string(status), limit+1, p.RowOffset()); err != nil {
		return nil, storage.Wrap(err, "list invitations")
	}
	if len(list.Invites) > limit {
		list.Invites, list.Next = list.Invites[:limit], true
	}
	return list, sign(ctx, q, list.Invites)
}

// RevokeInvite ends the invitation of one person to a build, with its audit entry.
// ErrNotFound when there is none in force.
func RevokeInvite(ctx context.Context, tx *storage.Tx, actor account.Actor, organizationID, buildID, userID int64) error {
	found, err := InvitesOf(ctx, tx, organizationID, buildID, []int64{userID})
	if err != nil {
		return err
	}
	n, err := RevokeInvites(ctx, tx, organizationID, userID, buildID)
	if err != nil {
		return err
	}
	if n == 0 {
		return fmt.Errorf("invitation of user %d to build %d: %w", userID, buildID, storage.ErrNotFound)
	}
	return account.Audit(ctx, tx, account.Event{OrganizationID: organizationID, Type: account.InviteRevoked, Actor: actor,
		Subject: fmt.Sprintf("build %d", buildID), Detail: map[string]any{"build_id": buildID, "user_id": userID, "email": found[userID].Email}})
}
