package worker

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/tasks"
)

// claimAndRun claims a row of a kind without batches, and works on it.
func (w *Worker) claimAndRun(ctx context.Context, kind tasks.Kind, id uuid.UUID) {
	claimed, err := w.cfg.Ledger.Claim(ctx, ledger.ClaimRequest{ID: id, Kind: kind.Name, Worker: w.name})
	if err != nil {
		w.failed(ctx, "claim failed", err, "kind", kind.Name, "task_id", id)
		return
	}
	if len(claimed) > 0 {
		w.run(claimed, nil)
	}
}

// keyLimit bounds the running tasks of one concurrency key.
func (w *Worker) keyLimit(kind tasks.Kind) int {
	if limit, ok := w.cfg.KeyLimits[kind.Name]; ok {
		return limit
	}
	return kind.KeyLimit
}

// unknownDelay is how long a task waits whose kind this program does not have; left
// alone, it would be claimed again and again, in front of others.
const unknownDelay = 30 * time.Second

// record writes the end of an attempt that did not succeed and names it.
func (w *Worker) record(ctx context.Context, a *attempt, err error) string {
	kind, claim := a.kind, a.claim
	cause := context.Cause(ctx)
	if errors.Is(err, storage.ErrStale) || errors.Is(cause, errLost) {
		return "stale"
	}
	// The handler's context may have ended; this must be written all the same.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()

	var snooze *tasks.SnoozeError
	stopping := w.base.Err() != nil
	var states []ledger.State
	var werr error
	switch {
	case errors.As(err, &snooze):
		states, werr = w.cfg.Ledger.Release(ctx, claim.tokens, snooze.For)
	case cause == nil && waitsForObjects(err, claim.Tasks[0], a.started):
		states, werr = w.cfg.Ledger.Release(ctx, claim.tokens, kind.Delay(claim.Tasks[0].Attempt))
	case errors.Is(cause, errCancelled), stopping && !tasks.IsPermanent(err):
		states, werr = w.cfg.Ledger.Release(ctx, claim.tokens, 0)
	default:
		states, werr = w.cfg.Ledger.Fail(ctx, claim.tokens, reason(err, cause), tasks.IsPermanent(err),
			kind.Delay(failuresOf(kind, claim.Tasks[0])))
		if werr == nil && len(states) > 0 && states[0] == ledger.Queued {
			return "retry"
		}
	}
	if werr != nil {
		w.cfg.Log.WarnContext(ctx, "outcome not recorded, the task will be rescued", "error", werr)
		return "unrecorded"
	}
	if len(states) == 0 {
		return "stale" // another worker has the claim
	}
	for _, s := range states {
		if s != ledger.Queued {
			return string(s)
		}
	}
	return "released"
}

// objectsAge is how old a task may be that waits for the object store without using
// attempts up: what only this task meets, such as one object that may not be read, ends.
const objectsAge = 3 * 24 * time.Hour

// waitsForObjects reports whether an attempt failed because the object store serves
// nobody: that says nothing of the task, and an outage of an hour would use all of its
// attempts up.
func waitsForObjects(err error, t ledger.Task, now time.Time) bool {
	return errors.Is(err, object.ErrUnavailable) && !tasks.IsPermanent(err) && now.Sub(t.CreatedAt) < objectsAge
}

// failuresOf counts the attempts of a task that failed, the running one with them:
// neither those that were returned nor those that were lost with their worker.
func failuresOf(kind tasks.Kind, t ledger.Task) int {
	return max(t.Attempt-(t.MaxAttempts-kind.MaxAttempts), 1)
}

// reason is what the ledger keeps of a failure. What was not written for those
// who read tasks (a driver's text, an address inside) is marked as internal, and
// only operators are shown it.
func reason(err, cause error) string {
	var invalid *storage.InvalidError
	var public *tasks.PublicError
	var files *object.UnavailableError
	switch {
	case errors.As(err, &public):
		return public.Text
	case tasks.IsPermanent(err), errors.As(err, &invalid):
		return err.Error()
	case cause != nil && !errors.Is(cause, context.Canceled):
		return cause.Error() // the deadline's text
	case errors.Is(err, storage.ErrUnavailable):
		return storage.ErrUnavailable.Error()
	case errors.As(err, &files):
		return object.ErrUnavailable.Error() + ": " + files.Reason
	}
	return ledger.Internal + err.Error()
}

// Cancelled reports whether the context of a handler ended because its task was
// cancelled, and not because the worker stops or the task was lost.
func Cancelled(ctx context.Context) bool { return errors.Is(context.Cause(ctx), errCancelled) }
