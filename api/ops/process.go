package ops

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

const (
	// defaultMaxLag: what people wait for starts within seconds; after five
	// minutes somebody has noticed.
	defaultMaxLag = 5 * time.Minute
	// maxSilence is how long a scheduler loop may go without a good round. The
	// loops turn every one or two seconds, and a round may take some.
	maxSilence = 30 * time.Second
)

// Process says which tiers a process runs and what they depend on; Checks makes
// the readiness checks out of it.
//
//	            api             worker          scheduler    worker or scheduler with the api
//	postgres    critical        critical        critical     critical
//	objects     critical        critical        -            critical
//	redis       degrades        critical        critical     degrades
//	queue_lag   -               by setting      -            -
//	loops       -               -               critical     degrades
//
// A process that serves the api stays in while it can accept: requests must not
// be turned away because work behind them is late.
type Process struct {
	API, Worker, Scheduler bool

	// Postgres, Redis and Objects are the Check methods of the dependencies.
	// Give Postgres a small pool of its own: behind a pool that a storm has
	// filled, a check would wait and call the database down.
	Postgres, Redis, Objects func(context.Context) error

	// Lag returns the age of the oldest due task by queue: the ledger's Lag. Only
	// a process that is a worker and not the api needs it, and Queues, the
	// queues that it serves.
	Lag    func(context.Context) (map[string]time.Duration, error)
	Queues []string
	// MaxLag is the lag from which a worker is degraded, or, with LagCritical,
	// unavailable; default 5 minutes. LagCritical suits an autoscaler or an
	// alert that reads readiness. Where an orchestrator holds back a rollout
	// until new workers are ready, it blocks the very rollout that brings more.
	MaxLag      time.Duration
	LagCritical bool

	// Marked gives, by loop, the last good round: the scheduler's Marked. Loops
	// are names that must be among them; without them, one loop must be.
	Marked func() map[string]time.Time
	Loops  []string

	now func() time.Time
}

// Checks are the checks of the process, or an error where something that its
// tiers need is missing.
func (p Process) Checks() ([]Check, error) {
	if p.MaxLag <= 0 {
		p.MaxLag = defaultMaxLag
	}
	if p.now == nil {
		p.now = time.Now
	}
	lag := p.Worker && !p.API
	switch {
	case !p.API && !p.Worker && !p.Scheduler:
		return nil, errors.New("readiness: no tier")
	case p.Postgres == nil || p.Redis == nil:
		return nil, errors.New("readiness: every tier needs Postgres and Redis")
	case (p.API || p.Worker) && p.Objects == nil:
		return nil, errors.New("readiness: api and worker need Objects")
	case lag && (p.Lag == nil || len(p.Queues) == 0):
		return nil, errors.New("readiness: a worker needs Lag and Queues")
	case p.Scheduler && p.Marked == nil:
		return nil, errors.New("readiness: a scheduler needs Marked")
	}
	checks := []Check{
		{Name: "postgres", Func: p.Postgres, Critical: true},
		{Name: "redis", Func: p.Redis, Critical: !p.API},
	}
	if p.API || p.Worker {
		checks = append(checks, Check{Name: "objects", Func: p.Objects, Critical: true})
	}
	if lag {
		checks = append(checks, Check{Name: "queue_lag", Func: p.checkLag, Critical: p.LagCritical})
	}
	if p.Scheduler {
		checks = append(checks, Check{Name: "loops", Func: p.checkLoops, Critical: !p.API})
	}
	return checks, nil
}

// checkLag fails when the oldest due task of one of the queues is too old.
func (p Process) checkLag(ctx context.Context) error {
	lags, err := p.Lag(ctx)
	if err != nil {
		return err
	}
	var late []string
	for _, q := range p.Queues {
		if lag := lags[q]; lag > p.MaxLag {
			late = append(late, fmt.Sprintf("%s waits %s", q, lag.Round(time.Second)))
		}
	}
	if len(late) == 0 {
		return nil
	}
	slices.Sort(late)
	return &openError{fmt.Sprintf("%s; limit %s", strings.Join(late, ", "), p.MaxLag)}
}

// checkLoops fails when a loop has not ended a round well for a while.
func (p Process) checkLoops(context.Context) error {
	marked := p.Marked()
	if len(marked) == 0 && len(p.Loops) == 0 {
		return &openError{"no loop marked yet"}
	}
	var silent []string
	for _, name := range p.Loops {
		if _, ok := marked[name]; !ok {
			silent = append(silent, name)
		}
	}
	now := p.now()
	for name, last := range marked {
		if now.Sub(last) > maxSilence {
			silent = append(silent, name)
		}
	}
	if len(silent) == 0 {
		return nil
	}
	slices.Sort(silent)
	return &openError{"not marked for " + maxSilence.String() + ": " + strings.Join(silent, ", ")}
}
