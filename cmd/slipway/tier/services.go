package tier

import (
	"context"
	"log/slog"

	"github.com/slipway-qa/slipway/api/ops"
	"github.com/slipway-qa/slipway/cmd/slipway/setting"
	"github.com/slipway-qa/slipway/cmd/slipway/version"
	"github.com/slipway-qa/slipway/scheduler"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/storage/quota"
	"github.com/slipway-qa/slipway/storage/removal"
	"github.com/slipway-qa/slipway/storage/seal"
	"github.com/slipway-qa/slipway/tasks/dispatch"
	"github.com/slipway-qa/slipway/tasks/outbound"
	"github.com/slipway-qa/slipway/worker/schedule"
)

// Services are opened once and shared by the tiers of a process.
type Services struct {
	Settings   *setting.Settings
	Log        *slog.Logger
	DB         *storage.DB
	probe      *storage.DB // separate connections for readiness and metrics, which must not wait in a storm
	heartbeats *storage.DB // separate connections for heartbeats, relay and rescue, which must not wait for slow queries
	Redis      *dispatch.Redis
	Objects    *object.Connection
	Ledger     *ledger.Store
	Crashes    *crash.Store
	relay      *dispatch.Relay
	keys       seal.Ring
	guard      *outbound.Guard
	pages      outbound.Pages // the addresses that tests may open
	metrics    *ops.Metrics
	quotas     *quota.Quotas
	// dependencies watches what the process depends on, and logs its troubles.
	dependencies *ops.Dependencies
	// failed receives the error of a listener that ended by itself.
	failed chan error
}

// Open returns the services, and reaches none of them: a tier starts before
// its database, Redis and objects are there, serves what it can, reports the rest at
// /readyz and in its log, and goes on trying. An error is of settings with which it
// would never work.
func Open(set *setting.Settings, log *slog.Logger, name string) (_ *Services, err error) {
	watch := ops.NewDependencies(log)
	log = slog.New(watch.Handler(log.Handler()))
	s := &Services{Settings: set, Log: log, dependencies: watch, failed: make(chan error, 4)}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	s.DB, err = storage.Open(storage.Config{URL: string(set.DatabaseURL), MaxConns: set.DatabaseConns - setting.ReservedConns,
		ApplicationName: name,
		WrapConnector:   set.Watched.Database.WrapConnector})
	if err != nil {
		return nil, err
	}
	s.probe, err = storage.Open(storage.Config{URL: string(set.DatabaseURL), MaxConns: setting.ProbeConns, ApplicationName: name + "-probe"})
	if err != nil {
		return nil, err
	}
	s.heartbeats, err = storage.Open(storage.Config{URL: string(set.DatabaseURL), MaxConns: setting.HeartbeatConns,
		ApplicationName: name + "-heartbeats"})
	if err != nil {
		return nil, err
	}
	if s.keys, err = set.Ring(); err != nil {
		return nil, err
	}
	if s.guard, err = outbound.New(outbound.Config{AllowPrivate: set.AllowPrivate()}); err != nil {
		return nil, err
	}
	if s.pages, err = newPages(set); err != nil {
		return nil, err
	}
	dispatch.LogTo(log)
	if s.Redis, err = dispatch.OpenRedis(set.Redis()); err != nil {
		return nil, err
	}
	// A bucket that is missing is created, and so is a folder.
	if s.Objects, err = object.Connect(set.Objects(true)); err != nil {
		return nil, err
	}
	if s.quotas, err = set.Quotas(); err != nil {
		return nil, err
	}
	s.Ledger = ledger.New(s.DB)
	if s.Crashes, err = crash.New(s.DB); err != nil {
		return nil, err
	}
	s.relay = dispatch.NewRelay(s.Redis, ledger.New(s.heartbeats), log)
	probe := ledger.New(s.probe)
	s.metrics = ops.NewMetrics(ops.MetricsConfig{Version: version.Short(), Tasks: probe.Open, Depths: s.Redis.Depths,
		Maintenance: probe.LastSucceeded, Overdue: schedule.Overdue(s.probe), Log: log})
	s.metrics.AddQuotas(func(ctx context.Context, most int) ([]quota.Share, error) {
		return s.quotas.Nearest(ctx, s.probe, most)
	}, log)
	watchServices(s)
	return s, nil
}

// removing is the object store for those whose Delete follows rows that went: objects
// stay for the time of the setting.
func removing(s *Services) *removal.Store {
	return &removal.Store{Store: s.Objects, DB: s.DB, Delay: s.Settings.DeleteDelay}
}

// Close closes the connections that are open.
func (s *Services) Close() {
	if s.Redis != nil {
		_ = s.Redis.Close()
	}
	for _, db := range []*storage.DB{s.probe, s.heartbeats, s.DB} {
		if db != nil {
			_ = db.Close()
		}
	}
	if s.Objects != nil {
		_ = s.Objects.Close()
	}
}

// Ended receives the error of a listener, or of a later check of the keys, with which the
// process has to end.
func (s *Services) Ended() <-chan error { return s.failed }

// StartWatching looks at what the process depends on until stop.
func (s *Services) StartWatching() (stop func()) { return StartLoop(s.dependencies.Run) }

// Readiness returns the checks of a process, with those of its services.
func (s *Services) Readiness(of ops.Process) (*ops.Readiness, error) {
	of.Postgres = func(ctx context.Context) error { return storage.CheckSchema(ctx, s.probe) }
	of.Redis, of.Objects = s.Redis.Check, s.Objects.Check
	if of.Scheduler {
		of.Loops = scheduler.Loops()
	}
	return of.Readiness(s.Log, s.Settings.ReadyCapabilities)
}
