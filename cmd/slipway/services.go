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
	objects    object.Store
	ledger     *ledger.Store
	crashes    *crash.Store
	relay      *dispatch.Relay
	guard      *outbound.Guard
	pages      outbound.Pages // the addresses that tests may open
	metrics    *ops.Metrics
	// failed receives the error of a listener that ended by itself.
	failed chan error
}

// openServices connects to the services. It waits only for the object store, to
// create its bucket: a tier that starts before its database is there reports that
// at /readyz.
func openServices(ctx context.Context, set *settings, log *slog.Logger, name string) (_ *services, err error) {
	s := &services{settings: set, log: log, failed: make(chan error, 4)}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	s.db, err = storage.Open(storage.Config{URL: string(set.DatabaseURL), MaxConns: set.DatabaseConns, ApplicationName: name})
	if err != nil {
		return nil, err
	}
	s.probe, err = storage.Open(storage.Config{URL: string(set.DatabaseURL), MaxConns: 2, ApplicationName: name + "-probe"})
	if err != nil {
		return nil, err
	}
	s.heartbeats, err = storage.Open(storage.Config{URL: string(set.DatabaseURL), MaxConns: 4, ApplicationName: name + "-heartbeats"})
	if err != nil {
		return nil, err
	}
	if s.guard, err = outbound.New(outbound.Config{AllowPrivate: set.allowPrivate()}); err != nil {
		return nil, err
	}
	if s.pages, err = set.newPages(); err != nil {
		return nil, err
	}
	dispatch.LogTo(log)
	if s.redis, err = dispatch.OpenRedis(string(set.RedisURL)); err != nil {
		return nil, err
	}
	if s.objects, err = openObjects(ctx, set, true); err != nil {
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
	return s, nil
}

// openObjects opens the object store. With create it creates a bucket that is
// missing; a folder is created in any case.
func openObjects(ctx context.Context, set *settings, create bool) (object.Store, error) {
	public := set.ObjectsPublicURL
	if public == "" && !strings.HasPrefix(string(set.ObjectsURL), "s3:") {
		public = set.PublicURL
	}
	return object.Open(ctx, object.Config{URL: string(set.ObjectsURL), CreateBucket: create, PublicURL: public,
		SigningKey: []byte(set.SigningKey)})
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
	checks, err := of.Checks()
	if err != nil {
		return nil, err
	}
	return ops.NewReadiness(checks, s.log), nil
}
