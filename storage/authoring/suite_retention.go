package authoring

import (
	"context"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
)

const (
	// MaxRunDays and MaxRunsKept bound how long runs are kept, and how many: each round of
	// retention looks behind so many runs of a test.
	MaxRunDays  = 3650
	MaxRunsKept = 10_000
)

// RunRetention is how long the runs of tests are kept; nil leaves it to the next wider.
type RunRetention struct {
	Days *int `db:"run_retention_days" json:"days"` // after which a run goes
	Runs *int `db:"run_retention_runs" json:"runs"` // the newest ones that stay, of each test
}

// CheckRunRetention refuses numbers that are out of bounds, by the field that has them.
func CheckRunRetention(r RunRetention, daysField, runsField string) error {
	if r.Days != nil && (*r.Days < 1 || *r.Days > MaxRunDays) {
		return storage.Invalid(daysField, "must be a whole number from 1 to %d, or null", MaxRunDays)
	}
	if r.Runs != nil && (*r.Runs < 1 || *r.Runs > MaxRunsKept) {
		return storage.Invalid(runsField, "must be a whole number from 1 to %d, or null", MaxRunsKept)
	}
	return nil
}

const updateRetention = `
update test_suites set run_retention_days = $2, run_retention_runs = $3
where id = $1 and (run_retention_days, run_retention_runs) is distinct from ($2::integer, $3::integer)`

// changeRetention stores how long the runs of a suite are kept, and reports whether that is
// another; nil changes nothing.
func changeRetention(ctx context.Context, tx *storage.Tx, id uuid.UUID, r *RunRetention) (bool, error) {
	if r == nil {
		return false, nil
	}
	if err := CheckRunRetention(*r, "runRetention.days", "runRetention.runs"); err != nil {
		return false, err
	}
	n, err := storage.Affected(tx.ExecContext(ctx, updateRetention, id, r.Days, r.Runs))
	return n > 0, storage.Wrap(err, "retention of the runs of suite "+id.String())
}
