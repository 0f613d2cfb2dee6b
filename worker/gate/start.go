package gate

import (
	"context"
	"errors"
	"time"

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

// Handle starts the suites. When the last attempt fails, the gate says that none was started.
func (h *Start) Handle(ctx context.Context, claim *worker.Claim) error {
	task := claim.Tasks[0]
	payload, err := worker.Payload[tasks.BuildPayload](task)
	if err != nil {
		return err
	}
	err = h.start(ctx, claim, payload.BuildID)
	if err == nil || errors.Is(err, storage.ErrStale) || !storage.IsData(err) && task.Attempt < task.MaxAttempts {
		return err
	}
	// Whoever waits for the gate is told; a worker that is killed here tells nobody.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteTime)
	defer cancel()
	noted := claim.Checkpoint(ctx, func(tx *storage.Tx) error {
		return gate.NoteStartFailed(ctx, tx, claim.OrganizationID(), payload.BuildID)
	})
	return errors.Join(err, noted)
}

// noteTime bounds the note that nothing was started.
const noteTime = 5 * time.Second

func (h *Start) start(ctx context.Context, claim *worker.Claim, buildID int64) error {
	task := claim.Tasks[0]
	var result StartResult
	return claim.FinishAfter(ctx, &result, func(tx *storage.Tx) (effects func() error, err error) {
		runs, err := gate.StartSuites(ctx, tx, h.Quotas, claim.OrganizationID(), buildID, h.Vendor, task.RequestID)
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
