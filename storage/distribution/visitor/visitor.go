// Package visitor has who is signed in on install pages: sessions, and the links in mails that
// begin them.
//
// A session is known by the digest of its secret and stands for one member of one organization.
// One that a mailed link began proves that the visitor reads the person's mail, and may move to
// another organization of the person (SwitchSession); one of an invitation link may not. A link
// is good once. Of two requests that use it at once, one gets the session.
//
// A person who is blocked is returned all the same, so that a page can say so. Sessions and
// links that ended are deleted by ForgetSessions.
package visitor

import (
	"context"
	"fmt"
	"time"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// Via is how a session began.
type Via string

// How sessions begin. A link in a mail proves that the visitor reads the person's mail.
// An invitation link does not: the organization that invited knows it, so its sessions
// are for that organization alone.
const (
	ByMail   Via = "mail"
	ByInvite Via = "invite"
)

// NewSession is a session to begin.
type NewSession struct {
	OrganizationID int64
	UserID         int64
	Via            Via
	Expires        time.Time
}

// BeginSession begins a session of a member, known by the digest of its secret.
func BeginSession(ctx context.Context, tx *storage.Tx, digest account.Digest, n NewSession) error {
	_, err := tx.ExecContext(ctx, `insert into page_sessions (digest, organization_id, user_id, via, expires_at)
		values ($1, $2, $3, $4, $5)`, digest[:], n.OrganizationID, n.UserID, n.Via, n.Expires)
	return storage.Wrap(err, "begin session")
}

// Visitor is who a page session stands for, in the organization of the session.
type Visitor struct {
	OrganizationID   int64        `db:"organization_id"`
	OrganizationName string       `db:"organization_name"`
	OrganizationSlug string       `db:"organization_slug"`
	UserID           int64        `db:"user_id"`
	Email            string       `db:"email"`
	Role             account.Role `db:"role"`
	Blocked          bool         `db:"blocked"`
	Via              Via          `db:"via"`
	CreatedAt        time.Time    `db:"created_at"` // when the session began
	ExpiresAt        time.Time    `db:"expires_at"`
}

const visitorBySession = `
select s.organization_id, o.name as organization_name, o.slug as organization_slug, s.user_id,
	coalesce(u.email, '') as email, m.role, m.blocked_at is not null as blocked, s.via, s.created_at, s.expires_at
from page_sessions s
join users u on u.id = s.user_id
join memberships m on m.organization_id = s.organization_id and m.user_id = s.user_id
join organizations o on o.id = s.organization_id
where s.digest = $1 and s.expires_at > $2`

// BySession finds the person of a session that has not ended. One who is blocked
// is returned too, so that a page can say so.
func BySession(ctx context.Context, q storage.Querier, session account.Digest, now time.Time) (*Visitor, error) {
	var v Visitor
	if err := q.GetContext(ctx, &v, visitorBySession, session[:], now); err != nil {
		return nil, storage.Wrap(err, "page session")
	}
	return &v, nil
}

// Place is an organization that a person is in.
type Place struct {
	OrganizationID int64  `db:"organization_id"`
	Name           string `db:"name"`
	UserID         int64  `db:"user_id"`
}

// maxPlaces bounds the organizations that a page offers.
const maxPlaces = 50

const placesOf = `
select m.organization_id, o.name, m.user_id from memberships m join organizations o on o.id = m.organization_id
where m.user_id = $1 and m.blocked_at is null order by lower(o.name), o.id limit $2`

// PlacesOf are the organizations that a person is in and not blocked, by name.
func PlacesOf(ctx context.Context, q storage.Querier, userID int64) ([]Place, error) {
	list := []Place{}
	err := q.SelectContext(ctx, &list, placesOf, userID, maxPlaces)
	return list, storage.Wrap(err, fmt.Sprintf("organizations of user %d", userID))
}

// placeByEmail puts where somebody tests before where they administrate, and what they signed
// in to last before the rest.
const placeByEmail = `
select m.organization_id, o.name, m.user_id from users u
join memberships m on m.user_id = u.id and m.blocked_at is null
join organizations o on o.id = m.organization_id
where lower(u.email) = lower($1) and ($2 = '' or o.slug = $2)
order by m.last_login_at desc nulls last, m.role = 'tester' desc, m.id desc limit 1`

// PlaceByEmail finds the organization that a mail address is to sign in to: the one
// with the slug; with "" the one that the person used last. storage.ErrNotFound when
// there is none where the person is not blocked.
func PlaceByEmail(ctx context.Context, q storage.Querier, email, slug string) (*Place, error) {
	if account.CheckEmail(email) != nil {
		return nil, fmt.Errorf("sign-in: %w", storage.ErrNotFound)
	}
	var p Place
	if err := q.GetContext(ctx, &p, placeByEmail, email, slug); err != nil {
		return nil, storage.Wrap(err, "sign-in")
	}
	return &p, nil
}

const switchSession = `
update page_sessions s set organization_id = m.organization_id
from memberships m
where s.digest = $1 and s.via = 'mail' and s.expires_at > $3
	and m.user_id = s.user_id and m.organization_id = $2 and m.blocked_at is null
returning s.user_id`

// SwitchSession moves a session that a mailed link began to another organization of the
// same person. storage.ErrNotFound when there is no such session or membership.
func SwitchSession(ctx context.Context, tx *storage.Tx, session account.Digest, organizationID int64, now time.Time) (userID int64,
	err error) {
	err = tx.GetContext(ctx, &userID, switchSession, session[:], organizationID, now)
	return userID, storage.Wrap(err, "switch organization")
}
