package webhook

import (
	"context"
	"errors"
	"time"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/webhook"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker"
)

// step is how many rows a statement of the maintenance and of a replay changes.
const step = 1000

// Maintenance is the handler of webhook:maintenance.
type Maintenance struct {
	DB   *storage.DB
	Keep time.Duration // how long deliveries are kept
	Now  func() time.Time
}

// NewMaintenance returns the handler.
func NewMaintenance(db *storage.DB, keep time.Duration) (*Maintenance, error) {
	if keep < webhook.Lifetime {
		return nil, errors.New("webhook maintenance: deliveries are kept for a day at least")
	}
	return &Maintenance{DB: db, Keep: keep, Now: time.Now}, nil
}

// MaintenanceResult is the task's result.
type MaintenanceResult struct {
	Expired int64 `json:"expired"` // deliveries whose time was over
	Deleted int64 `json:"deleted"` // deliveries
	Secrets int64 `json:"secrets"` // former ones that ended
}

// Handle ends and deletes what is over, and inserts tasks that were lost by hand.
func (h *Maintenance) Handle(ctx context.Context, claim *worker.Claim) error {
	now := h.Now()
	var sum MaintenanceResult
	var err error
	sum.Expired, err = inSteps(func() (int64, error) { return webhook.ExpireDeliveries(ctx, h.DB, now, step) })
	if err != nil {
		return err
	}
	sum.Deleted, err = inSteps(func() (int64, error) { return webhook.ForgetDeliveries(ctx, h.DB, now.Add(-h.Keep), step) })
	if err != nil {
		return err
	}
	if sum.Secrets, err = webhook.EndFormerSecrets(ctx, h.DB, now); err != nil {
		return err
	}
	for last, more := int64(0), true; more; {
		err := h.DB.InTx(ctx, func(tx *storage.Tx) (err error) {
			last, err = webhook.InsertMissingTasks(ctx, tx, last, step)
			return err
		})
		if err != nil {
			return err
		}
		more = last > 0
	}
	return claim.Finish(ctx, sum, nil)
}

// inSteps repeats a statement until it changes less than a step, and returns the sum.
func inSteps(change func() (int64, error)) (sum int64, err error) {
	for {
		n, err := change()
		if sum += n; err != nil || n < step {
			return sum, err
		}
	}
}

// Replay is the handler of webhook:replay.
type Replay struct{ DB *storage.DB }

// ReplayResult is the task's result.
type ReplayResult struct {
	Deliveries int64 `json:"deliveries"` // that are due again
}

// Handle makes the failed deliveries of a range due again, in steps. An attempt that was
// killed leaves the rest to the next one: what is due again has not failed.
func (h *Replay) Handle(ctx context.Context, claim *worker.Claim) error {
	p, err := worker.Payload[tasks.WebhookReplayPayload](claim.Tasks[0])
	if err != nil {
		return err
	}
	var sum ReplayResult
	if err := claim.ReadProgress(&sum); err != nil {
		return err
	}
	// The task that runs meanwhile lets deliveries fail again: each is replayed once.
	end := claim.Tasks[0].CreatedAt
	for {
		var n int64
		err := claim.Checkpoint(ctx, func(tx *storage.Tx) (err error) {
			n, err = webhook.ReplayFailed(ctx, tx, claim.OrganizationID(), webhook.Range{WebhookID: p.WebhookID,
				From: p.From, To: p.To, EndedBefore: end}, step)
			if err != nil {
				return err
			}
			sum.Deliveries += n
			return claim.SaveProgress(ctx, tx, sum)
		})
		if errors.Is(err, storage.ErrNotFound) || errors.Is(err, webhook.ErrSuspended) {
			return tasks.Permanent(&tasks.PublicError{Text: "the webhook is gone or suspended", Err: err})
		}
		if err != nil {
			return err
		}
		if n < step {
			return claim.Finish(ctx, sum, nil)
		}
	}
}
