package quota

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/slipway-qa/slipway/storage"
)

const (
	// boundsAge is how long a process goes by the bounds that it read: what an operator
	// changes holds after it.
	boundsAge = 10 * time.Second
	// maxLease is what a process takes of a day's rest at once, at most a hundredth of the
	// bound: it is all that is lost when the process is killed.
	maxLease   = 1000
	leaseParts = 100
)

// Meter counts crashes against the quota of their organizations, for one process. It takes
// some at a time out of the day's rest, so that most cost no statement. Where there is no
// bound nothing is counted.
type Meter struct {
	db     *storage.DB
	quotas *Quotas
	now    func() time.Time

	mu    sync.Mutex
	known map[int64]*lease
}

// lease is what the process has left of an organization's day.
type lease struct {
	mu     sync.Mutex // held while the database is asked
	read   time.Time
	bound  int64
	left   int64
	day    int64 // since 1970
	full   *ExceededError
	fullAt time.Time
}

// NewMeter returns a meter; now defaults to time.Now. Close gives back what is left.
func NewMeter(db *storage.DB, q *Quotas, now func() time.Time) *Meter {
	if now == nil {
		now = time.Now
	}
	return &Meter{db: db, quotas: q, now: now, known: map[int64]*lease{}}
}

func (m *Meter) of(organization int64) *lease {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.known[organization]
	if l == nil {
		l = &lease{}
		m.known[organization] = l
	}
	return l
}

// Take takes one crash of the organization's day; *ExceededError when none is left. A nil
// meter has no bounds. Where the bounds cannot be read, those known before hold.
func (m *Meter) Take(ctx context.Context, organization int64) error {
	if m == nil || m.quotas == nil {
		return nil
	}
	l := m.of(organization)
	l.mu.Lock()
	defer l.mu.Unlock()
	now := m.now()
	if l.read.IsZero() || now.Sub(l.read) >= boundsAge {
		if b, err := m.quotas.bounds(ctx, m.db, []int64{organization}); err == nil {
			if bound := b[organization][CrashesPerDay]; bound != l.bound {
				l.bound, l.full = bound, nil
			}
			l.read = now
		}
	}
	if l.bound == 0 {
		return nil
	}
	if day := now.Unix() / 86400; day != l.day {
		l.day, l.left, l.full = day, 0, nil
	}
	if l.left > 0 {
		l.left--
		return nil
	}
	// Another process may have given something back.
	if l.full != nil && now.Sub(l.fullAt) < boundsAge {
		e := *l.full
		e.Again -= now.Sub(l.fullAt)
		return &e
	}
	return m.renew(ctx, organization, l)
}

// renew takes the next part of the day.
func (m *Meter) renew(ctx context.Context, organization int64, l *lease) error {
	want := min(max(l.bound/leaseParts, 1), maxLease)
	err := m.db.InTx(ctx, func(tx *storage.Tx) error {
		a, err := m.quotas.Begin(ctx, tx, CrashesPerDay, organization)
		if err != nil {
			return err
		}
		if rest := a.bounds[organization] - a.used[organization]; a.bounds[organization] > 0 && rest > 0 {
			want = min(want, rest)
		}
		if err := a.Take(organization, want); err != nil {
			return err
		}
		return a.Store(ctx, tx)
	})
	var full *ExceededError
	if errors.As(err, &full) {
		full.Wanted = 1
		l.full, l.fullAt = full, m.now()
		return full
	}
	if err != nil {
		return err
	}
	l.left = want - 1
	return nil
}

// Return gives back a crash that was taken and not stored.
func (m *Meter) Return(organization int64) {
	if m == nil || m.quotas == nil {
		return
	}
	l := m.of(organization)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.bound > 0 && l.day == m.now().Unix()/86400 {
		l.left++
		l.full = nil
	}
}

// Close gives back what is left of the day.
func (m *Meter) Close(ctx context.Context) error {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	a := &Allowance{resource: CrashesPerDay, taken: map[int64]int64{}}
	for id, l := range m.known {
		l.mu.Lock()
		if l.left > 0 && l.day == m.now().Unix()/86400 {
			a.taken[id] = -l.left
		}
		l.left = 0
		l.mu.Unlock()
	}
	return m.db.InTx(ctx, func(tx *storage.Tx) error { return a.Store(ctx, tx) })
}
