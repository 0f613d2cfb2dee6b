// Package tier opens the services and starts the three tiers of a deployment: api, worker and
// scheduler.
//
// A tier goes one straight way (run): check the settings, open the services, connect what the tier
// consists of, wait for a signal, and stop everything in reverse order. What is connected to what
// stands in a file for each part: api.go has the rooms of the api, worker.go the handlers of tasks,
// the others what these two are made of. slipway up starts all three in one process (StartAll).
//
// Services need not be there when a tier starts: Open reaches none of them, what can be served is
// served, and the rest is reported at /readyz and in the log. Open fails only for settings with which
// the tier would never work. A signing key that is not the installation's ends the process, at the
// start or once the database is there (CheckKeys).
//
// A stop takes no longer than StopLimit: then something hangs, and the process ends. The ledger
// restores what it was doing.
package tier

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/slipway-qa/slipway/api/intake"
	"github.com/slipway-qa/slipway/api/ops"
	"github.com/slipway-qa/slipway/cmd/slipway/setting"
	"github.com/slipway-qa/slipway/cmd/slipway/terminal"
	"github.com/slipway-qa/slipway/cmd/slipway/version"
	"github.com/slipway-qa/slipway/storage/ledger"
	workcrash "github.com/slipway-qa/slipway/worker/crash"
)

// StopDelay lets a balancer probe twice at its usual two seconds.
const StopDelay = 5 * time.Second

// API is slipway api.
type API struct{}

// Run serves the api until a signal.
func (API) Run(ctx context.Context, set *setting.Settings, log *slog.Logger) error {
	listener, err := net.Listen("tcp", set.Listen)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	defer listener.Close()
	delay := set.StopDelayOr(StopDelay)
	set.StopDelay = &delay
	if set.PublicURL == "" {
		set.PublicURL = "http://" + setting.Reachable(listener.Addr())
		log.Warn("SLIPWAY_PUBLIC_URL is not set; links are made from the address to listen at", "public_url", set.PublicURL)
	}
	return runTier(ctx, set, log, "api", func(s *Services, stops *cleanups) error {
		queue, stopQueue := s.StartEnqueuer()
		stops.add(stopQueue)
		committer := intake.NewCommitter(s.Crashes, queue, s.Log)
		stops.add(committer.Close)
		ready, err := s.Readiness(ops.Process{API: true})
		if err != nil {
			return err
		}
		stop, err := s.StartAPI(listener, queue, committer, ready)
		if err != nil {
			return err
		}
		stops.add(stop)
		log.Info("api started", "listen", listener.Addr().String(), "version", version.Short(), terminal.Routine, true)
		return nil
	})
}

// Worker is slipway worker.
type Worker struct{}

// Run works on tasks until a signal.
func (Worker) Run(ctx context.Context, set *setting.Settings, log *slog.Logger) error {
	return runTier(ctx, set, log, "worker", func(s *Services, stops *cleanups) error {
		stop, err := s.StartWorker(nil)
		if err != nil {
			return err
		}
		stops.add(stop)
		queues, others, err := workerChecks(s)
		if err != nil {
			return err
		}
		return s.startOps(stops, ops.Process{Worker: true, Lag: ledger.New(s.probe).Lag, Queues: queues, Others: others,
			MaxLag: set.ReadyLag, LagCritical: set.ReadyLagCritical})
	})
}

// Scheduler is slipway scheduler.
type Scheduler struct{}

// Run relays tasks, rescues them and triggers maintenance until a signal.
func (Scheduler) Run(ctx context.Context, set *setting.Settings, log *slog.Logger) error {
	return runTier(ctx, set, log, "scheduler", func(s *Services, stops *cleanups) error {
		sched, err := s.startScheduler()
		if err != nil {
			return err
		}
		stops.add(sched.Stop)
		return s.startOps(stops, ops.Process{Scheduler: true, Marked: sched.Marked})
	})
}

// runTier runs one production tier: open the services, start the tier, wait for a
// signal, stop in reverse order.
func runTier(ctx context.Context, set *setting.Settings, log *slog.Logger, name string, start func(*Services, *cleanups) error) error {
	if err := set.Required(name); err != nil {
		return err
	}
	if err := set.Bounds(); err != nil {
		return err
	}
	set.StartAddresses(nil, log)
	s, err := Open(set, log, "slipway-"+name)
	if err != nil {
		return err
	}
	defer s.Close()
	stopKeys, err := s.CheckKeys(ctx, name)
	if err != nil {
		return err
	}
	defer stopKeys()
	var stops cleanups
	defer s.StopInTime(stops.run)
	if err := start(s, &stops); err != nil {
		return err
	}
	// Until the tier has stopped: what the log says of an outage comes from there, and the
	// end of a look at something that hangs must not delay the stop's first step.
	stops.addLast(s.StartWatching())
	stops.addLast(StartLoop(func(ctx context.Context) { warnNewer(ctx, s.probe, s.Log) }))
	select {
	case <-ctx.Done():
		log.Info("stopping", "tier", name, terminal.Routine, true)
		return nil
	case err := <-s.failed:
		return err
	}
}

// workerChecks returns the queues that a worker serves and the checks of what it uses
// for them.
func workerChecks(s *Services) (queues []string, others map[string]func(context.Context) error, err error) {
	if queues, err = servedQueues(s.Settings.WorkerPools); err != nil {
		return nil, nil, err
	}
	others, err = watchWork(s)
	return queues, others, err
}

// StartAll starts the three tiers and returns what stops them: first the api, so
// that nothing new comes in, then the worker, then the scheduler.
func (s *Services) StartAll(listener net.Listener) (stop func(), err error) {
	var stops cleanups
	defer func() {
		if err != nil {
			stops.run()
		}
	}()
	sched, err := s.startScheduler()
	if err != nil {
		return nil, err
	}
	stops.add(sched.Stop)
	queue, stopQueue := s.StartEnqueuer()
	stops.add(stopQueue)
	committer := intake.NewCommitter(s.Crashes, queue, s.Log)
	stopWorker, err := s.StartWorker(workcrash.NewThrottle(committer.Crowd))
	if err != nil {
		return nil, err
	}
	stops.add(stopWorker)
	stops.add(committer.Close)
	queues, others, err := workerChecks(s)
	if err != nil {
		return nil, err
	}
	ready, err := s.Readiness(ops.Process{API: true, Worker: true, Scheduler: true, Marked: sched.Marked, Queues: queues, Others: others})
	if err != nil {
		return nil, err
	}
	stopAPI, err := s.StartAPI(listener, queue, committer, ready)
	if err != nil {
		return nil, err
	}
	stops.add(stopAPI)
	return stops.run, nil
}
