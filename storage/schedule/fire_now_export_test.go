package schedule

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
)

// RecordFire writes a fire by hand that was meant for a time, and gives the time that
// it got.
func RecordFire(ctx context.Context, tx *storage.Tx, org int64, schedule uuid.UUID, at time.Time) (time.Time, error) {
	f := &firing{ID: schedule, OrganizationID: org}
	f.fired = f.fire(at, TriggerManual, FireSkipped, "")
	err := f.record(ctx, tx)
	return f.fired.At, err
}
