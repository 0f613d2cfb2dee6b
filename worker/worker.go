// Package worker runs tasks: it takes deliveries from asynq, claims their ledger
// rows, calls the handler of the kind and records the end.
//
// asynq is only the dispatcher here. Handlers report to PostgreSQL, and asynq
// is always told that the task succeeded, so that retries, backoff and dead tasks have one home.
// The claim's attempt is the fencing token: a handler writes its effects in
// Claim.Finish, one transaction that also ends the task and that fails when
// another worker holds the task by now. A heartbeat every two seconds keeps the claim
// alive and brings the news that a task was cancelled or lost, which ends the
// handler's context.
//
// A pool is one asynq server: some slots for some queues by weight. Pools keep
// long tasks from taking the slots of short ones, and let a process serve one
// kind alone. A delivery names its task, and is the permission to work on one task of its
// queue: turns choose the organization. The claim goes to the handler of its kind at an
// asynq.ServeMux, through the same middleware for all (middleware.go). While all slots of a pool are taken, one more task may run
// beside them, of an organization that has nothing of its queue running: tasks of an
// hour cannot be interrupted, and must not keep others from beginning.
//
// Stop drains: no new deliveries, running handlers get some time, then their context
// ends and their tasks are released for another worker without losing an
// attempt.
package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/hibiken/asynq"

	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/tasks/dispatch"
)

// Handler does the work of one kind. It returns nil when the task is done; if it
// has not called claim.Finish by then, the task ends without effects. An error
// marked by tasks.Permanent ends the task as dead, a *tasks.SnoozeError puts it
// off, any other error is tried again after the kind's backoff.
type Handler interface {
	Handle(ctx context.Context, claim *Claim) error
}

// Sizer is a handler of a batch kind that bounds its claims by what else its process
// does at the moment.
type Sizer interface {
	// ClaimWeight returns the weight up to which the next claim merges rows; the kind's
	// MaxWeight is passed.
	ClaimWeight(most int) int
}

// Observer is called for ended attempts, for metrics.
type Observer interface {
	// AttemptEnded reports the outcome ("succeeded", "retry", "dead",
	// "cancelled", "released", "stale", "unrecorded"), how long the task was due before
	// it started, how long the attempt took, and how many rows it merged.
	AttemptEnded(kind, outcome string, waited, took time.Duration, rows int)
}

// Config is what a worker needs.
type Config struct {
	Redis  *dispatch.Redis
	Ledger *ledger.Store
	// Heartbeats is the ledger on a pool of its own, so that heartbeats never wait
	// behind queries that are slow; default Ledger.
	Heartbeats *ledger.Store
	// RescueAfter is the scheduler's time after which a silent worker counts as dead, by
	// which heartbeats go; default ledger.RescueAfter.
	RescueAfter time.Duration
	Handlers    map[string]Handler
	Pools       []Pool
	// KeyLimits are the numbers of tasks of one concurrency key that may run at
	// once, by kind, in place of the kinds' own; 0 is no bound.
	KeyLimits map[string]int
	// Drain is how long running handlers may go on after Stop; default 15 s.
	Drain    time.Duration
	Observer Observer
	Log      *slog.Logger
}

// Pool is a class of concurrency.
type Pool struct {
	Slots  int
	Queues map[string]int // weight by queue
}

// Worker runs the pools of one process.
type Worker struct {
	cfg        Config
	name       string
	kinds      map[string]tasks.Kind
	heartbeats *heartbeats
	servers    []*asynq.Server
	turns      map[string]*turns       // by queue
	special    map[string]specialKinds // by queue
	mux        *asynq.ServeMux
	base       context.Context
	abandon    context.CancelFunc
	spares     sync.WaitGroup
	closing    context.Context // ends when no new work is taken
	shut       context.CancelFunc
}

// New checks the configuration and returns a worker.
func New(cfg Config) (*Worker, error) {
	kinds := tasks.Kinds()
	for name := range cfg.Handlers {
		if _, ok := kinds[name]; !ok {
			return nil, fmt.Errorf("worker: handler of unknown kind %q", name)
		}
	}
	for name, limit := range cfg.KeyLimits {
		if _, ok := kinds[name]; !ok || limit < 0 {
			return nil, fmt.Errorf("worker: limit %d for concurrency keys of kind %q: the kind must exist and the limit not be below 0", limit, name)
		}
	}
	if len(cfg.Pools) == 0 {
		return nil, errors.New("worker: no pools")
	}
	if cfg.Heartbeats == nil {
		cfg.Heartbeats = cfg.Ledger
	}
	if cfg.RescueAfter <= 0 {
		cfg.RescueAfter = ledger.RescueAfter
	}
	if cfg.Drain <= 0 {
		cfg.Drain = 15 * time.Second
	}
	host, _ := os.Hostname()
	base, abandon := context.WithCancel(context.Background())
	closing, shut := context.WithCancel(base)
	w := &Worker{
		cfg: cfg, kinds: kinds, base: base, abandon: abandon, closing: closing, shut: shut,
		name:       fmt.Sprintf("%s/%d/%s", host, os.Getpid(), uuid.NewString()[:8]),
		heartbeats: newHeartbeats(cfg.Heartbeats, ledger.HeartbeatEvery(cfg.RescueAfter), cfg.Log), turns: map[string]*turns{},
	}
	for _, queue := range tasks.Queues() {
		w.turns[queue] = newTurns(func(ctx context.Context) ([]ledger.Due, error) {
			return cfg.Ledger.Waiting(ctx, queue, w.name)
		})
	}
	w.special = w.specialQueues()
	w.mux = w.newMux()
	return w, nil
}

// pollInterval is how often asynq polls an empty queue: half of it is what an idle worker adds
// to a task's wait.
const pollInterval = 50 * time.Millisecond

// Start begins to take deliveries.
func (w *Worker) Start() error {
	go w.heartbeats.run(w.base)
	for _, p := range w.cfg.Pools {
		s := asynq.NewServer(w.cfg.Redis.Options(), asynq.Config{
			Concurrency:              p.Slots,
			Queues:                   p.Queues,
			TaskCheckInterval:        pollInterval,
			DelayedTaskCheckInterval: time.Second,
			// After Drain the handlers' context, which is ours and not asynq's,
			// ends; what is left of the time is for releasing their tasks.
			ShutdownTimeout: w.cfg.Drain + 5*time.Second,
			Logger:          dispatch.AsynqLog{Log: w.cfg.Log},
			LogLevel:        asynq.WarnLevel,
			// Nothing ever fails as asynq sees it, but for lost leases.
			IsFailure:    func(error) bool { return false },
			ErrorHandler: asynq.ErrorHandlerFunc(func(context.Context, *asynq.Task, error) {}),
		})
		pool := newSlots(w, p)
		if err := s.Start(asynq.HandlerFunc(pool.receive)); err != nil {
			w.Stop()
			return fmt.Errorf("start worker: %w", err)
		}
		w.servers = append(w.servers, s)
		w.spares.Go(func() { pool.spare(w.closing) })
	}
	return nil
}

// Stop drains the pools, the way the package says; it returns when all handlers
// have ended.
func (w *Worker) Stop() {
	w.shut()
	var stopping sync.WaitGroup
	for _, s := range w.servers {
		stopping.Go(s.Stop)
	}
	stopping.Wait()
	grace := time.AfterFunc(w.cfg.Drain, w.abandon)
	defer grace.Stop()
	done := make(chan struct{})
	go func() {
		defer close(done)
		// All at once: each waits for a Redis that hangs.
		var ended sync.WaitGroup
		for _, s := range w.servers {
			ended.Go(s.Shutdown)
		}
		ended.Wait()
		w.spares.Wait()
	}()
	<-done
	w.abandon()
}

// ParsePools reads the setting: pools separated by ";", each "slots:queue=weight,
// queue=weight", for example "4:critical=6,default=3;2:crash=1;1:bulk=1".
func ParsePools(text string) ([]Pool, error) {
	known := map[string]bool{}
	for _, q := range tasks.Queues() {
		known[q] = true
	}
	return parsePools(text, known)
}

// failed logs what could not be done, unless it was cut off by the end of the worker or of
// who waited for it: then nothing has failed.
func (w *Worker) failed(ctx context.Context, what string, err error, about ...any) {
	if w.base.Err() == nil && !errors.Is(ctx.Err(), context.Canceled) {
		w.cfg.Log.WarnContext(ctx, what, append(about, "error", err)...)
	}
}
