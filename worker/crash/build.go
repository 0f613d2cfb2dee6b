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

// BuildCrashes removes the crashes of deleted builds, as steps of the task that
// deletes the build.
type BuildCrashes struct {
	Store   *crash.Store
	Objects object.Store
	Log     *slog.Logger
}

// RemoveOfBuilds removes every crash of the builds with everything that it added to
// its groups. Each step is one transaction that checks the claim; after a kill in
// between, the next attempt finds what is left.
func (o *BuildCrashes) RemoveOfBuilds(ctx context.Context, claim *worker.Claim, organizationID int64, builds ...int64) error {
	for {
		ids, err := crash.OfBuilds(ctx, o.Store.DB(), organizationID, builds, purgeStep)
		if err != nil || len(ids) == 0 {
			return err
		}
		plan, _, err := o.Store.PlanRemoval(ctx, organizationID, ids)
		if err != nil {
			return err
		}
		var removed crash.Removed
		err = claim.Checkpoint(ctx, func(tx *storage.Tx) (err error) {
			removed, err = o.Store.Remove(ctx, tx, plan)
			return err
		})
		if errors.Is(err, storage.ErrConflict) {
			// A purge rewrote a batch meanwhile: plan again.
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(purgePoll):
			}
			continue
		}
		if err != nil {
			return err
		}
		worker.DeleteObjects(ctx, o.Objects, o.Log, removed.Objects)
	}
}
