package ledger

import (
	"context"

	"github.com/slipway-qa/slipway/storage"
)

// LastSucceededQuery lets a test ask for the plan.
const LastSucceededQuery = lastSucceeded

// CountEndedBy counts at most so many tasks, but for those that ended at one instant.
func (s *Store) CountEndedBy(ctx context.Context, step int) (more bool, err error) {
	return s.countEnded(ctx, step)
}

// Where lets a test ask for the plan of a list.
func (f Filter) Where() (string, []any) { return f.where() }

// Statements of the sums let a test ask for their plans.
const (
	HoursEndQuery   = hoursEnd
	CountHoursQuery = countHours
	PastQuery       = past
)

// RewriteGivenUpBy is RewriteGivenUp with a size of its pages.
func RewriteGivenUpBy(ctx context.Context, tx *storage.Tx, organization int64, page int, rewrites ...Rewrite) (int, error) {
	return rewriteGivenUp(ctx, tx, organization, page, rewrites)
}
