package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"

	"github.com/slipway-qa/slipway/api/intake"
	"github.com/slipway-qa/slipway/api/ops"
	"github.com/slipway-qa/slipway/cmd/slipway/terminal"
	"github.com/slipway-qa/slipway/storage/ledger"
	workcrash "github.com/slipway-qa/slipway/worker/crash"
)

type apiCommand struct{}

// Run serves the api until a signal.
func (apiCommand) Run(ctx context.Context, set *settings, log *slog.Logger) error {
	listener, err := net.Listen("tcp", set.Listen)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	defer listener.Close()
	delay := set.stopDelay(tierStopDelay)
	set.StopDelay = &delay
	if set.PublicURL == "" {
		set.PublicURL = "http://" + reachable(listener.Addr())
		log.Warn("SLIPWAY_PUBLIC_URL is not set; links are made from the address to listen at", "public_url", set.PublicURL)
	}
	return runTier(ctx, set, log, "api", func(s *services, stops *cleanups) error {
		queue, stopQueue := s.startEnqueuer()
		stops.add(stopQueue)
		committer := intake.NewCommitter(s.crashes, queue, s.log)
		stops.add(committer.Close)
		ready, err := s.readiness(ops.Process{API: true})
		if err != nil {
			return err
		}
		stop, err := s.startAPI(listener, queue, committer, ready)
		if err != nil {
			return err
		}
		stops.add(stop)
		log.Info("api started", "listen", listener.Addr().String(), "version", version(), terminal.Routine, true)
		return nil
	})
}

type workerCommand struct{}

// Run works on tasks until a signal.
func (workerCommand) Run(ctx context.Context, set *settings, log *slog.Logger) error {
	return runTier(ctx, set, log, "worker", func(s *services, stops *cleanups) error {
		stop, err := s.startWorker(nil)
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

type schedulerCommand struct{}

// Run relays tasks, rescues them and triggers maintenance until a signal.
func (schedulerCommand) Run(ctx context.Context, set *settings, log *slog.Logger) error {
	return runTier(ctx, set, log, "scheduler", func(s *services, stops *cleanups) error {
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
func runTier(ctx context.Context, set *settings, log *slog.Logger, name string, start func(*services, *cleanups) error) error {
	if err := set.required(name); err != nil {
		return err
	}
	if err := set.bounds(); err != nil {
		return err
	}
	set.startAddresses(nil, log)
	s, err := openServices(set, log, "slipway-"+name)
	if err != nil {
		return err
	}
	defer s.close()
	stopKeys, err := keyCheck{s.probe, s.keys, s.failed}.start(ctx, name)
	if err != nil {
		return err
	}
	defer stopKeys()
	var stops cleanups
	defer s.stopInTime(stops.run)
	if err := start(s, &stops); err != nil {
		return err
	}
	// Until the tier has stopped: what the log says of an outage comes from there, and the
	// end of a look at something that hangs must not delay the stop's first step.
	stops.addLast(startLoop(s.dependencies.Run))
	stops.addLast(startLoop(func(ctx context.Context) { warnNewer(ctx, s.probe, s.log) }))
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
func workerChecks(s *services) (queues []string, others map[string]func(context.Context) error, err error) {
	if queues, err = servedQueues(s.settings.WorkerPools); err != nil {
		return nil, nil, err
	}
	others, err = watchWork(s)
	return queues, others, err
}

// startAll starts the three tiers and returns what stops them: first the api, so
// that nothing new comes in, then the worker, then the scheduler.
func (s *services) startAll(listener net.Listener) (stop func(), err error) {
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
	queue, stopQueue := s.startEnqueuer()
	stops.add(stopQueue)
	committer := intake.NewCommitter(s.crashes, queue, s.log)
	stopWorker, err := s.startWorker(workcrash.NewThrottle(committer.Crowd))
	if err != nil {
		return nil, err
	}
	stops.add(stopWorker)
	stops.add(committer.Close)
	queues, others, err := workerChecks(s)
	if err != nil {
		return nil, err
	}
	ready, err := s.readiness(ops.Process{API: true, Worker: true, Scheduler: true, Marked: sched.Marked, Queues: queues, Others: others})
	if err != nil {
		return nil, err
	}
	stopAPI, err := s.startAPI(listener, queue, committer, ready)
	if err != nil {
		return nil, err
	}
	stops.add(stopAPI)
	return stops.run, nil
}
