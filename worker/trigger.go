package worker

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/tasks"
)

// The asynq scheduler cannot write ledger rows, so what it fires is a trigger: an
// asynq task without a row, whose worker makes the row. A trigger that Redis loses
// is followed by the next one.

// Prober is a handler whose kind is triggered so often, every second by every
// scheduler, that a row for each trigger would fill the ledger with tasks that did
// nothing: a row is made only when there is work.
//
// The worker that got the trigger claims its row and runs it at once, for the way
// through Redis would take longer than the work. When it dies in between, the row
// is found like every other: the relay delivers it, or the rescue misses the heartbeat.
type Prober interface {
	// Pending reports whether there is work now. It has probeTime, and may use some
	// of it to wait for work that is about to come.
	Pending(ctx context.Context) (bool, error)
}

// probeTime bounds Pending, and what is asked of the ledger for a trigger.
const probeTime = 5 * time.Second

// receiveTrigger inserts the task that a trigger is for, unless one is open.
func (w *Worker) receiveTrigger(kind tasks.Kind) {
	handler := w.cfg.Handlers[kind.Name]
	// The worker's context, for asynq's ends with its own lease.
	ctx, cancel := context.WithTimeout(w.base, probeTime)
	defer cancel()
	if err := w.cfg.Redis.ReleaseTrigger(ctx, kind); err != nil {
		w.failed(ctx, "trigger not released, the next ones are refused until its lock ends", err, "kind", kind.Name)
	}
	prober, probes := handler.(Prober)
	switch {
	case handler == nil:
		// The next trigger may find a worker that has one.
		w.cfg.Log.DebugContext(ctx, "no handler for this trigger", "kind", kind.Name)
	case probes:
		if task := w.probe(ctx, kind, prober); task != nil {
			w.claimAndRun(ctx, kind, task.ID)
		}
	default:
		w.insertMaintenance(ctx, kind)
	}
}

// insertMaintenance inserts the row of a kind that is triggered rarely; the relay delivers it.
func (w *Worker) insertMaintenance(ctx context.Context, kind tasks.Kind) {
	// Schedulers trigger at their start too, or an installation that restarts often
	// would never come to its rarest maintenance.
	recent, err := w.cfg.Ledger.MadeWithin(ctx, kind.Name, kind.Every/2)
	if err != nil || recent {
		if err != nil {
			w.failed(ctx, "maintenance task not inserted", err, "kind", kind.Name)
		}
		return
	}
	made, err := ledger.Insert(ctx, w.cfg.Ledger.DB(), tasks.NewMaintenance(kind))
	if err != nil {
		w.failed(ctx, "maintenance task not inserted", err, "kind", kind.Name)
		return
	}
	w.cfg.Log.DebugContext(ctx, "maintenance triggered", "kind", kind.Name, "made", made)
}

// probe inserts a row when there is work and fewer than the kind's Open are open; nil
// when none was made.
func (w *Worker) probe(ctx context.Context, kind tasks.Kind, prober Prober) *ledger.NewTask {
	pending, err := w.pending(ctx, prober)
	for slot := 0; err == nil && pending && slot < max(kind.Open, 1); slot++ {
		task := tasks.NewPeriodic(kind, slot)
		var made bool
		if made, err = ledger.Insert(ctx, w.cfg.Ledger.DB(), task); made {
			return task
		}
	}
	if err != nil {
		w.failed(ctx, "maintenance task not inserted", err, "kind", kind.Name)
	}
	return nil
}

// pending keeps a panic of a prober inside its trigger.
func (w *Worker) pending(ctx context.Context, prober Prober) (pending bool, err error) {
	defer func() {
		if v := recover(); v != nil {
			w.cfg.Log.ErrorContext(ctx, "prober panicked", "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	return prober.Pending(ctx)
}
