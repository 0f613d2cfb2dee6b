package visitor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution/text"
)

const signInCandidate = `
select m.user_id, m.blocked_at is not null as blocked
from users u join memberships m on m.user_id = u.id
where lower(u.email) = lower($2) and m.organization_id = $1`

// SignInCandidate finds the membership that a mail address has in the
// organization of a page; storage.ErrNotFound when there is none.
func SignInCandidate(ctx context.Context, q storage.Querier, organizationID int64, email string) (userID int64, blocked bool, err error) {
	if account.CheckEmail(email) != nil {
		return 0, false, fmt.Errorf("sign-in: %w", storage.ErrNotFound)
	}
	var row struct {
		UserID  int64 `db:"user_id"`
		Blocked bool  `db:"blocked"`
	}
	err = q.GetContext(ctx, &row, signInCandidate, organizationID, email)
	return row.UserID, row.Blocked, storage.Wrap(err, "sign-in")
}

// lockMembership has links that two requests make at once counted one after the other.
const lockMembership = `
select id from memberships where organization_id = $1 and user_id = $2 for no key update`

const countLinks = `
select count(*) from sign_in_links where organization_id = $1 and user_id = $2 and created_at >= $3`

// CreateSignInLink keeps a one-time link. ErrConflict when the person was sent
// most links since the time given.
func CreateSignInLink(ctx context.Context, tx *storage.Tx, organizationID, userID int64, digest account.Digest, path string,
	expires, since time.Time, most int) error {
	path, err := storage.Line("path", path, text.MaxURL)
	if err != nil {
		return err
	}
	if !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") || strings.Contains(path, `\`) {
		return storage.Invalid("path", "must be a path of this service")
	}
	var id int64
	if err := tx.GetContext(ctx, &id, lockMembership, organizationID, userID); err != nil {
		return storage.Wrap(err, fmt.Sprintf("member %d", userID))
	}
	var n int
	if err := tx.GetContext(ctx, &n, countLinks, organizationID, userID, since); err != nil {
		return storage.Wrap(err, "count sign-in links")
	}
	if n >= most {
		return fmt.Errorf("member %d was sent %d sign-in links: %w", userID, n, storage.ErrConflict)
	}
	_, err = tx.ExecContext(ctx, `insert into sign_in_links (digest, organization_id, user_id, path, expires_at)
		values ($1, $2, $3, $4, $5)`, digest[:], organizationID, userID, path, expires)
	return storage.Wrap(err, "create sign-in link")
}

// PeekSignInLink returns the path of a link that is still good.
func PeekSignInLink(ctx context.Context, q storage.Querier, digest account.Digest, now time.Time) (path string, err error) {
	err = q.GetContext(ctx, &path, `select path from sign_in_links
		where digest = $1 and used_at is null and expires_at > $2`, digest[:], now)
	return path, storage.Wrap(err, "sign-in link")
}

// useSignInLink is one statement: of two that use the link at once, one gets the row.
const useSignInLink = `
update sign_in_links set used_at = $2 where digest = $1 and used_at is null and expires_at > $2
returning organization_id, user_id, path`

// UsedLink is whom a sign-in link was for, and where it leads.
type UsedLink struct {
	OrganizationID int64  `db:"organization_id"`
	UserID         int64  `db:"user_id"`
	Path           string `db:"path"`
}

// UseSignInLink ends a link and begins a session.
func UseSignInLink(ctx context.Context, tx *storage.Tx, digest, session account.Digest, now, expires time.Time) (*UsedLink, error) {
	var link UsedLink
	if err := tx.GetContext(ctx, &link, useSignInLink, digest[:], now); err != nil {
		return nil, storage.Wrap(err, "sign-in link")
	}
	return &link, BeginSession(ctx, tx, session, NewSession{OrganizationID: link.OrganizationID, UserID: link.UserID,
		Via: ByMail, Expires: expires})
}

// EndSession ends a session.
func EndSession(ctx context.Context, q storage.Querier, session account.Digest) error {
	_, err := q.ExecContext(ctx, `delete from page_sessions where digest = $1`, session[:])
	return storage.Wrap(err, "end session")
}

const forgetLinks = `
delete from sign_in_links where digest in (select digest from sign_in_links where expires_at < $1
	order by expires_at limit $2 for update skip locked)`

const forgetSessions = `
delete from page_sessions where digest in (select digest from page_sessions where expires_at < $1
	order by expires_at limit $2 for update skip locked)`

// ForgetSessions deletes links and sessions that ended before, at most limit of each.
func ForgetSessions(ctx context.Context, q storage.Querier, before time.Time, limit int) (int64, error) {
	links, err := storage.Affected(q.ExecContext(ctx, forgetLinks, before, limit))
	if err != nil {
		return 0, err
	}
	sessions, err := storage.Affected(q.ExecContext(ctx, forgetSessions, before, limit))
	return links + sessions, err
}
