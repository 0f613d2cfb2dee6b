package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	runstore "github.com/slipway-qa/slipway/storage/run"

	"github.com/slipway-qa/slipway/api/intake"
	"github.com/slipway-qa/slipway/api/ops"
	"github.com/slipway-qa/slipway/scheduler"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/tasks/dispatch"
	"github.com/slipway-qa/slipway/tasks/outbound"
	"github.com/slipway-qa/slipway/worker"
	workcrash "github.com/slipway-qa/slipway/worker/crash"
	"github.com/slipway-qa/slipway/worker/maintenance"
	"github.com/slipway-qa/slipway/worker/schedule"
)

// parts are what the tiers of a process share.
type parts struct {
	s       *settings
	log     *slog.Logger
	db      *storage.DB
	probe   *storage.DB // two connections for readiness and metrics, never behind a storm
	beats   *storage.DB // some for heartbeats, relay and rescue, never behind slow queries
	redis   *dispatch.Redis
	objects object.Store
	ledger  *ledger.Store
	crashes *crash.Store
	relay   *dispatch.Relay
	guard   *outbound.Guard
	pages   outbound.Pages // what tests may open
	metrics *ops.Metrics
	// failed gets the error of a listener that ended by itself.
	failed chan error
}

// openParts connects to the services. It waits for none of them but the object
// store, whose bucket it makes: a tier that starts before its database serves
// its readiness meanwhile.
func openParts(ctx context.Context, s *settings, log *slog.Logger, name string) (*parts, error) {
	p := &parts{s: s, log: log, failed: make(chan error, 4)}
	var err error
	p.db, err = storage.Open(storage.Config{URL: string(s.DatabaseURL), MaxConns: s.DatabaseConns, ApplicationName: name})
	if err != nil {
		return nil, err
	}
	p.probe, err = storage.Open(storage.Config{URL: string(s.DatabaseURL), MaxConns: 2, ApplicationName: name + "-probe"})
	if err != nil {
		p.close()
		return nil, err
	}
	p.beats, err = storage.Open(storage.Config{URL: string(s.DatabaseURL), MaxConns: 4, ApplicationName: name + "-beats"})
	if err != nil {
		p.close()
		return nil, err
	}
	if p.guard, err = outbound.New(outbound.Config{AllowPrivate: s.allowPrivate()}); err != nil {
		p.close()
		return nil, err
	}
	if p.pages, err = s.newPages(); err != nil {
		p.close()
		return nil, err
	}
	dispatch.LogTo(log)
	if p.redis, err = dispatch.OpenRedis(string(s.RedisURL)); err != nil {
		p.close()
		return nil, err
	}
	if p.objects, err = openObjects(ctx, s, true); err != nil {
		p.close()
		return nil, err
	}
	p.ledger = ledger.New(p.db)
	if p.crashes, err = crash.New(p.db); err != nil {
		p.close()
		return nil, err
	}
	p.relay = dispatch.NewRelay(p.redis, ledger.New(p.beats), log)
	probe := ledger.New(p.probe)
	p.metrics = ops.NewMetrics(ops.MetricsConfig{Version: version(), Tasks: probe.Open, Depths: p.redis.Depths,
		Maintenance: probe.LastSucceeded, Overdue: schedule.Overdue(p.probe), Log: log})
	return p, nil
}

// openObjects opens the object store; create makes a bucket that is not there
// yet. A folder is made in any case.
func openObjects(ctx context.Context, s *settings, create bool) (object.Store, error) {
	public := s.ObjectsPublicURL
	if public == "" && !strings.HasPrefix(string(s.ObjectsURL), "s3:") {
		public = s.PublicURL
	}
	return object.Open(ctx, object.Config{URL: string(s.ObjectsURL), CreateBucket: create, PublicURL: public,
		SigningKey: []byte(s.SigningKey)})
}

func (p *parts) close() {
	if p.redis != nil {
		_ = p.redis.Close()
	}
	for _, db := range []*storage.DB{p.probe, p.beats, p.db} {
		if db != nil {
			_ = db.Close()
		}
	}
	if p.objects != nil {
		_ = p.objects.Close()
	}
}

// startWorker starts the pools with a handler for every kind, and gives what stops
// them. The throttle, nil where no api runs beside, slows crash processing down.
func (p *parts) startWorker(throttle *workcrash.Throttle) (stop func(), err error) {
	pools, err := worker.ParsePools(p.s.WorkerPools)
	if err != nil {
		return nil, err
	}
	// A report whose task died is found and purged through the task, so the task
	// stays as long as reports do.
	dead := max(4*p.s.TaskDays, p.s.CrashDays)
	prune, err := maintenance.NewLedgerRetention(p.ledger, days(p.s.TaskDays), days(dead))
	if err != nil {
		return nil, err
	}
	expire, err := workcrash.NewRetention(p.crashes, p.objects, p.s.CrashDays, p.log)
	if err != nil {
		return nil, err
	}
	watch := p.metrics.Observer()
	handlers := map[string]worker.Handler{
		tasks.CrashProcess.Name:    &workcrash.Process{Store: p.crashes, Observer: watch, Throttle: throttle, Log: p.log},
		tasks.CrashPurge.Name:      &workcrash.Purge{Store: p.crashes, Ledger: p.ledger, Objects: p.objects, Log: p.log},
		tasks.CrashRetention.Name:  expire,
		tasks.LedgerRetention.Name: prune,
		tasks.ObjectSweep.Name: maintenance.NewObjectSweep(p.objects, map[string]maintenance.Names{
			crash.AttachmentPrefix: p.crashes.UnnamedObjects, distribution.Prefix: p.unnamedFiles, runstore.Prefix: p.unnamedRunFiles}),
	}
	if err := p.addBuildWork(handlers); err != nil {
		return nil, err
	}
	stopBrowsers, err := p.addTestWork(handlers, pools)
	if err != nil {
		return nil, err
	}
	w, err := worker.New(worker.Config{Redis: p.redis, Ledger: p.ledger, Heartbeats: ledger.New(p.beats), Pools: pools,
		Drain: p.s.WorkerDrain, Observer: watch, Log: p.log, Handlers: handlers,
		KeyLimits: map[string]int{tasks.TestJob.Name: p.s.RunParallel}})
	if err == nil {
		err = w.Start()
	}
	if err != nil {
		stopBrowsers()
		return nil, err
	}
	return func() {
		w.Stop()
		stopBrowsers()
	}, nil
}

func days(n int) time.Duration { return time.Duration(n) * 24 * time.Hour }

func (p *parts) startScheduler() (*scheduler.Scheduler, error) {
	s := scheduler.New(scheduler.Config{Redis: p.redis, Ledger: ledger.New(p.beats), Relay: p.relay, Log: p.log})
	return s, s.Start()
}

// startAll starts the three tiers and gives what stops them: first the api, so
// that nothing new comes in, then the worker, then the scheduler.
func (p *parts) startAll(listener net.Listener) (stop func(), err error) {
	var stops stack
	defer func() {
		if err != nil {
			stops.run()
		}
	}()
	sched, err := p.startScheduler()
	if err != nil {
		return nil, err
	}
	stops.push(sched.Stop)
	fast, stopFast := p.startFast()
	stops.push(stopFast)
	committer := intake.NewCommitter(p.crashes, fast, p.log)
	stopWorker, err := p.startWorker(workcrash.NewThrottle(committer.Crowd))
	if err != nil {
		return nil, err
	}
	stops.push(stopWorker)
	stops.push(committer.Close)
	ready, err := p.readiness(ops.Process{API: true, Worker: true, Scheduler: true, Marked: sched.Marked})
	if err != nil {
		return nil, err
	}
	stopAPI, err := p.startAPI(listener, fast, committer, ready)
	if err != nil {
		return nil, err
	}
	stops.push(stopAPI)
	return stops.run, nil
}

// startFast starts the fast path of dispatch.
func (p *parts) startFast() (*dispatch.Fast, func()) {
	fast := dispatch.NewFast(p.redis, p.ledger, p.log)
	return fast, loop(fast.Run)
}

// readiness fills in the checks of the process's dependencies.
func (p *parts) readiness(of ops.Process) (*ops.Readiness, error) {
	of.Postgres = func(ctx context.Context) error { return storage.CheckSchema(ctx, p.probe) }
	of.Redis, of.Objects = p.redis.Check, p.objects.Check
	if of.Scheduler {
		of.Loops = scheduler.Loops()
	}
	checks, err := of.Checks()
	if err != nil {
		return nil, err
	}
	return ops.NewReadiness(checks, p.log), nil
}

// stack is what to do at the end, last first.
type stack struct{ steps []func() }

func (s *stack) push(f func()) { s.steps = append(s.steps, f) }

func (s *stack) run() {
	for i := len(s.steps) - 1; i >= 0; i-- {
		s.steps[i]()
	}
	s.steps = nil
}

// requestGrace is what requests under way get at a stop: an ordinary one ends
// within its deadline of 30 s, and a crash submission that waits its turn within
// that too. compose.yaml adds it to what follows it in stop_grace_period.
const requestGrace = 35 * time.Second

// serve runs an HTTP server and gives what stops it: new connections are
// refused, requests under way get requestGrace.
func (p *parts) serve(listener net.Listener, handler http.Handler) (stop func()) {
	server := &http.Server{Handler: handler,
		// A client that never finishes its headers must not hold a connection;
		// bodies have deadlines of their own in the router.
		ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(p.log.Handler(), slog.LevelDebug)}
	var done sync.WaitGroup
	done.Go(func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			p.failed <- fmt.Errorf("serve %s: %w", listener.Addr(), err)
		}
	})
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), requestGrace)
		defer cancel()
		if err := server.Shutdown(ctx); err != nil {
			_ = server.Close()
		}
		done.Wait()
	}
}
