package run

import (
	"context"
	"errors"
	"log/slog"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/ledger"
	store "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/seal"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker"
)

// SuiteHandler is the handler of suite:run: it inserts the case runs of a suite run, with
// the tasks of their jobs. It does so in steps, each of which finds by what is
// there where the last one ended; so jobs begin while others are still being
// inserted, and a worker that takes over goes on.
type SuiteHandler struct {
	DB *storage.DB
	// Vendor names the options that effective capabilities are made with.
	Vendor string
	// Keys are what the secrets of environments are sealed with.
	Keys seal.Ring
	Log  *slog.Logger
}

// SuiteResult is the task's result.
type SuiteResult struct {
	Jobs int `json:"jobs"` // made by this attempt
}

// suiteStep case runs are made by one transaction: with a few targets each some
// hundred rows, which take about a tenth of a second.
const suiteStep = 100

// Handle inserts the case runs.
func (h *SuiteHandler) Handle(ctx context.Context, claim *worker.Claim) error {
	task := claim.Tasks[0]
	payload, err := worker.Payload[tasks.SuiteRunPayload](task)
	if err != nil {
		return err
	}
	var sum SuiteResult
	err = claim.Checkpoint(ctx, func(tx *storage.Tx) error {
		return store.EnterNamed(ctx, tx, h.Keys, payload.SuiteRunID, h.Vendor)
	})
	for more := true; more && err == nil; {
		var n int
		n, more, err = h.step(ctx, claim, payload, sum.Jobs)
		sum.Jobs += n
	}
	var tooMany *store.TooManyJobsError
	var invalid *storage.InvalidError
	switch {
	case err == nil:
		return claim.Finish(ctx, sum, nil)
	case errors.Is(err, storage.ErrStale), ctx.Err() != nil:
		return err
	case errors.Is(err, storage.ErrConflict), errors.Is(err, storage.ErrNotFound): // cancelled, or gone
		return claim.Finish(ctx, sum, nil)
	case errors.As(err, &tooMany):
		return claim.Finish(ctx, sum, func(tx *storage.Tx) error {
			return store.FailSuiteRun(ctx, tx, payload.SuiteRunID, tooMany.Error())
		})
	case errors.As(err, &invalid):
		return claim.Finish(ctx, sum, func(tx *storage.Tx) error {
			return store.FailSuiteRun(ctx, tx, payload.SuiteRunID, invalid.Error())
		})
	case storage.IsData(err), task.Attempt >= task.MaxAttempts:
		h.Log.ErrorContext(ctx, "suite run given up", "error", err)
		return claim.Finish(ctx, sum, func(tx *storage.Tx) error {
			return store.FailSuiteRun(ctx, tx, payload.SuiteRunID, "the runs of the suite's cases could not all be started")
		})
	}
	return err
}

// firstJobs of a suite stand among what people wait for; the others go behind it, so that
// suites and single runs of an organization that come later begin meanwhile.
const firstJobs = 5

// step inserts some case runs, with made jobs before them, and returns the number of their
// jobs.
func (h *SuiteHandler) step(ctx context.Context, claim *worker.Claim, payload tasks.SuiteRunPayload, made int) (n int,
	more bool, err error) {
	err = claim.Checkpoint(ctx, func(tx *storage.Tx) error {
		step, err := store.FanOut(ctx, tx, payload.SuiteRunID, h.Vendor, suiteStep)
		if err != nil {
			return err
		}
		list := hold(jobTasks(claim, step.Jobs, made), step.LoginHolds)
		for _, task := range list {
			if step.Held[task.ID] {
				task.Delay = store.HeldFor
			}
		}
		if step.Left != nil {
			list = append(list, tasks.NewSuiteDeadline(claim.OrganizationID(), claim.Tasks[0].RequestID, payload.SuiteRunID, *step.Left))
		}
		list = append(list, loginTasks(claim.OrganizationID(), claim.Tasks[0].RequestID, ledger.Priority(claim.Tasks[0].Priority),
			step.Logins)...)
		for _, id := range step.Unfinished {
			task := tasks.NewRunRows(claim.OrganizationID(), claim.Tasks[0].RequestID, id)
			task.Priority = ledger.Priority(claim.Tasks[0].Priority)
			list = append(list, task)
		}
		if _, err := ledger.InsertAll(ctx, tx, list); err != nil {
			return err
		}
		n, more = len(step.Jobs), step.More
		return nil
	})
	return n, more, err
}

// jobTasks returns the tasks of jobs, with made jobs of the whole before them.
func jobTasks(claim *worker.Claim, jobs []uuid.UUID, made int) []*ledger.NewTask {
	list := make([]*ledger.NewTask, len(jobs))
	for i, id := range jobs {
		list[i] = tasks.NewTestJob(claim.OrganizationID(), claim.Tasks[0].RequestID, id)
		list[i].Priority = jobPriority(ledger.Priority(claim.Tasks[0].Priority), made+i)
	}
	return list
}

// jobPriority is that of a job by its place in a suite run.
func jobPriority(suite ledger.Priority, place int) ledger.Priority {
	if suite == ledger.Waited && place >= firstJobs {
		return ledger.Mass
	}
	return suite
}
