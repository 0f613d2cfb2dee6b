package account

import (
	"context"
	"fmt"
	"time"

	"github.com/slipway-qa/slipway/storage"
)

// BearerLife is how long a Bearer token is good (distribution document, part 8).
const BearerLife = time.Hour

const insertBearer = `
insert into bearer_tokens (digest, organization_id, user_id, expires_at) values ($1, $2, $3, $4)`

// IssueBearer creates a member's Bearer token. It is opaque, and ends with its time
// or the membership, not with the key that it was exchanged for.
func IssueBearer(ctx context.Context, q storage.Querier, keys *Issuer, organizationID, userID int64, now time.Time) (Secret,
	time.Time, error) {
	secret, err := keys.New(KindBearer)
	if err != nil {
		return Secret{}, time.Time{}, err
	}
	expires := now.Add(BearerLife).UTC()
	_, err = q.ExecContext(ctx, insertBearer, secret.Digest[:], organizationID, userID, expires)
	return secret, expires, storage.Wrap(err, "issue bearer token")
}

const identityByBearer = `
select 0 as key_id, b.digest, b.organization_id, o.uuid as organization_uuid, o.slug,
	u.id as user_id, u.uuid as user_uuid, u.kind, coalesce(u.email, '') as email, u.username,
	m.role, m.blocked_at is not null as blocked, false as stale,
	` + oidcOnly + `,
	tt.ids, tt.uuids, tt.admins
from bearer_tokens b
join organizations o on o.id = b.organization_id
join users u on u.id = b.user_id
join memberships m on m.organization_id = b.organization_id and m.user_id = b.user_id
` + joinTeams + `
where b.digest = $1 and b.expires_at > $2`

// IdentityByBearer finds who a Bearer token stands for; ErrNotFound when there is
// no such token or it has ended.
func IdentityByBearer(ctx context.Context, q storage.Querier, digest Digest, now time.Time) (*Identity, error) {
	var row identityRow
	if err := q.GetContext(ctx, &row, identityByBearer, digest[:], now); err != nil {
		return nil, storage.Wrap(err, "identity of a bearer token")
	}
	if !digest.Equal(row.Digest) {
		return nil, fmt.Errorf("identity of a bearer token: %w", storage.ErrNotFound)
	}
	return row.identity()
}

const forgetBearers = `
delete from bearer_tokens where digest in (
	select digest from bearer_tokens where expires_at < $1 order by expires_at limit $2)`

// ForgetBearers deletes tokens that ended before, at most limit of them.
func ForgetBearers(ctx context.Context, q storage.Querier, before time.Time, limit int) (int64, error) {
	r, err := q.ExecContext(ctx, forgetBearers, before, limit)
	if err != nil {
		return 0, storage.Wrap(err, "forget bearer tokens")
	}
	return r.RowsAffected()
}
