// Package tester stores testers: the memberships of role tester, and the
// invitations to builds that people were sent.
//
// Testers are added by mail address, any number in one transaction with one audit
// entry (Add, AddPeople). A person whom another organization knows gets a further
// membership, and nothing shows it. Who is a member above tester keeps the role.
//
// A block leaves everything as it is and closes every door: each read that lets
// somebody in looks at the membership. Unblocking therefore brings back what there
// was, the links of invitations included. Removal deletes the membership, and with it
// by foreign keys tokens, sessions, sign-in links, devices and invitations.
//
// An invitation is a row per person and build. Its personal link carries the row's id
// and an HMAC under the installation's secret over id and nonce (BySecret), so
// that the link can be shown again and is stored nowhere. Revoking ends the link; an
// invitation that is renewed has another nonce, and so another link.
//
// What belongs to another organization is storage.ErrNotFound; a value that breaks
// a rule is a *storage.InvalidError that names it.
package tester

import (
	"context"
	"fmt"
	"time"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// Tester is a membership of role tester; ByUser reads one of any role.
type Tester struct {
	ID          int64        `db:"id"` // of the membership
	UserID      int64        `db:"user_id"`
	Email       string       `db:"email"`
	Name        string       `db:"name"`
	Role        account.Role `db:"role"`
	BlockedAt   *time.Time   `db:"blocked_at"`
	LastLoginAt *time.Time   `db:"last_login_at"`
	CreatedAt   time.Time    `db:"created_at"`
}

// Blocked reports whether the tester is blocked.
func (t *Tester) Blocked() bool { return t.BlockedAt != nil }

const testerColumns = `m.id, m.user_id, coalesce(u.email, '') as email, u.name, m.role, m.blocked_at, m.last_login_at, m.created_at`

const testerByID = `
select ` + testerColumns + ` from memberships m join users u on u.id = m.user_id
where m.organization_id = $1 and m.id = $2 and m.role = 'tester'`

// ByID reads a tester by the membership's id.
func ByID(ctx context.Context, q storage.Querier, organizationID, id int64) (*Tester, error) {
	return read(ctx, q, testerByID, organizationID, id)
}

const memberByUser = `
select ` + testerColumns + ` from memberships m join users u on u.id = m.user_id
where m.organization_id = $1 and m.user_id = $2`

// ByUser reads the membership that a user has, of whatever role.
func ByUser(ctx context.Context, q storage.Querier, organizationID, userID int64) (*Tester, error) {
	return read(ctx, q, memberByUser, organizationID, userID)
}

// locked is ByID for a change: nobody else changes the membership meanwhile.
func locked(ctx context.Context, tx *storage.Tx, organizationID, id int64) (*Tester, error) {
	return read(ctx, tx, testerByID+` for update of m`, organizationID, id)
}

func read(ctx context.Context, q storage.Querier, query string, organizationID, id int64) (*Tester, error) {
	var t Tester
	if err := q.GetContext(ctx, &t, query, organizationID, id); err != nil {
		return nil, storage.Wrap(err, fmt.Sprintf("tester %d", id))
	}
	return &t, nil
}

// signedIn returns no row for who is no member.
const signedIn = `
update memberships m set last_login_at = now() from users u
where m.organization_id = $1 and m.user_id = $2 and u.id = m.user_id
returning m.id, coalesce(u.email, u.username) as email`

// SignedIn stores that a person began a session on the pages of an organization, with
// the audit entry.
func SignedIn(ctx context.Context, tx *storage.Tx, actor account.Actor, organizationID, userID int64) error {
	var row struct {
		ID    int64  `db:"id"`
		Email string `db:"email"`
	}
	if err := tx.GetContext(ctx, &row, signedIn, organizationID, userID); err != nil {
		return storage.Wrap(err, fmt.Sprintf("sign-in of user %d", userID))
	}
	actor.UserID, actor.Name = userID, row.Email
	return account.Audit(ctx, tx, account.Event{OrganizationID: organizationID, Type: account.TesterSignedIn, Actor: actor,
		Subject: row.Email, Detail: map[string]any{"id": row.ID, "user_id": userID}})
}
