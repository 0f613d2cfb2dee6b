package wait

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/tasks/admission"
)

// Config is what a Watcher needs.
type Config struct {
	// Ended returns those of the ids whose task or run has ended or is not there
	// any more. With an error it may return those that it knows.
	Ended func(ctx context.Context, ids []uuid.UUID) ([]uuid.UUID, error)
	Log   *slog.Logger
	// Interval is the time between two looks; default 200 ms. A caller learns of
	// the end that much later at most, and the database is asked five times a
	// second by each process that has waiters.
	Interval time.Duration
	// Most bounds the requests that wait at once; default 1000, one statement's
	// worth. Each holds a connection and a goroutine. Organizations, and the
	// operators together, share them.
	Most int
	// Name is that of the room of the waits in metrics; default "waits".
	Name string
}

// Watcher ends the waits of requests when what they wait for, a task or a run, has
// ended. There is one of each kind in a process; it asks the database only while
// somebody waits.
type Watcher struct {
	ended    func(context.Context, []uuid.UUID) ([]uuid.UUID, error)
	log      *slog.Logger
	interval time.Duration
	room     *admission.Room

	mu      sync.Mutex
	waiting map[uuid.UUID]*ending
	wake    chan struct{} // holds one token when a first waiter came
	closed  bool
	failing bool // the last look failed; of Run alone
}

// ending is something that has waiters; done is closed when there is nothing more
// to wait for.
type ending struct {
	waiters int
	done    chan struct{}
}

// NewWatcher returns a watcher; Run does its work.
func NewWatcher(cfg Config) *Watcher {
	if cfg.Interval <= 0 {
		cfg.Interval = 200 * time.Millisecond
	}
	if cfg.Most <= 0 {
		cfg.Most = 1000
	}
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	if cfg.Name == "" {
		cfg.Name = "waits"
	}
	return &Watcher{ended: cfg.Ended, log: cfg.Log, interval: cfg.Interval,
		room:    admission.New(admission.Config{Name: cfg.Name, Capacity: int64(cfg.Most), Headroom: int64(max(1, cfg.Most/8))}),
		waiting: map[uuid.UUID]*ending{}, wake: make(chan struct{}, 1)}
}

// Wait returns nil when the task or run has ended, the time is over, or the watcher
// stops: the caller reads the row again. It returns the context's error when
// the caller has gone, and a 429 when too many wait, of the caller's organization
// (0: operators) or at all.
func (w *Watcher) Wait(ctx context.Context, organization int64, id uuid.UUID, most time.Duration) error {
	place, ok := w.room.Try(admission.Caller{Organization: organization}, 1)
	if !ok {
		return &respond.Problem{Status: http.StatusTooManyRequests, Text: "too many requests wait: ask again a little later",
			RetryAfter: time.Second}
	}
	defer place.Leave()
	e := w.enter(id)
	if e == nil {
		return nil
	}
	defer w.leave(id, e)
	over := time.NewTimer(most)
	defer over.Stop()
	select {
	case <-e.done:
	case <-over.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// Rooms are the rooms of the watcher, for metrics.
func (w *Watcher) Rooms() []*admission.Room { return []*admission.Room{w.room} }

// enter adds a waiter; nil: the watcher has stopped.
func (w *Watcher) enter(id uuid.UUID) *ending {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil
	}
	e, ok := w.waiting[id]
	if !ok {
		e = &ending{done: make(chan struct{})}
		w.waiting[id] = e
	}
	e.waiters++
	select {
	case w.wake <- struct{}{}:
	default:
	}
	return e
}

func (w *Watcher) leave(id uuid.UUID, e *ending) {
	w.mu.Lock()
	defer w.mu.Unlock()
	e.waiters--
	if e.waiters == 0 && w.waiting[id] == e {
		delete(w.waiting, id)
	}
}

// Run looks until the context ends and then lets all waiters go, so that a
// process can drain.
func (w *Watcher) Run(ctx context.Context) {
	defer w.close()
	tick := time.NewTicker(w.interval)
	defer tick.Stop()
	for {
		ids := w.ids()
		if len(ids) == 0 {
			select {
			case <-ctx.Done():
				return
			case <-w.wake:
				continue
			}
		}
		w.look(ctx, ids)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (w *Watcher) ids() []uuid.UUID {
	w.mu.Lock()
	defer w.mu.Unlock()
	ids := make([]uuid.UUID, 0, len(w.waiting))
	for id := range w.waiting {
		ids = append(ids, id)
	}
	return ids
}

// look reads which of the ids have ended and lets their waiters go. A failure, which may be
// of some ids only, is tried again at the next tick: the waiters respond with what they can
// read when their time is over. Of failures in a row the first is logged, and their end.
func (w *Watcher) look(ctx context.Context, ids []uuid.UUID) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	ended, err := w.ended(ctx, ids)
	switch {
	case err == nil && w.failing:
		w.log.InfoContext(ctx, "states of what is awaited are read again", "awaited", len(ids))
	case err != nil && ctx.Err() == context.Canceled:
		return
	case err != nil && !w.failing:
		w.log.WarnContext(ctx, "states of what is awaited not read", "awaited", len(ids), "error", err)
	}
	w.failing = err != nil
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range ended {
		if e, ok := w.waiting[id]; ok {
			close(e.done)
			delete(w.waiting, id)
		}
	}
}

func (w *Watcher) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	for id, e := range w.waiting {
		close(e.done)
		delete(w.waiting, id)
	}
}
