// Package quarantine stores which cases do not fail their suites for some time, and proposes it
// for those that fail and pass at random.
//
// A case in quarantine runs and shows its result. A run of it keeps the quarantine that there was
// when the run was made: one that begins or ends later changes nothing of it, and the run of the
// suite does not fail by it. A quarantine ends by itself; a person may end it before. Nothing
// puts a case there but a person: Propose only says that it may be time to.
package quarantine

import (
	"context"
	"fmt"
	"time"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/authoring"
)

const (
	// maxReason bounds the reason, in characters.
	maxReason = 500
	// MaxDays is how long a quarantine lasts at most: what nobody mends in a quarter of a year is
	// no test.
	MaxDays = 90
)

const put = `
insert into test_quarantines (case_id, organization_id, reason, until, user_uuid) values ($1, $2, $3, $4, $5)
on conflict (case_id) do update set reason = excluded.reason, until = excluded.until, user_uuid = excluded.user_uuid,
	created_at = case when test_quarantines.until > now() then test_quarantines.created_at else now() end`

// Put puts a case into quarantine until a time, or changes the one that it is in.
// *storage.InvalidError for the reason and the time, ErrNotFound, authoring.ErrForbidden.
func Put(ctx context.Context, tx *storage.Tx, w account.Writer, caseID, reason string, until time.Time) error {
	reason, err := storage.Name("reason", reason, maxReason)
	if err != nil {
		return err
	}
	c, err := authoring.LockCase(ctx, tx, w, caseID, "key share")
	if err != nil {
		return err
	}
	var now time.Time
	if err := tx.GetContext(ctx, &now, `select now()`); err != nil {
		return storage.Wrap(err, "time of the database")
	}
	if !until.After(now) || until.After(now.AddDate(0, 0, MaxDays)) {
		return storage.Invalid("until", "must be in the future, and at most %d days from now", MaxDays)
	}
	if _, err := tx.ExecContext(ctx, put, c.ID, w.OrganizationID, reason, until, w.UserUUID); err != nil {
		return storage.Wrap(err, "put test case "+c.ID+" into quarantine")
	}
	return account.Audit(ctx, tx, account.Event{OrganizationID: w.OrganizationID, Type: account.TestCaseQuarantined,
		Actor: w.Actor, Subject: "test case " + c.ID, Detail: map[string]any{"name": c.Name, "reason": reason, "until": until.UTC()}})
}

// End ends the quarantine of a case. ErrConflict when it is in none.
func End(ctx context.Context, tx *storage.Tx, w account.Writer, caseID string) error {
	c, err := authoring.LockCase(ctx, tx, w, caseID, "key share")
	if err != nil {
		return err
	}
	n, err := storage.Affected(tx.ExecContext(ctx, `delete from test_quarantines where case_id = $1 and until > now()`, c.ID))
	switch {
	case err != nil:
		return storage.Wrap(err, "end the quarantine of test case "+c.ID)
	case n == 0:
		return fmt.Errorf("test case %s is in no quarantine: %w", c.ID, storage.ErrConflict)
	}
	return account.Audit(ctx, tx, account.Event{OrganizationID: w.OrganizationID, Type: account.TestCaseQuarantineEnded,
		Actor: w.Actor, Subject: "test case " + c.ID, Detail: map[string]any{"name": c.Name}})
}
