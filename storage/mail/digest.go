package mail

import (
	"context"
	"time"

	"github.com/slipway-qa/slipway/storage"
)

// DueDigest is an organization whose digest is due. Its row is locked until the
// transaction ends.
type DueDigest struct {
	OrganizationID int64     `db:"organization_id"`
	Due            time.Time `db:"digest_due"`
	Settings
}

// nextDigest reads mail_settings_digest.
const nextDigest = `
select organization_id, digest_due, sender_name, reply_to, rate_per_minute, digest_enabled, digest_weekday, digest_hour, digest_recipients
from mail_settings where digest_due <= $1 order by digest_due limit 1 for update skip locked`

// ClaimDigest locks the organization whose digest is due the longest; ErrNotFound when
// none is. The caller writes its mail and calls NextDigestAt in the same transaction.
func ClaimDigest(ctx context.Context, tx *storage.Tx, now time.Time) (*DueDigest, error) {
	var d DueDigest
	if err := tx.GetContext(ctx, &d, nextDigest, now); err != nil {
		return nil, storage.Wrap(err, "digest that is due")
	}
	return &d, nil
}

// NextDigestAt sets when the next digest is due.
func NextDigestAt(ctx context.Context, tx *storage.Tx, organizationID int64, at time.Time) error {
	_, err := tx.ExecContext(ctx, `update mail_settings set digest_due = $2 where organization_id = $1`, organizationID, at)
	return storage.Wrap(err, "next digest")
}

const admins = `
select u.id as user_id, u.email from memberships m join users u on u.id = m.user_id
where m.organization_id = $1 and m.role in ('owner', 'admin') and m.blocked_at is null and u.email is not null
order by u.id limit 1000`

// Admins returns the owners and admins of an organization with a mail address.
func Admins(ctx context.Context, q storage.Querier, organizationID int64) ([]Person, error) {
	var list []Person
	return list, storage.Wrap(q.SelectContext(ctx, &list, admins, organizationID), "admins of the organization")
}
