package worker

import (
	"context"
	"log/slog"

	"github.com/slipway-qa/slipway/storage/object"
)

// DeleteObjects deletes objects that no row names any more, after the commit that
// removed the rows. A failure is not the task's: the sweep comes after it.
func DeleteObjects(ctx context.Context, objects object.Store, log *slog.Logger, keys []string) {
	if len(keys) == 0 {
		return
	}
	if err := objects.Delete(ctx, keys...); err != nil {
		log.WarnContext(ctx, "objects not deleted, the sweep will", "error", err, "objects", len(keys))
	}
}
