package maintenance

import (
	"context"
	"log/slog"
	"time"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/quota"
	"github.com/slipway-qa/slipway/worker"
)

// recountAge is how often what organizations use is compared with what is stored: that
// reads every row of it, and finds nothing as long as the program is right.
const recountAge = 24 * time.Hour

// Quotas is the handler of quota:maintenance.
type Quotas struct {
	DB  *storage.DB
	Log *slog.Logger
}

// QuotaResult is the task's result.
type QuotaResult struct {
	Recounted bool `json:"recounted"`
	Differed  int  `json:"differed"` // sums that were not what is stored
}

// Handle compacts the sums, and recounts them once a day.
func (h *Quotas) Handle(ctx context.Context, claim *worker.Claim) error {
	if err := quota.Compact(ctx, h.DB); err != nil {
		return err
	}
	var result QuotaResult
	var err error
	if result.Differed, result.Recounted, err = quota.Recount(ctx, h.DB, recountAge); err != nil {
		return err
	}
	if result.Differed > 0 {
		h.Log.WarnContext(ctx, "what organizations use was not what is stored: corrected", "sums", result.Differed)
	}
	return claim.Finish(ctx, result, nil)
}
