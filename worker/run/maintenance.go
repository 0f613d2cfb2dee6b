package run

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/history"
	"github.com/slipway-qa/slipway/storage/object"
	store "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/schedule"
	"github.com/slipway-qa/slipway/worker"
)

// MaintenanceHandler is the handler of run:maintenance: it ends jobs and suite runs whose task
// ended without them, removes runs that nobody keeps, events and the firings of
// schedules beyond their age, and recounts when schedules fire next. The task's result
// are the numbers by name.
//
// Jobs are ended each time. The rest has its own periods and a share of the time:
// what is left then goes on with the next task, which ends jobs first.
type MaintenanceHandler struct {
	db      *storage.DB
	objects object.Store
	keep    time.Duration
	log     *slog.Logger
	now     func() time.Time

	mu    sync.Mutex           // of what follows
	ended map[string]time.Time // when this process last came to the end of a work
	// Where works that go through a table are.
	retained  history.Position
	orphans   schedule.FiringPosition
	recounted uuid.UUID
}

const (
	// lostStep jobs are ended, and maintenanceStep rows deleted, by one transaction.
	lostStep        = 500
	maintenanceStep = 1000
	// forgetStep jobs are removed by one, with the rows of all their files.
	forgetStep = 100
	// forgetEvery paces what is not urgent, and has to walk through indexes.
	forgetEvery = 10 * time.Minute
	// recountEvery paces the look at what only a wrong clock or new rules of time
	// zones make necessary; a process that starts, perhaps with those, does it at once.
	recountEvery = 6 * time.Hour
	// unhurriedShare is what that gets of the time: lost jobs are ended every minute.
	unhurriedShare = 30 * time.Second
	// keepEvents is how long webhooks have to deliver, and replay, an event.
	keepEvents = 30 * 24 * time.Hour
	// DefaultKeep is how long runs can be read.
	DefaultKeep = 90 * 24 * time.Hour
)

// NewMaintenanceHandler returns the handler; keep is how long runs can be read after their
// start, in whole days, where an organization does not say.
func NewMaintenanceHandler(db *storage.DB, objects object.Store, keep time.Duration, log *slog.Logger) (*MaintenanceHandler, error) {
	if keep <= 0 {
		return nil, errors.New("run maintenance: the age of runs must be above zero")
	}
	return &MaintenanceHandler{db: db, objects: objects, keep: keep, log: log, now: time.Now, ended: map[string]time.Time{}}, nil
}

// maintenanceWork is done in steps until none is left.
type maintenanceWork struct {
	name  string // in the task's result
	every time.Duration
	run   func(context.Context, *worker.Claim) (n int64, more bool, err error)
}

// Handle does all of it. What fails does not keep the rest from being done.
func (u *MaintenanceHandler) Handle(ctx context.Context, claim *worker.Claim) error {
	sum := map[string]int64{}
	var failed []error
	step := func(w maintenanceWork) (more, ok bool) {
		n, more, err := w.run(ctx, claim)
		sum[w.name] += n
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", w.name, err))
		}
		return more && err == nil, err == nil
	}
	for more := true; more; {
		more, _ = step(maintenanceWork{name: "jobs_lost", run: u.endLost})
	}
	// Where a task that was taken for lost still does the rest, that suffices.
	if u.mu.TryLock() {
		defer u.mu.Unlock()
		u.unhurried(step)
	}
	if err := errors.Join(failed...); err != nil {
		return err
	}
	return claim.Finish(ctx, sum, nil)
}

// unhurried does a step of each work that it is time for, in turn, until all came to
// their end or the share of the time is used up. A work that failed is tried again by
// the next task.
func (u *MaintenanceHandler) unhurried(step func(maintenanceWork) (more, ok bool)) {
	begun := u.now()
	var due []maintenanceWork
	for _, w := range []maintenanceWork{
		{"run_files", forgetEvery, u.forgetRuns}, {"runs_removed", forgetEvery, u.retain}, {"events", forgetEvery, u.forgetEvents},
		{"schedule_firings", forgetEvery, u.forgetFirings}, {"orphan_firings", forgetEvery, u.forgetOrphanFirings},
		{"schedules_recounted", recountEvery, u.recount},
	} {
		if begun.Sub(u.ended[w.name]) >= w.every {
			due = append(due, w)
		}
	}
	for len(due) > 0 && u.now().Sub(begun) < unhurriedShare {
		due = slices.DeleteFunc(due, func(w maintenanceWork) bool {
			more, ok := step(w)
			if ok && !more {
				u.ended[w.name] = begun
			}
			return !more
		})
	}
}

func (u *MaintenanceHandler) endLost(ctx context.Context, claim *worker.Claim) (n int64, more bool, err error) {
	err = claim.Checkpoint(ctx, func(tx *storage.Tx) error {
		n, err = store.EndLostJobs(ctx, tx, lostStep)
		return err
	})
	return n, n >= lostStep, err
}

func (u *MaintenanceHandler) forgetRuns(ctx context.Context, claim *worker.Claim) (int64, bool, error) {
	var keys []string
	var more bool
	err := claim.Checkpoint(ctx, func(tx *storage.Tx) (err error) {
		keys, more, err = store.Forget(ctx, tx, forgetStep)
		return err
	})
	if err != nil {
		return 0, false, err
	}
	worker.DeleteObjects(ctx, u.objects, u.log, keys)
	return int64(len(keys)), more, nil
}

// retain removes the runs that are beyond what their organization or suite keeps.
func (u *MaintenanceHandler) retain(ctx context.Context, claim *worker.Claim) (int64, bool, error) {
	var r history.Removed
	err := claim.Checkpoint(ctx, func(tx *storage.Tx) (err error) {
		r, err = history.Retain(ctx, tx, u.now(), int(u.keep/(24*time.Hour)), u.retained, forgetStep)
		return err
	})
	if err != nil {
		return 0, false, err
	}
	u.retained = r.Next
	worker.DeleteObjects(ctx, u.objects, u.log, r.Keys)
	return int64(r.Runs), r.More, nil
}

func (u *MaintenanceHandler) forgetEvents(ctx context.Context, _ *worker.Claim) (int64, bool, error) {
	n, err := store.ForgetEvents(ctx, u.db, u.now().Add(-keepEvents), maintenanceStep)
	return n, n >= maintenanceStep, err
}

// forgetFirings keeps what schedules did as long as the runs that they started.
func (u *MaintenanceHandler) forgetFirings(ctx context.Context, _ *worker.Claim) (int64, bool, error) {
	n, err := schedule.ForgetFirings(ctx, u.db, u.now().Add(-u.keep), maintenanceStep)
	return n, n >= maintenanceStep, err
}

func (u *MaintenanceHandler) forgetOrphanFirings(ctx context.Context, _ *worker.Claim) (int64, bool, error) {
	n, next, err := schedule.ForgetOrphanFirings(ctx, u.db, u.orphans, maintenanceStep)
	if err != nil {
		return n, false, err
	}
	if next == nil {
		u.orphans = schedule.FiringPosition{}
		return n, false, nil
	}
	u.orphans = *next
	return n, true, nil
}

func (u *MaintenanceHandler) recount(ctx context.Context, _ *worker.Claim) (int64, bool, error) {
	n, last, more, err := schedule.Recount(ctx, u.db, u.recounted, maintenanceStep)
	if err != nil {
		return n, false, err
	}
	if u.recounted = last; !more {
		u.recounted = uuid.Nil
	}
	return n, more, nil
}
