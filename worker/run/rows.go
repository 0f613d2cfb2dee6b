package run

import (
	"context"
	"errors"
	"log/slog"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/storage/login"
	store "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker"
)

// RowsHandler is the handler of run:rows: it inserts the further jobs of a run of many data
// rows, with their tasks. It does so in steps, each of which finds by what is there where
// the last one ended; so the first jobs run while others are still being inserted, and a
// worker that takes over goes on.
type RowsHandler struct{ Log *slog.Logger }

// rowsStep jobs are made by one transaction, which takes about a tenth of a second.
const rowsStep = 250

// Handle inserts the jobs.
func (h *RowsHandler) Handle(ctx context.Context, claim *worker.Claim) error {
	task := claim.Tasks[0]
	payload, err := worker.Payload[tasks.RunRowsPayload](task)
	if err != nil {
		return err
	}
	var sum SuiteResult
	for more := true; more && err == nil; {
		err = claim.Checkpoint(ctx, func(tx *storage.Tx) error {
			jobs, left, err := store.FanOutRows(ctx, tx, payload.RunID, rowsStep)
			if err != nil {
				return err
			}
			held, err := login.HoldsRun(ctx, tx, payload.RunID)
			if err != nil {
				return err
			}
			// They are behind the first ones, which the start of the run has made.
			if _, err := ledger.InsertAll(ctx, tx, hold(jobTasks(claim, jobs, firstJobs), held)); err != nil {
				return err
			}
			sum.Jobs, more = sum.Jobs+len(jobs), left
			return nil
		})
	}
	switch {
	case err == nil:
		return claim.Finish(ctx, sum, nil)
	case errors.Is(err, storage.ErrStale), ctx.Err() != nil:
		return err
	case errors.Is(err, storage.ErrConflict): // cancelled
		return claim.Finish(ctx, sum, nil)
	case errors.Is(err, storage.ErrNotFound), storage.IsData(err), task.Attempt >= task.MaxAttempts:
		h.Log.ErrorContext(ctx, "jobs of data rows given up", "run_id", payload.RunID, "error", err)
		return claim.Finish(ctx, sum, func(tx *storage.Tx) error {
			return store.FailFanOut(ctx, tx, payload.RunID, "the jobs of further data rows could not be started")
		})
	}
	return err
}
