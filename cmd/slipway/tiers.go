package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"sync"

	"github.com/slipway-qa/slipway/api"
	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/crash"
	"github.com/slipway-qa/slipway/api/intake"
	"github.com/slipway-qa/slipway/api/ops"
	"github.com/slipway-qa/slipway/api/task"
	"github.com/slipway-qa/slipway/api/wait"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/tasks/dispatch"
	"github.com/slipway-qa/slipway/worker"
)

type apiCommand struct{}

// Run serves the api until a signal.
func (apiCommand) Run(ctx context.Context, s *settings, log *slog.Logger) error {
	listener, err := net.Listen("tcp", s.Listen)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	defer listener.Close()
	if s.PublicURL == "" {
		s.PublicURL = "http://" + reachable(listener.Addr())
		log.Warn("SLIPWAY_PUBLIC_URL is not set; links are made from the address to listen at", "public_url", s.PublicURL)
	}
	return tier(ctx, s, log, "api", func(p *parts, stops *stack) error {
		fast, stopFast := p.startFast()
		stops.push(stopFast)
		committer := intake.NewCommitter(p.crashes, fast, log)
		stops.push(committer.Close)
		ready, err := p.readiness(ops.Process{API: true})
		if err != nil {
			return err
		}
		stop, err := p.startAPI(listener, fast, committer, ready)
		if err != nil {
			return err
		}
		stops.push(stop)
		log.Info("api started", "listen", listener.Addr().String(), "version", version())
		return nil
	})
}

type workerCommand struct{}

// Run works on tasks until a signal.
func (workerCommand) Run(ctx context.Context, s *settings, log *slog.Logger) error {
	return tier(ctx, s, log, "worker", func(p *parts, stops *stack) error {
		stop, err := p.startWorker(nil)
		if err != nil {
			return err
		}
		stops.push(stop)
		queues, err := servedQueues(s.WorkerPools)
		if err != nil {
			return err
		}
		return p.startOps(stops, ops.Process{Worker: true, Lag: ledger.New(p.probe).Lag, Queues: queues,
			MaxLag: s.ReadyLag, LagCritical: s.ReadyLagCritical})
	})
}

type schedulerCommand struct{}

// Run relays, rescues and triggers maintenance until a signal.
func (schedulerCommand) Run(ctx context.Context, s *settings, log *slog.Logger) error {
	return tier(ctx, s, log, "scheduler", func(p *parts, stops *stack) error {
		sched, err := p.startScheduler()
		if err != nil {
			return err
		}
		stops.push(sched.Stop)
		return p.startOps(stops, ops.Process{Scheduler: true, Marked: sched.Marked})
	})
}

// tier runs one production tier: connect, start, wait, stop in reverse order.
func tier(ctx context.Context, s *settings, log *slog.Logger, name string, start func(*parts, *stack) error) error {
	if err := s.required(name); err != nil {
		return err
	}
	if err := s.bounds(); err != nil {
		return err
	}
	starting, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	p, err := openParts(starting, s, log, "slipway-"+name)
	if err != nil {
		return err
	}
	defer p.close()
	var stops stack
	defer stops.run()
	if err := start(p, &stops); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		log.Info("stopping", "tier", name)
		return nil
	case err := <-p.failed:
		return err
	}
}

// startOps serves health and metrics of a worker or scheduler.
func (p *parts) startOps(stops *stack, of ops.Process) error {
	if p.s.OpsListen == "" {
		return nil
	}
	ready, err := p.readiness(of)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", p.s.OpsListen)
	if err != nil {
		return fmt.Errorf("listen for health and metrics: %w", err)
	}
	stop := p.serve(listener, ops.Mux(version(), ready, p.metrics))
	stops.push(func() {
		ready.Drain()
		stop()
	})
	p.log.Info("started", "ops_listen", listener.Addr().String(), "version", version())
	return nil
}

// servedQueues are the queues of the pools of a worker.
func servedQueues(text string) ([]string, error) {
	pools, err := worker.ParsePools(text)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	var queues []string
	for _, pool := range pools {
		for q := range pool.Queues {
			if !seen[q] {
				seen[q] = true
				queues = append(queues, q)
			}
		}
	}
	return sorted(queues), nil
}

// startAPI assembles the api's rooms and serves them.
func (p *parts) startAPI(listener net.Listener, fast *dispatch.Fast, committer *intake.Committer, ready *ops.Readiness) (stop func(), err error) {
	var stops stack
	defer func() {
		if err != nil {
			stops.run()
		}
	}()
	public, err := url.Parse(p.s.PublicURL)
	if err != nil || public.Host == "" {
		return nil, fmt.Errorf("SLIPWAY_PUBLIC_URL must be an address such as https://qa.example.com")
	}
	authenticator, err := auth.New(auth.Config{DB: p.db, Region: p.s.Region, BaseDomain: p.s.BaseDomain,
		PublicHost: public.Hostname(), Log: p.log})
	if err != nil {
		return nil, err
	}
	receiver, err := intake.New(intake.Config{Submitter: committer, Store: p.crashes, Objects: p.objects,
		Region: p.s.Region, Leaks: intake.NewLeaks(p.db, p.log), Observer: p.metrics.Observer(), Log: p.log,
		Limits: intake.Limits{Report: p.s.CrashReportBytes, Attachment: p.s.CrashAttachmentBytes,
			Attachments: p.s.CrashAttachments, InFlight: p.s.CrashBytesInFlight}})
	if err != nil {
		return nil, err
	}
	stops.push(receiver.Close)
	console, err := ops.NewConsole(p.redis)
	if err != nil {
		return nil, err
	}
	stops.push(func() { _ = console.Close() })
	keys, err := account.NewIssuer(p.s.Region, nil)
	if err != nil {
		return nil, err
	}
	watcher := wait.NewWatcher(wait.Config{Ended: p.ledger.Ended, Log: p.log})
	stopWatcher := loop(watcher.Run)
	stops.push(stopWatcher)
	rooms := api.Rooms{Tasks: task.New(p.ledger, watcher), Crashes: crash.New(p.crashes, p.objects, keys), Intake: receiver,
		Ops: &ops.Handlers{Health: ops.Health(version()), Ready: ready, Metrics: p.metrics, Console: console, DB: p.db,
			ProtectMetrics: !p.s.MetricsPublic}}
	if err := p.addBuilds(&rooms, keys, authenticator, fast); err != nil {
		return nil, err
	}
	stopRunWatcher, err := p.addTests(&rooms, fast)
	if err != nil {
		return nil, err
	}
	stops.push(stopRunWatcher)
	if folder, ok := p.objects.(*object.Folder); ok {
		rooms.Objects = folder.ServeSigned()
	}
	handler, err := api.New(api.Config{Log: p.log, Auth: authenticator, Routes: rooms.Routes(), Observer: p.metrics.Observer(),
		TrustedProxies: p.s.TrustedProxies, HTTPS: public.Scheme == "https"})
	if err != nil {
		return nil, err
	}
	stopServer := p.serve(listener, handler)
	stops.push(func() {
		ready.Drain()
		stopWatcher() // ends the waits of callers of ?wait=, who would hold the server up
		stopRunWatcher()
		stopServer()
	})
	return stops.run, nil
}

// loop starts a loop and gives what ends it and waits for its end.
func loop(work func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() { work(ctx) })
	return func() {
		cancel()
		done.Wait()
	}
}
