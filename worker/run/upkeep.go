package run

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/worker"
)

// Upkeep is the handler of run:upkeep: it ends jobs and suite runs whose task
// ended without them, and forgets runs, events and idempotency keys beyond their
// age. The task's result are the numbers by name.
type Upkeep struct {
	db      *storage.DB
	objects object.Store
	keep    time.Duration
	log     *slog.Logger
	now     func() time.Time

	mu     sync.Mutex
	forgot time.Time // when this process last did
}

const (
	// lostStep jobs are ended, and upkeepStep rows deleted, by one transaction.
	lostStep   = 500
	upkeepStep = 1000
	// forgetStep jobs are removed by one, with the rows of all their files.
	forgetStep = 100
	// forgetEvery paces what is not urgent, and has to walk through indexes.
	forgetEvery = 10 * time.Minute
	// keepEvents is how long webhooks have to deliver, and replay, an event.
	keepEvents = 30 * 24 * time.Hour
	// keepKeys is what the interface promises for an Idempotency-Key.
	keepKeys = 24 * time.Hour
	// DefaultKeep is how long runs can be read.
	DefaultKeep = 90 * 24 * time.Hour
)

// NewUpkeep makes the handler; keep is how long runs can be read after their
// start.
func NewUpkeep(db *storage.DB, objects object.Store, keep time.Duration, log *slog.Logger) (*Upkeep, error) {
	if keep <= 0 {
		return nil, errors.New("run upkeep: the age of runs must be above zero")
	}
	return &Upkeep{db: db, objects: objects, keep: keep, log: log, now: time.Now}, nil
}

// upkeepWork is done in steps until none is left.
type upkeepWork struct {
	name string // in the task's result
	run  func(context.Context, *worker.Job) (n int64, more bool, err error)
}

// Handle does all of it. What fails does not keep the rest from being done.
func (u *Upkeep) Handle(ctx context.Context, job *worker.Job) error {
	sum := map[string]int64{}
	steps := []upkeepWork{{"jobs_lost", u.endLost}}
	if u.timeToForget() {
		steps = append(steps, upkeepWork{"run_files", u.forgetRuns}, upkeepWork{"events", u.forgetEvents},
			upkeepWork{"idempotency_keys", u.forgetKeys})
	}
	var failed []error
	for _, s := range steps {
		for more := true; more; {
			n, left, err := s.run(ctx, job)
			sum[s.name] += n
			if err != nil {
				failed = append(failed, fmt.Errorf("%s: %w", s.name, err))
			}
			more = left && err == nil
		}
	}
	if err := errors.Join(failed...); err != nil {
		return err
	}
	return job.Finish(ctx, sum, nil)
}

func (u *Upkeep) timeToForget() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	now := u.now()
	if now.Sub(u.forgot) < forgetEvery {
		return false
	}
	u.forgot = now
	return true
}

func (u *Upkeep) endLost(ctx context.Context, job *worker.Job) (n int64, more bool, err error) {
	err = job.Checkpoint(ctx, func(tx *storage.Tx) error {
		n, err = authoring.EndLostJobs(ctx, tx, lostStep)
		return err
	})
	return n, n >= lostStep, err
}

func (u *Upkeep) forgetRuns(ctx context.Context, job *worker.Job) (int64, bool, error) {
	var keys []string
	var more bool
	err := job.Checkpoint(ctx, func(tx *storage.Tx) (err error) {
		keys, more, err = authoring.ForgetRuns(ctx, tx, u.now().Add(-u.keep), forgetStep)
		return err
	})
	if err != nil {
		return 0, false, err
	}
	worker.DeleteObjects(ctx, u.objects, u.log, keys)
	return int64(len(keys)), more, nil
}

func (u *Upkeep) forgetEvents(ctx context.Context, _ *worker.Job) (int64, bool, error) {
	n, err := authoring.ForgetEvents(ctx, u.db, u.now().Add(-keepEvents), upkeepStep)
	return n, n >= upkeepStep, err
}

func (u *Upkeep) forgetKeys(ctx context.Context, _ *worker.Job) (int64, bool, error) {
	n, err := authoring.ForgetKeys(ctx, u.db, u.now().Add(-keepKeys), upkeepStep)
	return n, n >= upkeepStep, err
}
