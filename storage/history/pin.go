package history

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/run"
)

// MaxPins is how many runs of an organization may be pinned: what is pinned is kept for ever.
const MaxPins = 1000

// ErrTooManyPins means that the organization has no pin left.
var ErrTooManyPins = fmt.Errorf("at most %d runs can be pinned", MaxPins)

// subject is what a pin is of.
type subject struct {
	table, of, parent string // of: the column of the case or suite; parent: of the suite run
	pinned, unpinned  account.AuditType
	words             string
}

func ofCase() subject {
	return subject{"test_runs", "case_id", "suite_run_id", account.TestRunPinned, account.TestRunUnpinned, "test run "}
}

func ofSuite() subject {
	return subject{"suite_runs", "suite_id", "null::uuid", account.TestSuiteRunPinned, account.TestSuiteRunUnpinned, "suite run "}
}

// PinCaseRun pins a run of a case, in whatever state; one that is pinned stays as it is. The run
// of its suite stays with it. ErrNotFound, authoring.ErrForbidden, ErrTooManyPins.
func PinCaseRun(ctx context.Context, tx *storage.Tx, w account.Writer, caseID string, id uuid.UUID) (*run.Pin, error) {
	return pin(ctx, tx, w, ofCase(), storage.WithoutNUL(caseID), id)
}

// PinSuiteRun pins a run of a suite with all that belongs to it.
func PinSuiteRun(ctx context.Context, tx *storage.Tx, w account.Writer, suiteID, id uuid.UUID) (*run.Pin, error) {
	return pin(ctx, tx, w, ofSuite(), suiteID, id)
}

// UnpinCaseRun leaves a run to retention. ErrConflict when it is not pinned.
func UnpinCaseRun(ctx context.Context, tx *storage.Tx, w account.Writer, caseID string, id uuid.UUID) error {
	return unpin(ctx, tx, w, ofCase(), storage.WithoutNUL(caseID), id)
}

// UnpinSuiteRun does so for a run of a suite.
func UnpinSuiteRun(ctx context.Context, tx *storage.Tx, w account.Writer, suiteID, id uuid.UUID) error {
	return unpin(ctx, tx, w, ofSuite(), suiteID, id)
}

// lockRun locks a run, and the run of its suite before it.
func lockRun(ctx context.Context, tx *storage.Tx, w account.Writer, s subject, of any, id uuid.UUID) (pinnedAt *time.Time, err error) {
	query := `select r.team_id, r.pinned_at, ` + s.parent + ` as parent from ` + s.table + ` r
		where r.organization_id = $1 and r.` + s.of + ` = $2 and r.id = $3`
	var row struct {
		TeamID   int64      `db:"team_id"`
		PinnedAt *time.Time `db:"pinned_at"`
		Parent   *uuid.UUID `db:"parent"`
	}
	if err := tx.GetContext(ctx, &row, query, w.OrganizationID, of, id); err != nil {
		return nil, storage.Wrap(err, s.words+id.String())
	}
	if row.Parent != nil {
		var locked []uuid.UUID
		err := tx.SelectContext(ctx, &locked, `select id from suite_runs where id = $1 for no key update`, *row.Parent)
		if err != nil {
			return nil, storage.Wrap(err, "lock suite run "+row.Parent.String())
		}
	}
	if err := tx.GetContext(ctx, &row, query+` for no key update`, w.OrganizationID, of, id); err != nil {
		return nil, storage.Wrap(err, s.words+id.String())
	}
	if !w.May(row.TeamID) {
		return nil, authoring.ErrForbidden
	}
	return row.PinnedAt, nil
}

const countPins = `
select (select count(*) from test_runs where organization_id = $1 and pinned_at is not null)
	+ (select count(*) from suite_runs where organization_id = $1 and pinned_at is not null)`

func pin(ctx context.Context, tx *storage.Tx, w account.Writer, s subject, of any, id uuid.UUID) (*run.Pin, error) {
	before, err := lockRun(ctx, tx, w, s, of, id)
	if err != nil {
		return nil, err
	}
	if before == nil {
		var n int
		if err := tx.GetContext(ctx, &n, countPins, w.OrganizationID); err != nil {
			return nil, storage.Wrap(err, "count pinned runs")
		}
		if n >= MaxPins {
			return nil, ErrTooManyPins
		}
		_, err := tx.ExecContext(ctx, `update `+s.table+` set pinned_at = now(), pinned_by = $2 where id = $1`, id, w.UserUUID)
		if err != nil {
			return nil, storage.Wrap(err, "pin "+s.words+id.String())
		}
		if err := audit(ctx, tx, w, s.pinned, s, id); err != nil {
			return nil, err
		}
	}
	var row struct {
		At   *time.Time `db:"pinned_at"`
		By   *uuid.UUID `db:"pinned_by"`
		Name *string    `db:"name"`
	}
	err = tx.GetContext(ctx, &row, `select r.pinned_at, r.pinned_by, u.name from `+s.table+
		` r left join users u on u.uuid = r.pinned_by where r.id = $1`, id)
	return run.PinOf(row.At, row.By, row.Name), storage.Wrap(err, s.words+id.String())
}

func unpin(ctx context.Context, tx *storage.Tx, w account.Writer, s subject, of any, id uuid.UUID) error {
	before, err := lockRun(ctx, tx, w, s, of, id)
	if err != nil {
		return err
	}
	if before == nil {
		return fmt.Errorf("%s%s is not pinned: %w", s.words, id, storage.ErrConflict)
	}
	_, err = tx.ExecContext(ctx, `update `+s.table+` set pinned_at = null, pinned_by = null where id = $1`, id)
	return errors.Join(storage.Wrap(err, "unpin "+s.words+id.String()), audit(ctx, tx, w, s.unpinned, s, id))
}

func audit(ctx context.Context, tx *storage.Tx, w account.Writer, what account.AuditType, s subject, id uuid.UUID) error {
	return account.Audit(ctx, tx, account.Event{OrganizationID: w.OrganizationID, Type: what, Actor: w.Actor, Subject: s.words + id.String()})
}
