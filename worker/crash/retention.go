package crash

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/worker"
)

// Retention is the handler of crash:retention: it deletes batches beyond their
// age with their crashes, uuids and attachments, oldest first, and then groups
// that have not been seen for as long and have no crash left. Groups keep their
// counts: they are history. Each step is one transaction that checks the claim;
// after a kill the next round continues.
type Retention struct {
	Store   *crash.Store
	Objects object.Store
	Days    int // at least 1
	Now     func() time.Time
	Log     *slog.Logger
}

// RetentionResult is the task's result.
type RetentionResult struct {
	Batches int   `json:"batches"`
	Crashes int   `json:"crashes"`
	Groups  int64 `json:"groups"`
}

const (
	// expireStep batches have at most 5,120 crashes: about a second.
	expireStep = 20
	groupStep  = 200
)

// NewRetention returns the handler; days must be positive.
func NewRetention(store *crash.Store, objects object.Store, days int, log *slog.Logger) (*Retention, error) {
	if days < 1 {
		return nil, errors.New("crash retention: days must be at least 1")
	}
	return &Retention{Store: store, Objects: objects, Days: days, Now: time.Now, Log: log}, nil
}

// Handle deletes what is older than Days.
func (r *Retention) Handle(ctx context.Context, claim *worker.Claim) error {
	before := r.Now().AddDate(0, 0, -r.Days)
	var sum RetentionResult
	for {
		var step crash.Expired
		err := claim.Checkpoint(ctx, func(tx *storage.Tx) (err error) {
			step, err = r.Store.Expire(ctx, tx, before, expireStep)
			return err
		})
		if err != nil {
			return err
		}
		worker.DeleteObjects(ctx, r.Objects, r.Log, step.Objects)
		sum.Batches, sum.Crashes = sum.Batches+step.Batches, sum.Crashes+step.Crashes
		if step.Batches < expireStep {
			break
		}
	}
	if err := r.groups(ctx, claim, before, &sum); err != nil {
		return err
	}
	return claim.Finish(ctx, sum, nil)
}

func (r *Retention) groups(ctx context.Context, claim *worker.Claim, before time.Time, sum *RetentionResult) error {
	after := int64(0)
	for {
		ids, err := crash.OldGroups(ctx, r.Store.DB(), before, after, groupStep)
		if err != nil || len(ids) == 0 {
			return err
		}
		after = ids[len(ids)-1]
		var n int64
		err = claim.Checkpoint(ctx, func(tx *storage.Tx) (err error) {
			n, err = crash.ExpireGroups(ctx, tx, before, ids)
			return err
		})
		if err != nil {
			return err
		}
		sum.Groups += n
	}
}
