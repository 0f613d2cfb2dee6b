package worker

import (
	"context"
	"strings"

	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/tasks"
)

// The asynq scheduler cannot write ledger rows, so what it fires is a wish: an
// asynq task without a row, whose worker makes the row. A wish that Redis loses
// is followed by the next one.

// upkeepWish gives the kind that a wish asks for.
func upkeepWish(typename string) (tasks.Kind, bool) {
	name, ok := strings.CutPrefix(typename, tasks.WishPrefix)
	if !ok {
		return tasks.Kind{}, false
	}
	k, ok := tasks.Kinds()[name]
	return k, ok
}

func (w *Worker) askUpkeep(ctx context.Context, kind tasks.Kind) {
	// Schedulers wish at their start too, or an installation that restarts often
	// would never come to its rarest upkeep.
	recent, err := w.cfg.Ledger.MadeWithin(ctx, kind.Name, kind.Every/2)
	if err != nil || recent {
		if err != nil {
			w.cfg.Log.WarnContext(ctx, "upkeep task not made", "kind", kind.Name, "error", err)
		}
		return
	}
	made, err := ledger.Insert(ctx, w.cfg.Ledger.DB(), tasks.NewUpkeep(kind))
	if err != nil {
		w.cfg.Log.WarnContext(ctx, "upkeep task not made", "kind", kind.Name, "error", err)
		return
	}
	w.cfg.Log.DebugContext(ctx, "upkeep asked for", "kind", kind.Name, "made", made)
}
