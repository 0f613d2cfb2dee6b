package scheduler

import (
	"context"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/hibiken/asynq"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/tasks/dispatch"
)

func TestMain(m *testing.M) { os.Exit(servicetest.Main(m)) }

type fixture struct {
	*Scheduler
	db    *storage.DB
	redis *dispatch.Redis
}

func open(t *testing.T) fixture {
	t.Helper()
	db := servicetest.DB(t)
	redis, err := dispatch.OpenRedis(dispatch.RedisConfig{URL: servicetest.RedisURL(t)})
	require.NoError(t, err)
	t.Cleanup(func() { _ = redis.Close() })
	store, log := ledger.New(db), slog.New(slog.DiscardHandler)
	return fixture{db: db, redis: redis, Scheduler: New(Config{Redis: redis, Ledger: store,
		Relay: dispatch.NewRelay(redis, store, log), Log: log})}
}

// silent inserts a task whose worker fell silent a minute ago.
func (f fixture) silent(t *testing.T) uuid.UUID {
	t.Helper()
	task := tasks.NewMaintenance(tasks.ObjectSweep)
	task.DedupeKey = ""
	_, err := ledger.Insert(context.Background(), f.db, task)
	require.NoError(t, err)
	_, err = f.db.Exec(`update tasks set state = 'running', attempt = 1, worker = 'w',
		heartbeat_at = now() - interval '1 minute' where id = $1`, task.ID)
	require.NoError(t, err)
	return task.ID
}

func (f fixture) state(t *testing.T, id uuid.UUID) ledger.State {
	t.Helper()
	task, err := f.cfg.Ledger.Get(context.Background(), ledger.Scope{}, id)
	require.NoError(t, err)
	return task.State
}

func TestLoopsRunAndMaintenanceIsTriggeredAtTheStart(t *testing.T) {
	t.Parallel()
	f := open(t)
	started := time.Now()
	require.NoError(t, f.Start())
	inspector := asynq.NewInspector(f.redis.Options())
	inQueue := map[string]int{}
	for _, k := range periodicKinds() {
		inQueue[k.Queue]++
	}
	for queue, want := range inQueue {
		require.Eventually(t, func() bool {
			triggers, err := inspector.ListPendingTasks(queue)
			kinds := map[string]bool{} // a machine that is late may have made another one of a short period
			for _, trigger := range triggers {
				kinds[trigger.Type] = true
			}
			return err == nil && len(kinds) == want
		}, time.Minute, 20*time.Millisecond, queue)
	}
	require.Eventually(t, func() bool {
		for _, loop := range Loops() {
			if !f.Marked()[loop].After(started.Add(500 * time.Millisecond)) {
				return false
			}
		}
		return true
	}, time.Minute, 20*time.Millisecond)
	f.Stop()
	f.Stop() // once more does nothing
}

func TestMaintenanceKindsHavePeriods(t *testing.T) {
	t.Parallel()
	asked := map[string]bool{}
	for _, k := range periodicKinds() {
		asked[k.Name] = true
	}
	for name, k := range tasks.Kinds() {
		require.Equal(t, strings.HasSuffix(name, ":maintenance") || k.Every > 0, asked[name], "%s is asked for", name)
	}
	for _, k := range periodicKinds() {
		switch k.Name {
		case tasks.ScheduleTick.Name:
			require.Equal(t, time.Second, k.Every, "schedules fire at every second")
		case tasks.GateEvaluate.Name:
			require.Equal(t, time.Second, k.Every, "a gate is evaluated within two seconds of a fact")
		case tasks.GenerationMaintenance.Name:
			require.Equal(t, 2*time.Second, k.Every, "a generation ends within seconds of its deadline")
		default:
			require.GreaterOrEqual(t, k.Every, time.Minute, k.Name)
		}
		require.Positive(t, k.KeepSucceeded, k.Name)
		require.Greater(t, k.KeepSucceeded, k.Every, "the last one must be found, or the next is made too early")
	}
}

func TestRescueWaitsAfterAGap(t *testing.T) {
	t.Parallel()
	f, ctx := open(t), context.Background()
	f.cfg.RescueAfter = 50 * time.Second // which the rounds of this test do not take
	id := f.silent(t)
	require.NoError(t, f.rescue(ctx))
	require.Equal(t, ledger.Running, f.state(t, id), "a first round knows nothing of the time before")
	require.NoError(t, f.rescue(ctx))
	require.Equal(t, ledger.Running, f.state(t, id))

	f.graceUntil = time.Now()
	require.NoError(t, f.rescue(ctx))
	require.Equal(t, ledger.Queued, f.state(t, id))

	// The database was away, or the machine slept.
	id = f.silent(t)
	f.lastRescue = time.Now().Add(-time.Minute).Round(0)
	require.NoError(t, f.rescue(ctx))
	require.Equal(t, ledger.Running, f.state(t, id))
	require.True(t, f.graceUntil.After(time.Now()))
}

// What the documents promise is the sum of what each part may take by default: a task of a
// killed worker is offered again within 10 seconds, ticks of schedules go on within 10 after
// a scheduler was killed, and nothing fires more than 30 late where both happen to one tick.
func TestDefaultsKeepPromises(t *testing.T) {
	t.Parallel()
	after := New(Config{}).cfg.RescueAfter
	require.GreaterOrEqual(t, after, 3*ledger.HeartbeatEvery(after), "two heartbeats in a row may fail")
	offered := after + rescueEvery(after) + dispatch.RelayWait
	require.LessOrEqual(t, offered, 10*time.Second)
	ticks := dispatch.TriggerLock(tasks.ScheduleTick) + tasks.ScheduleTick.Every
	require.LessOrEqual(t, ticks, 10*time.Second)
	require.LessOrEqual(t, ticks+offered+tasks.ScheduleTick.Every, 30*time.Second)
	require.Less(t, 2*offered, 30*time.Second, "also of a tick that is lost twice")
}
