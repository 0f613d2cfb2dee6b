package generation

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	store "github.com/slipway-qa/slipway/storage/generation"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/worker"
)

const (
	// endStep generations are ended by one transaction.
	endStep = 200
	// lostEvery paces the look for generations whose task has ended without them, which
	// reads the task of each open one.
	lostEvery = 10 * time.Second
	// forgetStep generations are removed by one transaction, with the rows of their files.
	forgetStep = 100
	// keepSpending is how long the daily costs of models can be read.
	keepSpending = 400 * 24 * time.Hour
)

// Maintenance is the handler of generation:maintenance: it ends generations whose
// deadline has passed, and those whose task has ended without them. The task's result
// are the numbers by name.
type Maintenance struct {
	db  *storage.DB
	now func() time.Time

	mu     sync.Mutex
	looked time.Time // for lost ones
}

// NewMaintenance returns the handler.
func NewMaintenance(db *storage.DB) *Maintenance { return &Maintenance{db: db, now: time.Now} }

// Pending implements worker.Prober.
func (m *Maintenance) Pending(ctx context.Context) (bool, error) {
	overdue, err := store.Overdue(ctx, m.db)
	if err != nil || overdue || !m.timeForLost() {
		return overdue, err
	}
	return store.Lost(ctx, m.db)
}

// timeForLost reports whether lost ones are to be looked for, once in a while.
func (m *Maintenance) timeForLost() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	if now.Sub(m.looked) < lostEvery {
		return false
	}
	m.looked = now
	return true
}

// Handle ends both.
func (m *Maintenance) Handle(ctx context.Context, claim *worker.Claim) error {
	sum := map[string]int{}
	var failed []error
	for name, end := range map[string]func(context.Context, *storage.Tx, int) ([]uuid.UUID, error){
		"overdue": store.EndOverdue, "lost": store.EndLost,
	} {
		for more := true; more; {
			n, err := endSome(ctx, claim, end)
			if err != nil {
				failed = append(failed, fmt.Errorf("%s: %w", name, err))
			}
			sum[name] += n
			more = n >= endStep && err == nil
		}
	}
	if err := errors.Join(failed...); err != nil {
		return err
	}
	return claim.Finish(ctx, sum, nil)
}

// endSome ends some generations and cancels their tasks: a worker that still writes one
// stops then.
func endSome(ctx context.Context, claim *worker.Claim, end func(context.Context, *storage.Tx, int) ([]uuid.UUID, error)) (n int,
	err error) {
	err = claim.Checkpoint(ctx, func(tx *storage.Tx) error {
		ended, err := end(ctx, tx, endStep)
		if err != nil {
			return err
		}
		n = len(ended)
		_, err = ledger.CancelAll(ctx, tx, ledger.Scope{}, ended)
		return err
	})
	return n, err
}

// Retention is the handler of generation:retention: it removes generations beyond their
// age, files of cases that are gone, and old costs of models.
type Retention struct {
	db      *storage.DB
	objects object.Store
	keep    time.Duration
	log     *slog.Logger
	now     func() time.Time
}

// NewRetention returns the handler; keep is how long generations can be read after their
// acceptance.
func NewRetention(db *storage.DB, objects object.Store, keep time.Duration, log *slog.Logger) (*Retention, error) {
	if keep <= 0 {
		return nil, errors.New("generation retention: the age of generations must be above zero")
	}
	return &Retention{db: db, objects: objects, keep: keep, log: log, now: time.Now}, nil
}

// Handle removes in steps what is too old.
func (r *Retention) Handle(ctx context.Context, claim *worker.Claim) error {
	sum := map[string]int{}
	for more := true; more; {
		n, err := r.remove(ctx, claim, func(tx *storage.Tx) ([]string, int, error) {
			return store.Forget(ctx, tx, r.now().Add(-r.keep), forgetStep)
		})
		if err != nil {
			return err
		}
		sum["generations"] += n
		more = n >= forgetStep
	}
	for more := true; more; {
		n, err := r.remove(ctx, claim, func(tx *storage.Tx) ([]string, int, error) {
			keys, err := store.ForgetOrphanFiles(ctx, tx, 10*forgetStep)
			return keys, len(keys), err
		})
		if err != nil {
			return err
		}
		sum["files"] += n
		more = n >= 10*forgetStep
	}
	n, err := store.ForgetSpending(ctx, r.db, r.now().Add(-keepSpending))
	if err != nil {
		return err
	}
	sum["spending"] = int(n)
	return claim.Finish(ctx, sum, nil)
}

// remove deletes rows, and their objects after the commit.
func (r *Retention) remove(ctx context.Context, claim *worker.Claim, rows func(*storage.Tx) ([]string, int, error)) (n int, err error) {
	var keys []string
	err = claim.Checkpoint(ctx, func(tx *storage.Tx) (err error) {
		keys, n, err = rows(tx)
		return err
	})
	if err != nil {
		return 0, err
	}
	worker.DeleteObjects(ctx, r.objects, r.log, keys)
	return n, nil
}
