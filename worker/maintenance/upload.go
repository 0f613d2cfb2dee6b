package maintenance

import (
	"context"
	"log/slog"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/storage/resumable"
	"github.com/slipway-qa/slipway/worker"
)

// UploadExpiry is the handler of upload:expiry: it deletes uploads in parts whose time is
// over, with the bytes that nothing used.
type UploadExpiry struct {
	DB *storage.DB
	// Objects is the store itself: no backup names what was never used.
	Objects object.Store
	Log     *slog.Logger
}

// UploadExpiryResult is the task's result.
type UploadExpiryResult struct {
	Uploads int `json:"uploads"`
}

// expiryStep rows are deleted by one statement.
const expiryStep = 100

// Handle deletes until none is left. The rows go first: bytes that cannot be deleted are
// found by the sweep.
func (h *UploadExpiry) Handle(ctx context.Context, claim *worker.Claim) error {
	var sum UploadExpiryResult
	for {
		list, err := resumable.Expire(ctx, h.DB, expiryStep)
		if err != nil {
			return err
		}
		for i := range list {
			if err := list[i].Remove(ctx, h.Objects); err != nil {
				h.Log.WarnContext(ctx, "parts of an upload not deleted, the sweep will", "upload", list[i].ID, "error", err)
			}
		}
		sum.Uploads += len(list)
		if len(list) < expiryStep {
			return claim.Finish(ctx, sum, nil)
		}
	}
}
