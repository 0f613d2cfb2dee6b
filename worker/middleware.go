package worker

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/hibiken/asynq"

	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/tasks/logfield"
)

// attempt is a claim on its way to the handler of its kind and back.
type attempt struct {
	kind    tasks.Kind
	claim   *Claim
	from    *delivery // nil where there was none
	started time.Time
	outcome string
}

// attemptKey is the key of the attempt in the context of its handler.
type attemptKey struct{}

// attemptOf returns what run has put into the context: nothing else calls the mux.
func attemptOf(ctx context.Context) *attempt {
	a, _ := ctx.Value(attemptKey{}).(*attempt)
	return a
}

// newMux registers the handler of each kind, behind what all have in common. A delivery is
// not passed to it as it came: the claim decides which task is worked on.
func (w *Worker) newMux() *asynq.ServeMux {
	mux := asynq.NewServeMux()
	mux.Use(w.named, w.observed, w.bounded, w.held, w.recovered)
	for name := range w.cfg.Handlers {
		mux.HandleFunc(name, w.work)
	}
	return mux
}

// run works on a claim to its end. Its context is the worker's, not asynq's:
// asynq's ends when a lease in Redis is lost, which says nothing about the claim.
func (w *Worker) run(claimed []ledger.Task, from *delivery) {
	kind := w.kinds[claimed[0].Kind]
	a := &attempt{kind: kind, claim: NewClaim(w.cfg.Ledger.DB(), claimed), from: from, outcome: "succeeded"}
	// The error is in the ledger by now.
	_ = w.mux.ProcessTask(context.WithValue(w.base, attemptKey{}, a), asynq.NewTask(kind.Name, claimed[0].Payload))
}

// work calls the handler of a kind, and ends the tasks that it did not end itself.
func (w *Worker) work(ctx context.Context, t *asynq.Task) error {
	claim := attemptOf(ctx).claim
	if err := w.cfg.Handlers[t.Type()].Handle(ctx, claim); err != nil || claim.Ended() {
		return err
	}
	return claim.Finish(ctx, nil, nil)
}

// observed logs the end of an attempt, and tells the observer.
func (w *Worker) observed(next asynq.Handler) asynq.Handler {
	return asynq.HandlerFunc(func(ctx context.Context, t *asynq.Task) error {
		a := attemptOf(ctx)
		claimed := a.claim.Tasks
		var waited time.Duration
		for _, task := range claimed {
			waited = max(waited, task.StartedAt.Sub(task.RunAt))
		}
		ctx = logfield.With(ctx, slog.String(logfield.Kind, a.kind.Name),
			slog.String(logfield.TaskID, claimed[0].ID.String()),
			slog.Int(logfield.Attempt, claimed[0].Attempt),
			slog.String(logfield.RequestID, claimed[0].RequestID))
		a.started = time.Now()
		err := next.ProcessTask(ctx, t)
		took := time.Since(a.started)
		level := slog.LevelInfo
		if err != nil {
			level = slog.LevelWarn
		} else if a.kind.Batch > 1 {
			level = slog.LevelDebug // some hundred a second in a storm
		}
		w.cfg.Log.LogAttrs(ctx, level, "task ended", slog.String("outcome", a.outcome),
			slog.Duration("waited", waited), slog.Duration("took", took),
			slog.Int("tasks", len(claimed)), slog.Any("error", err))
		if w.cfg.Observer != nil {
			w.cfg.Observer.AttemptEnded(a.kind.Name, a.outcome, waited, took, len(claimed))
		}
		return err
	})
}

// bounded ends the context of an attempt after the time of its kind.
func (w *Worker) bounded(next asynq.Handler) asynq.Handler {
	return asynq.HandlerFunc(func(ctx context.Context, t *asynq.Task) error {
		a := attemptOf(ctx)
		ctx, stop := context.WithCancelCause(ctx)
		defer stop(nil)
		ctx, cancel := context.WithTimeoutCause(ctx, a.kind.Timeout, fmt.Errorf("took longer than %s", a.kind.Timeout))
		defer cancel()
		a.claim.stop = stop
		return next.ProcessTask(ctx, t)
	})
}

// held keeps the claim alive, and records how an attempt ended that did not succeed.
func (w *Worker) held(next asynq.Handler) asynq.Handler {
	return asynq.HandlerFunc(func(ctx context.Context, t *asynq.Task) error {
		a := attemptOf(ctx)
		a.claim.heartbeats = w.heartbeats
		w.heartbeats.add(a.claim.tokens, a.claim.stop)
		defer func() { w.heartbeats.remove(a.claim.tokens) }() // a part of them may have left
		err := next.ProcessTask(ctx, t)
		if err != nil {
			a.outcome = w.record(ctx, a, err)
		}
		return err
	})
}

// Worked is the result of a delivery, as asynq's tools show it, while a task is worked on
// that is not the one the delivery was made for.
type Worked struct {
	TaskID         uuid.UUID `json:"task_id"`
	Kind           string    `json:"kind"`
	OrganizationID int64     `json:"organization_id,omitempty"` // 0: the installation
	// Tasks is the number of those that the claim has merged.
	Tasks int `json:"tasks"`
}

// named writes into the delivery which task is worked on, where it is another one. A Redis
// that hangs holds up neither the task nor its end, only the slot: asynq forgets the delivery
// after that, and what is written later would stay for ever.
func (w *Worker) named(next asynq.Handler) asynq.Handler {
	return asynq.HandlerFunc(func(ctx context.Context, t *asynq.Task) error {
		a := attemptOf(ctx)
		doc := a.worked()
		if doc == nil {
			return next.ProcessTask(ctx, t)
		}
		written := make(chan struct{})
		go func() {
			defer close(written)
			if _, err := a.from.result.Write(doc); err != nil {
				w.cfg.Log.DebugContext(ctx, "delivery not named", "error", err)
			}
		}()
		defer func() { <-written }()
		return next.ProcessTask(ctx, t)
	})
}

// worked returns the result of the delivery, nil where the task is the one it was made for.
func (a *attempt) worked() []byte {
	claimed := a.claim.Tasks
	if a.from == nil || a.from.result == nil ||
		slices.ContainsFunc(claimed, func(t ledger.Task) bool { return t.ID == a.from.task }) {
		return nil
	}
	doc, err := json.Marshal(Worked{TaskID: claimed[0].ID, Kind: a.kind.Name, OrganizationID: a.claim.OrganizationID(), Tasks: len(claimed)})
	if err != nil {
		return nil
	}
	return doc
}

// recovered keeps a panic of a handler inside its task. The stack goes to the log; the
// ledger is read by those who asked for the task.
func (w *Worker) recovered(next asynq.Handler) asynq.Handler {
	return asynq.HandlerFunc(func(ctx context.Context, t *asynq.Task) (err error) {
		defer func() {
			if v := recover(); v != nil {
				w.cfg.Log.ErrorContext(ctx, "handler panicked", "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
				err = fmt.Errorf("panic: %v", v)
			}
		}()
		return next.ProcessTask(ctx, t)
	})
}
