// Package scheduler runs what time starts: the loops of the task ledger (relay
// and rescue) and the asynq scheduler, which triggers periodic maintenance and,
// every second, the tick that fires the schedules which are due.
//
// Any number of scheduler processes may run. What two relays deliver twice is harmless,
// the rescue takes rows with SKIP LOCKED, and the triggers of two asynq schedulers meet
// in one open ledger row.
//
// Each loop logs its errors and goes on: a PostgreSQL or Redis that restarts
// delays work and loses none. Marked reports to readiness when each loop last ended
// a round well.
package scheduler

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/hibiken/asynq"

	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/tasks/dispatch"
)

const (
	// rescueRounds are the rounds of the rescue within Config.RescueAfter, at the least one a
	// second: with the relay's tick, a task of a killed worker is delivered again soon after.
	rescueRounds = 6
	// historyEvery is far below the time that a history has left, and below the 30
	// seconds after which a loop without a good round counts as broken.
	historyEvery = 10 * time.Second
	// stopLimit bounds what asynq does at a stop.
	stopLimit = 5 * time.Second
)

// Config is what a scheduler needs.
type Config struct {
	Redis  *dispatch.Redis
	Ledger *ledger.Store
	Relay  *dispatch.Relay
	Log    *slog.Logger
	// RescueAfter is the time without a heartbeat after which a worker counts as dead;
	// default ledger.RescueAfter. Workers that have a longer one lose tasks at which they
	// work.
	RescueAfter time.Duration
}

// Scheduler runs the loops of one process.
type Scheduler struct {
	cfg   Config
	cron  *asynq.Scheduler
	stop  context.CancelFunc
	loops sync.WaitGroup

	mu     sync.Mutex
	marked map[string]time.Time

	// Of the rescue loop alone, in wall-clock time, for a suspend stops the
	// monotonic clock: the last good round, and until when nothing is rescued.
	lastRescue, graceUntil time.Time

	entries []string // asynq's, one for each periodic kind; written by Start alone
}

// New returns a scheduler.
func New(cfg Config) *Scheduler {
	if cfg.RescueAfter <= 0 {
		cfg.RescueAfter = ledger.RescueAfter
	}
	return &Scheduler{cfg: cfg, marked: map[string]time.Time{}}
}

// Start begins the loops.
func (s *Scheduler) Start() error {
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	if err := s.startTriggers(); err != nil {
		stop()
		return fmt.Errorf("start the asynq scheduler: %w", err)
	}
	for _, loop := range Loops() {
		s.mark(loop) // the start counts: a loop is expired when it stops
	}
	s.loops.Go(func() { s.cfg.Relay.Run(ctx, func() { s.mark("relay") }) })
	s.loops.Go(func() { s.triggerAll(ctx) })
	s.every(ctx, "history", historyEvery, s.expireHistory)
	s.every(ctx, "rescue", rescueEvery(s.cfg.RescueAfter), s.rescue)
	return nil
}

// rescueEvery returns how often dead workers are looked for, where they count as such after
// this time.
func rescueEvery(after time.Duration) time.Duration { return min(after/rescueRounds, time.Second) }

// Stop ends the loops and waits for them.
func (s *Scheduler) Stop() {
	if s.stop == nil {
		return
	}
	s.stop()
	// Shutdown deletes the history of each entry, one after the other. A Redis that hangs
	// must not keep the process; histories expire by themselves.
	ended := make(chan struct{})
	go func() { defer close(ended); s.cron.Shutdown() }()
	select {
	case <-ended:
	case <-time.After(stopLimit):
	}
	s.loops.Wait()
}

// Marked returns, by loop, when its last round ended without an error.
func (s *Scheduler) Marked() map[string]time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	marked := make(map[string]time.Time, len(s.marked))
	for k, v := range s.marked {
		marked[k] = v
	}
	return marked
}

func (s *Scheduler) every(ctx context.Context, name string, wait time.Duration, round func(context.Context) error) {
	s.loops.Go(func() {
		tick := time.NewTicker(wait)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			bounded, cancel := context.WithTimeout(ctx, 30*time.Second)
			err := round(bounded)
			cancel()
			if err != nil && ctx.Err() == nil {
				s.cfg.Log.WarnContext(ctx, "scheduler loop failed", "loop", name, "error", err)
				continue
			}
			s.mark(name)
		}
	})
}

// Loops are the names of the loops in Marked.
func Loops() []string { return []string{"relay", "history", "rescue"} }

func (s *Scheduler) mark(loop string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.marked[loop] = time.Now()
}

// gap is the shortest time between two rounds that counts as one: with a short RescueAfter
// a busy machine would have nothing else.
const gap = 3 * time.Second

// rescue returns the tasks of dead workers to the queue. After a gap, an outage of
// the database or a suspend of the machine, every heartbeat is old and none says
// anything: workers get the time for a heartbeat before the first rescue.
func (s *Scheduler) rescue(ctx context.Context) error {
	if now := time.Now().Round(0); now.Sub(s.lastRescue) > max(s.cfg.RescueAfter/2, gap) {
		if err := s.cfg.Ledger.DB().Check(ctx); err != nil {
			return err
		}
		s.lastRescue, s.graceUntil = now, now.Add(s.cfg.RescueAfter)
		return nil
	} else if now.Before(s.graceUntil) {
		if err := s.cfg.Ledger.DB().Check(ctx); err != nil {
			return err
		}
		s.lastRescue = now
		return nil
	}
	rescued, err := s.cfg.Ledger.Rescue(ctx, s.cfg.RescueAfter)
	if err != nil {
		return err
	}
	s.lastRescue = time.Now().Round(0)
	for _, t := range rescued {
		s.cfg.Log.WarnContext(ctx, "task of a lost worker rescued", "task_id", t.ID,
			"kind", t.Kind, "attempt", t.Attempt, "state", t.State)
	}
	if len(rescued) > 0 {
		s.cfg.Relay.Nudge()
	}
	return nil
}
