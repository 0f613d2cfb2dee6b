package account

import (
	"context"
	"fmt"
	"time"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// KeyRow is a stored key, without its text.
type KeyRow struct {
	ID             int64      `db:"id" json:"id"`
	OrganizationID int64      `db:"organization_id" json:"organization_id"`
	UserID         int64      `db:"user_id" json:"user_id"`
	Kind           string     `db:"kind" json:"kind"` // "api" or "access"
	Name           string     `db:"name" json:"name"`
	Hint           string     `db:"hint" json:"hint"`
	CreatedAt      time.Time  `db:"created_at" json:"created_at"`
	LastUsedAt     *time.Time `db:"last_used_at" json:"last_used_at"` // exact to some minutes
	RevokedAt      *time.Time `db:"revoked_at" json:"revoked_at"`
	// Scopes are what the key is restricted to; null: to nothing.
	Scopes pq.StringArray `db:"scopes" json:"scopes"`
}

const keyColumns = `id, organization_id, user_id, kind, name, hint, created_at, last_used_at, revoked_at, scopes`

// NewKey is a key to make for a member.
type NewKey struct {
	OrganizationID int64
	UserID         int64
	Kind           KeyKind // KindAPI or KindAccess
	Name           string
	Scopes         []Scope // nil: the key may do what its holder may
}

// CreateKey creates a further key of a member. A tester has none: InvalidError.
func CreateKey(ctx context.Context, tx *storage.Tx, actor Actor, keys *Issuer, n NewKey) (*KeyRow, Secret, error) {
	m, err := keyHolder(ctx, tx, n)
	if err != nil {
		return nil, Secret{}, err
	}
	secret, err := keys.New(n.Kind)
	if err != nil {
		return nil, Secret{}, err
	}
	row, err := storeKey(ctx, tx, n, secret)
	if err != nil {
		return nil, Secret{}, err
	}
	return row, secret, Audit(ctx, tx, Event{OrganizationID: n.OrganizationID, Type: KeyCreated, Actor: actor,
		Subject: m.Label(), Detail: row.audited()})
}

const revokeKind = `
update api_keys set revoked_at = now()
where organization_id = $1 and user_id = $2 and kind = $3 and revoked_at is null`

// RotateKey creates a new key of the kind and ends all the member's former ones at
// once. A first key is created by it as well.
func RotateKey(ctx context.Context, tx *storage.Tx, actor Actor, keys *Issuer, n NewKey) (*KeyRow, Secret, error) {
	m, err := keyHolder(ctx, tx, n)
	if err != nil {
		return nil, Secret{}, err
	}
	kind, err := n.Kind.stored()
	if err != nil {
		return nil, Secret{}, err
	}
	secret, err := keys.New(n.Kind)
	if err != nil {
		return nil, Secret{}, err
	}
	if _, err := tx.ExecContext(ctx, revokeKind, n.OrganizationID, n.UserID, kind); err != nil {
		return nil, Secret{}, storage.Wrap(err, "end former keys")
	}
	row, err := storeKey(ctx, tx, n, secret)
	if err != nil {
		return nil, Secret{}, err
	}
	return row, secret, Audit(ctx, tx, Event{OrganizationID: n.OrganizationID, Type: KeyRotated, Actor: actor,
		Subject: m.Label(), Detail: row.audited()})
}

func keyHolder(ctx context.Context, tx *storage.Tx, n NewKey) (*Membership, error) {
	if _, err := n.Kind.stored(); err != nil {
		return nil, err
	}
	if err := CheckDisplayName(n.Name); err != nil {
		return nil, err
	}
	m, err := MemberByID(ctx, tx, n.OrganizationID, n.UserID)
	if err != nil {
		return nil, err
	}
	if m.Role == Tester {
		return nil, &storage.InvalidError{Field: "user", Msg: "is a tester: testers have no key"}
	}
	return m, nil
}

// audited is what the audit log says of a new key.
func (row *KeyRow) audited() map[string]any {
	detail := map[string]any{"key_id": row.ID, "kind": row.Kind, "hint": row.Hint}
	if row.Scopes != nil {
		detail["scopes"] = row.Scopes
	}
	return detail
}

const insertKey = `
insert into api_keys (organization_id, user_id, kind, name, digest, hint, scopes) values ($1, $2, $3, $4, $5, $6, $7)
returning ` + keyColumns

func storeKey(ctx context.Context, tx *storage.Tx, n NewKey, s Secret) (*KeyRow, error) {
	kind, err := n.Kind.stored()
	if err != nil {
		return nil, err
	}
	scopes, err := storedScopes(n.Kind, n.Scopes)
	if err != nil {
		return nil, err
	}
	var row KeyRow
	err = tx.GetContext(ctx, &row, insertKey, n.OrganizationID, n.UserID, kind, n.Name, s.Digest[:], s.Hint, scopes)
	if err != nil {
		return nil, storage.Wrap(err, "store key")
	}
	return &row, nil
}

const revokeKey = `
update api_keys set revoked_at = now()
where organization_id = $1 and id = $2 and revoked_at is null
returning ` + keyColumns

// RevokeKey ends one key at once. ErrNotFound when it has ended before.
func RevokeKey(ctx context.Context, tx *storage.Tx, actor Actor, organizationID, keyID int64) error {
	var row KeyRow
	if err := tx.GetContext(ctx, &row, revokeKey, organizationID, keyID); err != nil {
		return storage.Wrap(err, fmt.Sprintf("key %d", keyID))
	}
	return Audit(ctx, tx, Event{OrganizationID: organizationID, Type: KeyRevoked, Actor: actor,
		Subject: fmt.Sprintf("key %d", keyID),
		Detail:  map[string]any{"user_id": row.UserID, "kind": row.Kind, "hint": row.Hint}})
}

const keysOf = `
select ` + keyColumns + ` from api_keys
where organization_id = $1 and ($2::bigint = 0 or user_id = $2)
order by id desc limit $3 offset $4`

// Keys lists the keys of a user, newest first, ended ones too; of all users of
// the organization with user 0.
func Keys(ctx context.Context, q storage.Querier, organizationID, userID int64, p storage.Page) ([]KeyRow, error) {
	list := []KeyRow{}
	err := q.SelectContext(ctx, &list, keysOf, organizationID, userID, p.RowLimit(), p.RowOffset())
	return list, storage.Wrap(err, "list keys")
}

// LeakedKey is a key that was found where everybody can read it.
type LeakedKey struct {
	KeyRow
	// Recipients get the mail: the key's owner, or the organization's owners
	// when it belongs to a service account.
	Recipients []string
}

const revokeLeaked = `
update api_keys set revoked_at = now() where digest = $1 and revoked_at is null
returning ` + keyColumns

const leakRecipients = `
select u.email from memberships m join users u on u.id = m.user_id
where m.organization_id = $1 and u.email is not null and m.blocked_at is null
	and (u.id = $2 or m.role = 'owner' and exists (select from users k where k.id = $2 and k.kind = 'service'))
order by u.id limit 20`

// RevokeLeaked ends a key that an SDK of an app was configured with by mistake:
// everybody who has the app has the key. ErrNotFound when there is no such key or
// it has ended. where says in words where it was found.
func RevokeLeaked(ctx context.Context, tx *storage.Tx, actor Actor, digest Digest, where string) (*LeakedKey, error) {
	var k LeakedKey
	if err := tx.GetContext(ctx, &k.KeyRow, revokeLeaked, digest[:]); err != nil {
		return nil, storage.Wrap(err, "revoke leaked key")
	}
	if err := tx.SelectContext(ctx, &k.Recipients, leakRecipients, k.OrganizationID, k.UserID); err != nil {
		return nil, storage.Wrap(err, "owners of a leaked key")
	}
	return &k, Audit(ctx, tx, Event{OrganizationID: k.OrganizationID, Type: KeyRevoked, Actor: actor,
		Subject: fmt.Sprintf("key %d", k.ID),
		Detail:  map[string]any{"user_id": k.UserID, "kind": k.Kind, "hint": k.Hint, "found": where}})
}
