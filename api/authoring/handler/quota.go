package handler

import (
	"context"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/quota"
)

// Count starts runs in a transaction, and counts as many as start returns against the
// organization's day: *quota.ExceededError when there is no room for them, and nothing is
// started.
func (h *Base) Count(ctx context.Context, organization int64, start func(tx *storage.Tx) (runs int, err error)) error {
	return h.DB.InTx(ctx, func(tx *storage.Tx) error {
		day, err := h.Quotas.Begin(ctx, tx, quota.RunsPerDay, organization)
		if err != nil {
			return err
		}
		runs, err := start(tx)
		if err != nil {
			return err
		}
		if err := day.Take(organization, int64(runs)); err != nil {
			return err
		}
		return day.Store(ctx, tx)
	})
}
