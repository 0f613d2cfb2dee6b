package ops

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
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
	// checkLoops is the name of the check of a scheduler's loops.
	checkLoops = "loops"
	// checkLag is the name of the check of a worker's backlog.
	checkLag = "queue_lag"
)

// Process says which tiers a process runs and what they depend on. Checks makes the
// readiness checks out of it, Readiness the handler with the capabilities of the tiers
// (capability.go). A process is unavailable when all of its capabilities are:
//
//	            api             worker          scheduler
//	postgres    all             all             all
//	objects     files           files           -
//	redis       later           all             all but rescue
//	queue_lag   -               by setting      -
//	loops       -               -               all
//	mail_server -               mail            -
//	browsers    -               runs, generation
//	model       -               some generations
//
// A process that serves the api stays in while it can accept anything: requests must
// not be turned away because work behind them is late.
type Process struct {
	API, Worker, Scheduler bool

	// Postgres, Redis and Objects are the Check methods of the dependencies.
	// Give Postgres a small pool of its own: behind a pool that a storm has
	// filled, a check would wait and call the database down.
	Postgres, Redis, Objects func(context.Context) error
	// Others are the checks of what only a worker uses: MailServer, Browsers, Model.
	Others map[string]func(context.Context) error

	// Lag returns the age of the oldest due task by queue: the ledger's Lag. Only
	// a process that is a worker and not the api needs it. Queues are those that a
	// worker serves, and say what it is capable of.
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
		{Name: Postgres, Func: p.Postgres},
		{Name: Redis, Func: p.Redis},
	}
	if p.API || p.Worker {
		checks = append(checks, Check{Name: Objects, Func: p.Objects})
	}
	for _, name := range slices.Sorted(maps.Keys(p.Others)) {
		checks = append(checks, Check{Name: name, Func: p.Others[name]})
	}
	if lag {
		checks = append(checks, Check{Name: checkLag, Func: p.lookAtLag, Critical: p.LagCritical})
	}
	if p.Scheduler {
		checks = append(checks, Check{Name: checkLoops, Func: p.lookAtLoops})
	}
	return checks, nil
}

// Readiness returns the handler of /readyz of the process. The process is also
// unavailable when one of the required capabilities is.
func (p Process) Readiness(log *slog.Logger, required []string) (*Readiness, error) {
	checks, err := p.Checks()
	if err != nil {
		return nil, err
	}
	r := NewReadiness(checks, log, p.capabilities()...)
	return r, r.Require(required)
}

// lookAtLag fails when the oldest due task of one of the queues is too old.
func (p Process) lookAtLag(ctx context.Context) error {
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

// lookAtLoops fails when a loop has not ended a round well for a while.
func (p Process) lookAtLoops(context.Context) error {
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
