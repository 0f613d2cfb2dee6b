// Package maintenance keeps the installation small: it deletes tasks that ended long
// ago and stored objects that nothing names.
//
// The scheduler triggers a round of each again and again, and one round of a
// kind is open at a time. A round works in steps of bounded size; one that is
// killed or runs out of time costs nothing but the rest of it, for the next
// round begins anew. Deleting is idempotent, so that no step needs more than
// the statement that does it.
//
// Nothing that may still be needed is deleted: ended tasks are kept as long as
// their kind says and those whose work was not done longer, and an object only
// goes when it is a day old, which is longer than any request that may be
// about to name it.
package maintenance

import (
	"context"
	"errors"
	"time"

	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker"
)

// LedgerRetention is the handler of ledger:retention.
type LedgerRetention struct {
	Ledger *ledger.Store
	Keep   ledger.Keep
}

// LedgerResult is the task's result.
type LedgerResult struct {
	Deleted int64 `json:"deleted"`
}

// Defaults of the settings.
const (
	DefaultKeepSucceeded = 7 * 24 * time.Hour
	DefaultKeepOther     = 90 * 24 * time.Hour
)

// pruneStep tasks are looked at by one statement.
const pruneStep = 5000

// NewLedgerRetention returns the handler. Kinds that say how long their rows are
// kept override succeeded. other is for dead and cancelled tasks; it must not be
// shorter than crash reports are kept, for a report whose task died is only
// found, retried and purged through its task.
func NewLedgerRetention(store *ledger.Store, succeeded, other time.Duration) (*LedgerRetention, error) {
	if succeeded <= 0 || other <= 0 {
		return nil, errors.New("ledger retention: ages must be above zero")
	}
	keep := ledger.Keep{Succeeded: succeeded, Other: other, ByKind: map[string]time.Duration{}}
	for name, kind := range tasks.Kinds() {
		if kind.KeepSucceeded > 0 {
			keep.ByKind[name] = kind.KeepSucceeded
		}
	}
	return &LedgerRetention{Ledger: store, Keep: keep}, nil
}

// Handle counts what has ended into the sums of the hours, and deletes what is old.
func (h *LedgerRetention) Handle(ctx context.Context, claim *worker.Claim) error {
	for more := true; more; {
		var err error
		if more, err = h.Ledger.CountEnded(ctx); err != nil {
			return err
		}
	}
	var sum LedgerResult
	var at ledger.Cursor
	for more := true; more; {
		var n int64
		var err error
		if n, at, more, err = h.Ledger.Prune(ctx, h.Keep, at, pruneStep); err != nil {
			return err
		}
		sum.Deleted += n
	}
	return claim.Finish(ctx, sum, nil)
}
