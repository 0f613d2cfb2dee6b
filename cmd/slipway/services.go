package main

import (
	"context"
	"log/slog"
	"strings"

	"github.com/slipway-qa/slipway/api/ops"
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

// services are opened once and shared by the tiers of a process.
type services struct {
	settings   *settings
	log        *slog.Logger
	db         *storage.DB
	probe      *storage.DB // separate connections for readiness and metrics, which must not wait in a storm
	heartbeats *storage.DB // separate connections for heartbeats, relay and rescue, which must not wait for slow queries
	redis      *dispatch.Redis
	objects    *object.Connection
	ledger     *ledger.Store
	crashes    *crash.Store
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

// Connections to the database that a process keeps apart from its pool, so that neither
// readiness nor heartbeats wait behind work. SLIPWAY_DATABASE_CONNS counts them.
const (
	probeConns     = 2
	heartbeatConns = 4
	// listenConns hears of what was deleted.
	listenConns   = 1
	reservedConns = probeConns + heartbeatConns + listenConns
)

// openServices returns the services, and reaches none of them: a tier starts before
// its database, Redis and objects are there, serves what it can, reports the rest at
// /readyz and in its log, and goes on trying. An error is of settings with which it
// would never work.
func openServices(set *settings, log *slog.Logger, name string) (_ *services, err error) {
	watch := ops.NewDependencies(log)
	log = slog.New(watch.Handler(log.Handler()))
	s := &services{settings: set, log: log, dependencies: watch, failed: make(chan error, 4)}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	s.db, err = storage.Open(storage.Config{URL: string(set.DatabaseURL), MaxConns: set.DatabaseConns - reservedConns, ApplicationName: name,
		WrapConnector: set.watched.database.WrapConnector})
	if err != nil {
		return nil, err
	}
	s.probe, err = storage.Open(storage.Config{URL: string(set.DatabaseURL), MaxConns: probeConns, ApplicationName: name + "-probe"})
	if err != nil {
		return nil, err
	}
	s.heartbeats, err = storage.Open(storage.Config{URL: string(set.DatabaseURL), MaxConns: heartbeatConns,
		ApplicationName: name + "-heartbeats"})
	if err != nil {
		return nil, err
	}
	if s.keys, err = set.ring(); err != nil {
		return nil, err
	}
	if s.guard, err = outbound.New(outbound.Config{AllowPrivate: set.allowPrivate()}); err != nil {
		return nil, err
	}
	if s.pages, err = set.newPages(); err != nil {
		return nil, err
	}
	dispatch.LogTo(log)
	if s.redis, err = dispatch.OpenRedis(set.redis()); err != nil {
		return nil, err
	}
	if s.objects, err = set.connectObjects(); err != nil {
		return nil, err
	}
	if s.quotas, err = set.quotas(); err != nil {
		return nil, err
	}
	s.ledger = ledger.New(s.db)
	if s.crashes, err = crash.New(s.db); err != nil {
		return nil, err
	}
	s.relay = dispatch.NewRelay(s.redis, ledger.New(s.heartbeats), log)
	probe := ledger.New(s.probe)
	s.metrics = ops.NewMetrics(ops.MetricsConfig{Version: version(), Tasks: probe.Open, Depths: s.redis.Depths,
		Maintenance: probe.LastSucceeded, Overdue: schedule.Overdue(s.probe), Log: log})
	s.metrics.AddQuotas(func(ctx context.Context, most int) ([]quota.Share, error) {
		return s.quotas.Nearest(ctx, s.probe, most)
	}, log)
	watchServices(s)
	return s, nil
}

// connectObjects returns the object store, which need not be there yet. A bucket that
// is missing is created, and so is a folder.
func (s *settings) connectObjects() (*object.Connection, error) {
	return object.Connect(s.objects(true))
}

// removing is the object store for those whose Delete follows rows that went: objects
// stay for the time of the setting.
func removing(s *services) *removal.Store {
	return &removal.Store{Store: s.objects, DB: s.db, Delay: s.settings.DeleteDelay}
}

// objects describes the object store.
func (s *settings) objects(create bool) object.Config {
	public := s.ObjectsPublicURL
	if public == "" && !strings.HasPrefix(string(s.ObjectsURL), "s3:") {
		public = s.PublicURL
	}
	return object.Config{URL: string(s.ObjectsURL), CreateBucket: create, PublicURL: public, Journal: s.uploadJournal,
		SigningKey: []byte(s.SigningKey), OldSigningKeys: strings.Fields(string(s.SigningKeysOld)),
		Transport: s.watched.objects.Transport}
}

// close closes the connections that are open.
func (s *services) close() {
	if s.redis != nil {
		_ = s.redis.Close()
	}
	for _, db := range []*storage.DB{s.probe, s.heartbeats, s.db} {
		if db != nil {
			_ = db.Close()
		}
	}
	if s.objects != nil {
		_ = s.objects.Close()
	}
}

// readiness returns the checks of a process, with those of its services.
func (s *services) readiness(of ops.Process) (*ops.Readiness, error) {
	of.Postgres = func(ctx context.Context) error { return storage.CheckSchema(ctx, s.probe) }
	of.Redis, of.Objects = s.redis.Check, s.objects.Check
	if of.Scheduler {
		of.Loops = scheduler.Loops()
	}
	return of.Readiness(s.log, s.settings.ReadyCapabilities)
}
