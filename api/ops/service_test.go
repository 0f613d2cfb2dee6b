package ops

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/tasks/dispatch"
)

func openRedis(t *testing.T, url string) *dispatch.Redis {
	t.Helper()
	r, err := dispatch.OpenRedis(dispatch.RedisConfig{URL: url})
	require.NoError(t, err)
	t.Cleanup(func() { _ = r.Close() })
	return r
}

// TestReadinessOfServices runs the checks of all tiers against real servers,
// then takes Redis away: the api stays in, the worker goes out.
func TestReadinessOfServices(t *testing.T) {
	t.Parallel()
	db, redis := servicetest.DB(t), openRedis(t, servicetest.RedisServer(t))
	store := ledger.New(db)
	tier := func(api bool) *Readiness {
		r, err := Process{API: api, Worker: !api, Postgres: db.Check, Redis: redis.Check, Objects: fine,
			Lag: store.Lag, Queues: tasks.Queues()}.Readiness(discard(), nil)
		require.NoError(t, err)
		return r
	}
	api, worker := tier(true), tier(false)
	for _, r := range []*Readiness{api, worker} {
		code, rep := ready(t, r)
		require.Equal(t, 200, code)
		require.Equal(t, "ok", rep.Status)
	}

	_ = redis.Client().ShutdownNoSave(t.Context())
	require.Eventually(t, func() bool { return redis.Check(t.Context()) != nil }, time.Minute, 20*time.Millisecond)
	api, worker = tier(true), tier(false)
	code, rep := ready(t, api)
	require.Equal(t, 200, code)
	require.Equal(t, "degraded", rep.Status)
	require.Equal(t, "connection refused", rep.Checks["redis"].Error)
	require.Equal(t, ability{Status: statusDegraded, Failing: map[string]string{"redis": "connection refused"}},
		rep.Capabilities["crash_intake"])
	require.Equal(t, ability{Status: statusOK}, rep.Capabilities["reading"])
	require.Less(t, rep.Checks["redis"].TookMS, int64(1000), "a probe waits a second")
	require.Equal(t, "ok", rep.Checks["postgres"].Status)
	code, rep = ready(t, worker)
	require.Equal(t, 503, code)
	require.Equal(t, "unavailable", rep.Status)

	// And PostgreSQL: a closed pool is as good as a server that is gone.
	require.NoError(t, db.Close())
	api = tier(true)
	code, rep = ready(t, api)
	require.Equal(t, 503, code)
	require.Equal(t, "failed", rep.Checks["postgres"].Status)
}

// TestQueueLagOfTheLedger: an old due task degrades a worker, one that is not
// due yet does not.
func TestQueueLagOfTheLedger(t *testing.T) {
	t.Parallel()
	db := servicetest.DB(t)
	look := func() report {
		checks, err := Process{Worker: true, Postgres: db.Check, Redis: fine, Objects: fine,
			Lag: ledger.New(db).Lag, Queues: []string{tasks.Bulk}}.Checks()
		require.NoError(t, err)
		_, rep := ready(t, NewReadiness(checks, discard()))
		return rep
	}
	insert(t, db, tasks.NewMaintenance(tasks.ObjectSweep), "run_at = now() + interval '1 hour'")
	require.Equal(t, "ok", look().Status)
	insert(t, db, tasks.NewMaintenance(tasks.CrashRetention), "run_at = now() - interval '6 minutes'")
	rep := look()
	require.Equal(t, "degraded", rep.Status)
	require.True(t, strings.HasPrefix(rep.Checks["queue_lag"].Error, "bulk waits 6m"), rep.Checks["queue_lag"].Error)
}

// TestMetricsOfServices reads a real ledger and a real Redis.
func TestMetricsOfServices(t *testing.T) {
	t.Parallel()
	db, redis := servicetest.DB(t), openRedis(t, servicetest.RedisServer(t))
	store := ledger.New(db)
	insert(t, db, tasks.NewMaintenance(tasks.LedgerRetention), "run_at = now() - interval '100 seconds'")
	insert(t, db, tasks.NewMaintenance(tasks.ObjectSweep), "run_at = now() + interval '1 hour'")
	insert(t, db, tasks.NewMaintenance(tasks.CrashRetention),
		"state = 'running', attempt = 1, started_at = now() - interval '50 seconds', heartbeat_at = now()")
	for range 3 {
		n := tasks.NewMaintenance(tasks.CrashRetention)
		n.DedupeKey = ""
		insert(t, db, n, "state = 'dead', finished_at = now()")
	}
	insert(t, db, tasks.NewMaintenance(tasks.RunMaintenance),
		"state = 'succeeded', started_at = now() - interval '63 seconds', finished_at = now() - interval '1 minute'")
	ctx := t.Context()
	require.NoError(t, redis.Client().LPush(ctx, "asynq:{bulk}:pending", "a", "b").Err())

	m := NewMetrics(MetricsConfig{Log: discard(), Tasks: store.Open, Depths: redis.Depths, Maintenance: store.LastSucceeded})
	f := scrape(t, m)
	series := func(name, kind, state string) float64 {
		return value(f, name, "kind", kind, "queue", "bulk", "state", state)
	}
	require.InDelta(t, time.Now().Unix()-60, value(f, "slipway_maintenance_last_success_timestamp_seconds", "kind", "run:maintenance"), 30)
	require.InDelta(t, 3, value(f, "slipway_maintenance_last_duration_seconds", "kind", "run:maintenance"), 1e-3)
	require.Len(t, f["slipway_maintenance_last_duration_seconds"].GetMetric(), 1, "of kinds that never succeeded nothing is known")
	require.Equal(t, 1.0, series("slipway_tasks", "ledger:retention", "queued"))
	require.Equal(t, 1.0, series("slipway_tasks", "object:sweep", "queued"))
	require.Equal(t, 1.0, series("slipway_tasks", "crash:retention", "running"))
	require.Equal(t, 3.0, series("slipway_tasks", "crash:retention", "dead"))
	require.InDelta(t, 130, series("slipway_task_oldest_seconds", "ledger:retention", "queued"), 31)
	require.Zero(t, series("slipway_task_oldest_seconds", "object:sweep", "queued"), "not due yet")
	require.InDelta(t, 70, series("slipway_task_oldest_seconds", "crash:retention", "running"), 21)
	require.InDelta(t, 130, value(f, "slipway_queue_latency_seconds", "queue", "bulk"), 31)
	require.Equal(t, 2.0, value(f, "slipway_queue_depth", "queue", "bulk", "state", "pending"))
	require.Equal(t, 0.0, value(f, "slipway_queue_depth", "queue", "crash", "state", "archived"))

	lag, err := store.Lag(ctx)
	require.NoError(t, err)
	require.InDelta(t, lag["bulk"].Seconds(), value(f, "slipway_queue_latency_seconds", "queue", "bulk"), 30,
		"the readiness check and the metric tell the same")

	_ = redis.Client().ShutdownNoSave(ctx)
	require.Eventually(t, func() bool { return redis.Check(ctx) != nil }, time.Minute, 20*time.Millisecond)
	f = scrape(t, NewMetrics(MetricsConfig{Log: discard(), Tasks: store.Open, Depths: redis.Depths}))
	require.Zero(t, value(f, "slipway_collector_up", "source", "redis"))
	require.Equal(t, 1.0, value(f, "slipway_collector_up", "source", "ledger"))
	require.NotContains(t, f, "slipway_queue_depth")
	require.Contains(t, f, "slipway_tasks")
}

// TestReadinessBehindAFullPool shows why readiness has a pool of its own: the
// one that requests use may be exhausted while the database is well.
func TestReadinessBehindAFullPool(t *testing.T) {
	t.Parallel()
	db := servicetest.DB(t)
	db.SetMaxOpenConns(1)
	held, err := db.Connx(t.Context())
	require.NoError(t, err)
	defer held.Close()
	r := NewReadiness([]Check{{"postgres", db.Check, true}}, discard())
	r.checks[0].call.limit = 50 * time.Millisecond
	code, rep := ready(t, r)
	require.Equal(t, http.StatusServiceUnavailable, code)
	require.Equal(t, "timeout", rep.Checks["postgres"].Error)
}

// insert adds a task and brings it into a state.
func insert(t *testing.T, db *storage.DB, n *ledger.NewTask, set string) {
	t.Helper()
	_, err := ledger.Insert(t.Context(), db, n)
	require.NoError(t, err)
	_, err = db.ExecContext(t.Context(), "update tasks set "+set+" where id = $1", n.ID)
	require.NoError(t, err)
}

// BenchmarkBacklog measures what a scrape and the lag check cost the database
// while a million tasks are queued.
func BenchmarkBacklog(b *testing.B) {
	db := servicetest.DB(b)
	_, err := db.ExecContext(b.Context(), `
		insert into tasks (id, kind, queue, payload, max_attempts, run_at)
		select gen_random_uuid(), 'crash:process', 'crash', '{}', 3, now() - make_interval(secs => n / 1000.0)
		from generate_series(1, 1000000) n`)
	require.NoError(b, err)
	_, err = db.ExecContext(b.Context(), "analyze tasks")
	require.NoError(b, err)
	store := ledger.New(db)
	b.Run("scrape", func(b *testing.B) {
		for b.Loop() {
			_, err := store.Open(b.Context())
			require.NoError(b, err)
		}
	})
	b.Run("lag", func(b *testing.B) {
		for b.Loop() {
			_, err := store.Lag(b.Context())
			require.NoError(b, err)
		}
	})
}
