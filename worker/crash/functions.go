package crash

import (
	"context"
	"time"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/worker"
)

// Functions is the handler of crash:functions. It makes groups that are older than the search
// for functions found by those of their newest report. A part of them is one transaction that
// checks the claim; after a kill the next attempt continues with those that are left. There is
// nothing to do, and no task, once all are found.
type Functions struct {
	store *crash.Store
	now   func() time.Time
}

// NewFunctions returns the handler.
func NewFunctions(store *crash.Store) *Functions { return &Functions{store: store, now: time.Now} }

// FunctionsResult is the task's result.
type FunctionsResult struct {
	Groups int `json:"groups"` // that were looked at
}

const (
	// functionsPart of groups are written together: each lies in a batch that must be inflated.
	functionsPart = 50
	// functionsTime bounds one task; the next one continues.
	functionsTime = 10 * time.Minute
)

// Pending implements worker.Prober.
func (f *Functions) Pending(ctx context.Context) (bool, error) {
	return crash.HasUnreadFunctions(ctx, f.store.DB())
}

// Handle reads functions until all groups have theirs, or its time is over.
func (f *Functions) Handle(ctx context.Context, claim *worker.Claim) error {
	var sum FunctionsResult
	if err := claim.ReadProgress(&sum); err != nil {
		return err
	}
	for until := f.now().Add(functionsTime); f.now().Before(until); {
		groups, err := crash.UnreadFunctions(ctx, f.store.DB(), functionsPart)
		if err != nil {
			return err
		}
		if len(groups) == 0 {
			break
		}
		functions, err := f.store.ReadFunctions(ctx, groups)
		if err != nil {
			return err
		}
		err = claim.Checkpoint(ctx, func(tx *storage.Tx) error {
			if err := crash.WriteFunctions(ctx, tx, groups, functions); err != nil {
				return err
			}
			sum.Groups += len(groups)
			return claim.SaveProgress(ctx, tx, sum)
		})
		if err != nil {
			return err
		}
	}
	return claim.Finish(ctx, sum, nil)
}
