package tester

import (
	"context"
	"fmt"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// A token ends with the block for good; sessions stay, for the pages show a blocked
// tester why nothing can be installed.
const (
	blockTester   = `update memberships set blocked_at = now() where organization_id = $1 and id = $2`
	unblockTester = `update memberships set blocked_at = null where organization_id = $1 and id = $2`
	endTokens     = `delete from bearer_tokens where organization_id = $1 and user_id = $2`
)

// Block closes every door to a tester until Unblock, and keeps all data. To block who
// is blocked changes nothing and writes no audit entry.
func Block(ctx context.Context, tx *storage.Tx, actor account.Actor, organizationID, id int64) error {
	t, err := locked(ctx, tx, organizationID, id)
	if err != nil || t.Blocked() {
		return err
	}
	if _, err := tx.ExecContext(ctx, endTokens, organizationID, t.UserID); err != nil {
		return storage.Wrap(err, "end bearer tokens")
	}
	return t.set(ctx, tx, actor, organizationID, blockTester, account.TesterBlocked)
}

// Unblock lets a blocked tester in again: with the groups, sessions and invitations of
// before. To unblock who is not blocked changes nothing and writes no audit entry.
func Unblock(ctx context.Context, tx *storage.Tx, actor account.Actor, organizationID, id int64) error {
	t, err := locked(ctx, tx, organizationID, id)
	if err != nil || !t.Blocked() {
		return err
	}
	return t.set(ctx, tx, actor, organizationID, unblockTester, account.TesterUnblocked)
}

func (t *Tester) set(ctx context.Context, tx *storage.Tx, actor account.Actor, organizationID int64, statement string,
	what account.AuditType) error {
	if _, err := tx.ExecContext(ctx, statement, organizationID, t.ID); err != nil {
		return storage.Wrap(err, fmt.Sprintf("block or unblock tester %d", t.ID))
	}
	return account.Audit(ctx, tx, account.Event{OrganizationID: organizationID, Type: what, Actor: actor,
		Subject: t.Email, Detail: map[string]any{"id": t.ID, "user_id": t.UserID, "email": t.Email}})
}
