package run

import (
	"context"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/ledger"
	store "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker"
)

// DeadlineHandler is the handler of suite:deadline: it ends a suite run whose maximum time is over.
// Tests that run are cancelled as by a person: their workers learn it with the next heartbeat.
type DeadlineHandler struct{}

// DeadlineResult is the task's result.
type DeadlineResult struct {
	Ended int `json:"ended"` // jobs, and the suite run
}

// Handle ends the suite run. One that has ended before is left as it is.
func (h *DeadlineHandler) Handle(ctx context.Context, claim *worker.Claim) error {
	payload, err := worker.Payload[tasks.SuiteRunPayload](claim.Tasks[0])
	if err != nil {
		return err
	}
	var sum DeadlineResult
	err = claim.Checkpoint(ctx, func(tx *storage.Tx) error {
		open, err := store.Expire(ctx, tx, payload.SuiteRunID)
		if err != nil {
			return err
		}
		sum.Ended = len(open)
		_, err = ledger.CancelAll(ctx, tx, ledger.Scope{OrganizationID: claim.OrganizationID()}, open)
		return err
	})
	if err != nil {
		return err
	}
	return claim.Finish(ctx, sum, nil)
}
