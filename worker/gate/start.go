package gate

import (
	"context"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/gate"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/storage/quota"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker"
)

// Start is the handler of gate:start. The task's result is a StartResult.
type Start struct {
	Quotas *quota.Quotas // nil: nothing bounds the runs of a day
	// Vendor names the options of targets that name a tunnel.
	Vendor string
}

// StartResult is what became of the suites.
type StartResult struct {
	Started int `json:"started"`
}

// Handle starts the suites.
func (h *Start) Handle(ctx context.Context, claim *worker.Claim) error {
	task := claim.Tasks[0]
	payload, err := worker.Payload[tasks.BuildPayload](task)
	if err != nil {
		return err
	}
	var result StartResult
	return claim.FinishAfter(ctx, &result, func(tx *storage.Tx) (effects func() error, err error) {
		runs, err := gate.StartSuites(ctx, tx, h.Quotas, claim.OrganizationID(), payload.BuildID, h.Vendor, task.RequestID)
		if err != nil {
			return nil, err
		}
		var list []*ledger.NewTask
		for _, r := range runs {
			list = append(list, tasks.NewSuiteRun(claim.OrganizationID(), task.RequestID, r.RunID))
		}
		result.Started = len(list)
		return func() error {
			_, err := ledger.InsertAll(ctx, tx, list)
			return err
		}, nil
	})
}
