package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/google/uuid"
	"github.com/hibiken/asynq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/tasks/dispatch"
	"github.com/slipway-qa/slipway/tasks/logfield"
)

// receive takes one delivery. It always returns nil: whatever went wrong, the
// ledger knows or will find out by an expired heartbeat or an outstanding delivery.
func (w *Worker) receive(ctx context.Context, t *asynq.Task) error {
	if kind, ok := dispatch.TriggeredKind(t.Type()); ok {
		w.receiveTrigger(kind)
		return nil
	}
	kind, handler := w.kinds[t.Type()], w.cfg.Handlers[t.Type()]
	m, err := dispatch.ParseMessage(t.Payload())
	if err != nil {
		w.cfg.Log.ErrorContext(ctx, "delivery cannot be read", "kind", t.Type(), "error", err)
		return nil
	}
	if handler == nil {
		w.putOff(ctx, t.Type(), m)
		return nil
	}
	w.claimAndRun(ctx, kind, handler, m.ID, m.OrganizationID)
	return nil
}

// claimAndRun claims the row that a delivery points at, and works on what it claimed.
func (w *Worker) claimAndRun(ctx context.Context, kind tasks.Kind, handler Handler, id uuid.UUID, organization int64) {
	weight := kind.MaxWeight
	if s, ok := handler.(Sizer); ok {
		weight = s.ClaimWeight(weight)
	}
	claimed, err := w.cfg.Ledger.Claim(ctx, ledger.ClaimRequest{
		ID: id, Kind: kind.Name, OrganizationID: organization, Worker: w.name,
		Batch: kind.Batch, MaxWeight: weight, KeyLimit: w.keyLimit(kind),
	})
	if err != nil {
		w.cfg.Log.WarnContext(ctx, "claim failed", "kind", kind.Name, "task_id", id, "error", err)
		return
	}
	if len(claimed) > 0 {
		w.run(kind, handler, claimed)
	}
}

// keyLimit bounds the running tasks of one concurrency key.
func (w *Worker) keyLimit(kind tasks.Kind) int {
	if limit, ok := w.cfg.KeyLimits[kind.Name]; ok {
		return limit
	}
	return kind.KeyLimit
}

// unknownDelay is how long a task waits whose kind this program does not have:
// an older worker among newer ones, or after a step back.
const unknownDelay = 30 * time.Second

// putOff returns a task of an unknown kind back; left alone, it would be delivered
// again every few seconds, in front of others.
func (w *Worker) putOff(ctx context.Context, kind string, m dispatch.Message) {
	err := w.release(ctx, kind, m)
	w.cfg.Log.ErrorContext(ctx, "no handler for this kind, put off", "kind", kind, "task_id", m.ID, "error", err)
}

func (w *Worker) release(ctx context.Context, kind string, m dispatch.Message) error {
	claimed, err := w.cfg.Ledger.Claim(ctx, ledger.ClaimRequest{ID: m.ID, Kind: kind, Worker: w.name})
	if err != nil || len(claimed) == 0 {
		return err
	}
	_, err = w.cfg.Ledger.Release(ctx, []ledger.Token{claimed[0].Token()}, unknownDelay)
	return err
}

// run works on a claim to its end. Its context is the worker's, not asynq's:
// asynq's ends when a lease in Redis is lost, which says nothing about the claim.
func (w *Worker) run(kind tasks.Kind, handler Handler, claimed []ledger.Task) {
	claim := NewClaim(w.cfg.Ledger.DB(), claimed)
	var waited time.Duration
	for _, t := range claimed {
		waited = max(waited, t.StartedAt.Sub(t.RunAt))
	}
	ctx, stop := context.WithCancelCause(w.base)
	defer stop(nil)
	ctx, cancel := context.WithTimeoutCause(ctx, kind.Timeout,
		fmt.Errorf("took longer than %s", kind.Timeout))
	defer cancel()
	ctx = logfield.With(ctx, slog.String(logfield.Kind, kind.Name),
		slog.String(logfield.TaskID, claimed[0].ID.String()),
		slog.Int(logfield.Attempt, claimed[0].Attempt),
		slog.String(logfield.RequestID, claimed[0].RequestID))

	w.heartbeats.add(claim.tokens, stop)
	started := time.Now()
	err := w.handle(ctx, handler, claim)
	outcome := "succeeded"
	if err != nil {
		outcome = w.record(ctx, kind, claim, err)
	}
	w.heartbeats.remove(claim.tokens)

	took := time.Since(started)
	level := slog.LevelInfo
	if err != nil {
		level = slog.LevelWarn
	} else if kind.Batch > 1 {
		level = slog.LevelDebug // some hundred a second in a storm
	}
	w.cfg.Log.LogAttrs(ctx, level, "task ended", slog.String("outcome", outcome),
		slog.Duration("waited", waited), slog.Duration("took", took),
		slog.Int("tasks", len(claimed)), slog.Any("error", err))
	if w.cfg.Observer != nil {
		w.cfg.Observer.AttemptEnded(kind.Name, outcome, waited, took, len(claimed))
	}
}

// handle runs the handler, and ends the tasks that it did not end itself.
func (w *Worker) handle(ctx context.Context, handler Handler, claim *Claim) error {
	if err := w.call(ctx, handler, claim); err != nil || claim.done {
		return err
	}
	return claim.Finish(ctx, nil, nil)
}

// call keeps a panic of a handler inside its task. The stack goes to the log; the
// ledger is read by those who asked for the task.
func (w *Worker) call(ctx context.Context, handler Handler, claim *Claim) (err error) {
	defer func() {
		if v := recover(); v != nil {
			w.cfg.Log.ErrorContext(ctx, "handler panicked", "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	return handler.Handle(ctx, claim)
}

// record writes the end of an attempt that did not succeed and names it.
func (w *Worker) record(ctx context.Context, kind tasks.Kind, claim *Claim, err error) string {
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
	case errors.Is(cause, errCancelled), stopping && !tasks.IsPermanent(err):
		states, werr = w.cfg.Ledger.Release(ctx, claim.tokens, 0)
	default:
		states, werr = w.cfg.Ledger.Fail(ctx, claim.tokens, reason(err, cause), tasks.IsPermanent(err),
			kind.Delay(claim.Tasks[0].Attempt))
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

// reason is what the ledger keeps of a failure. What was not written for those
// who read tasks (a driver's text, an address inside) is marked as internal, and
// only operators are shown it.
func reason(err, cause error) string {
	var invalid *storage.InvalidError
	var public *tasks.PublicError
	switch {
	case errors.As(err, &public):
		return public.Text
	case tasks.IsPermanent(err), errors.As(err, &invalid):
		return err.Error()
	case cause != nil && !errors.Is(cause, context.Canceled):
		return cause.Error() // the deadline's text
	case errors.Is(err, storage.ErrUnavailable):
		return storage.ErrUnavailable.Error()
	}
	return ledger.Internal + err.Error()
}

// Cancelled reports whether the context of a handler ended because its task was
// cancelled, and not because the worker stops or the task was lost.
func Cancelled(ctx context.Context) bool { return errors.Is(context.Cause(ctx), errCancelled) }
