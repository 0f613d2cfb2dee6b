package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/tasks/dispatch"
	"github.com/slipway-qa/slipway/tasks/logfield"
)

func TestMain(m *testing.M) { os.Exit(servicetest.Main(m)) }

type handlerFunc func(ctx context.Context, claim *Claim) error

func (f handlerFunc) Handle(ctx context.Context, claim *Claim) error { return f(ctx, claim) }

// outcomes records what the observer hears.
type outcomes struct {
	mu  sync.Mutex
	all []string
}

func (o *outcomes) AttemptEnded(_, outcome string, _, _ time.Duration, _ int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.all = append(o.all, outcome)
}

func (o *outcomes) saw(outcome string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, h := range o.all {
		if h == outcome {
			return true
		}
	}
	return false
}

type fixture struct {
	db       *storage.DB
	store    *ledger.Store
	relay    *dispatch.Relay
	worker   *Worker
	observed *outcomes
	org      int64
}

// start runs a worker with one handler, and the relay.
func start(t *testing.T, kind tasks.Kind, handle handlerFunc) *fixture {
	t.Helper()
	return startWith(t, kind, handle)
}

func startWith(t *testing.T, kind tasks.Kind, handler Handler) *fixture {
	t.Helper()
	f := &fixture{db: servicetest.DB(t), observed: &outcomes{}}
	f.store = ledger.New(f.db)
	redis, err := dispatch.OpenRedis(dispatch.RedisConfig{URL: servicetest.RedisURL(t)})
	require.NoError(t, err)
	log := slog.New(slog.DiscardHandler)
	f.relay = dispatch.NewRelay(redis, f.store, log)
	f.worker, err = New(Config{Redis: redis, Ledger: f.store, Log: log, Observer: f.observed, Drain: 200 * time.Millisecond,
		Handlers: map[string]Handler{kind.Name: handler},
		Pools:    []Pool{{Slots: 4, Queues: map[string]int{kind.Queue: 1}}}})
	require.NoError(t, err)
	require.NoError(t, f.worker.Start())
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); f.relay.Run(ctx, func() {}) }()
	t.Cleanup(func() {
		f.worker.Stop()
		cancel()
		<-done
		_ = redis.Close()
	})
	require.NoError(t, f.db.Get(&f.org, `insert into organizations (uuid, slug, name) values ($1, 'o', 'o') returning id`, uuid.New()))
	return f
}

func (f *fixture) insert(t *testing.T, task *ledger.NewTask) uuid.UUID {
	t.Helper()
	_, err := ledger.Insert(context.Background(), f.db, task)
	require.NoError(t, err)
	return task.ID
}

func (f *fixture) purge(t *testing.T) uuid.UUID {
	return f.insert(t, tasks.NewCrashPurge(f.org, "request-1", tasks.CrashPurgePayload{Key: "k"}))
}

func (f *fixture) await(t *testing.T, id uuid.UUID, what func(*ledger.Task) bool) *ledger.Task {
	t.Helper()
	var task *ledger.Task
	require.Eventually(t, func() bool {
		var err error
		task, err = f.store.Get(context.Background(), ledger.Scope{}, id)
		return err == nil && what(task)
	}, time.Minute, 10*time.Millisecond)
	return task
}

func in(s ledger.State) func(*ledger.Task) bool {
	return func(t *ledger.Task) bool { return t.State == s }
}

func TestTaskSucceedsWithItsEffects(t *testing.T) {
	t.Parallel()
	f := start(t, tasks.CrashPurge, func(ctx context.Context, claim *Claim) error {
		if logfield.Get(ctx, logfield.RequestID) != "request-1" {
			return errors.New("the request id did not follow the task")
		}
		if _, err := Payload[tasks.CrashPurgePayload](claim.Tasks[0]); err != nil {
			return err
		}
		return claim.Finish(ctx, map[string]int{"deleted": 3}, func(tx *storage.Tx) error {
			_, err := tx.Exec(`update organizations set name = 'renamed'`)
			return err
		})
	})
	task := f.await(t, f.purge(t), in(ledger.Succeeded))
	require.JSONEq(t, `{"deleted":3}`, string(*task.Result))
	var name string
	require.NoError(t, f.db.Get(&name, `select name from organizations`))
	require.Equal(t, "renamed", name)
}

func TestFailingEffectsLeaveNothingAndAreTriedAgain(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	f := start(t, tasks.CrashPurge, func(ctx context.Context, claim *Claim) error {
		return claim.Finish(ctx, nil, func(tx *storage.Tx) error {
			if _, err := tx.Exec(`update organizations set name = name || 'x'`); err != nil {
				return err
			}
			if calls.Add(1) == 1 {
				return errors.New("boom")
			}
			return nil
		})
	})
	id := f.purge(t)
	f.await(t, id, func(task *ledger.Task) bool { return task.State == ledger.Queued && task.Error != nil })
	_, err := f.db.Exec(`update tasks set run_at = now()`) // do not wait for the backoff
	require.NoError(t, err)
	require.Equal(t, 2, f.await(t, id, in(ledger.Succeeded)).Attempt)
	var name string
	require.NoError(t, f.db.Get(&name, `select name from organizations`))
	require.Equal(t, "ox", name)
}

func TestPanicAndPermanentFailureEndDead(t *testing.T) {
	t.Parallel()
	f := start(t, tasks.CrashPurge, func(context.Context, *Claim) error {
		defer func() {
			if v := recover(); v != nil {
				panic(tasks.Permanent(errors.New("hopeless")).Error())
			}
		}()
		panic("first")
	})
	id := f.purge(t)
	task := f.await(t, id, func(task *ledger.Task) bool { return task.Error != nil })
	require.Equal(t, ledger.Internal+"panic: hopeless", *task.Error, "no stack")
	require.NotContains(t, *task.PublicError(), "hopeless")
	require.Equal(t, ledger.Queued, task.State, "a panic is tried again")

	f.worker.cfg.Handlers[tasks.CrashPurge.Name] = handlerFunc(func(context.Context, *Claim) error {
		return tasks.Permanent(errors.New("hopeless"))
	})
	require.Equal(t, "hopeless", *f.await(t, f.purge(t), in(ledger.Dead)).Error)
}

func TestUnreadablePayloadIsDead(t *testing.T) {
	t.Parallel()
	f := start(t, tasks.CrashPurge, func(_ context.Context, claim *Claim) error {
		_, err := Payload[tasks.CrashPurgePayload](claim.Tasks[0])
		return err
	})
	bad := tasks.NewCrashPurge(f.org, "", tasks.CrashPurgePayload{})
	require.Contains(t, *f.await(t, f.insert(t, bad), in(ledger.Dead)).Error, "key is missing")
}

func TestSnoozePutsOffWithoutAnAttempt(t *testing.T) {
	t.Parallel()
	f := start(t, tasks.CrashPurge, func(context.Context, *Claim) error { return &tasks.SnoozeError{For: time.Hour} })
	task := f.await(t, f.purge(t), func(task *ledger.Task) bool { return task.Attempt == 1 && task.State == ledger.Queued })
	require.Equal(t, tasks.CrashPurge.MaxAttempts+1, task.MaxAttempts)
	require.Greater(t, time.Until(task.RunAt), 50*time.Minute)
}

// An outage of the object store says nothing of the tasks that meet it.
func TestObjectsAwayUseNoAttemptUp(t *testing.T) {
	t.Parallel()
	away := fmt.Errorf("read: %w", &object.UnavailableError{Store: "s3://host/bucket", Reason: "connection refused"})
	f := start(t, tasks.CrashPurge, func(context.Context, *Claim) error { return away })
	task := f.await(t, f.purge(t), func(task *ledger.Task) bool { return task.Attempt == 1 && task.State == ledger.Queued })
	require.Equal(t, tasks.CrashPurge.MaxAttempts+1, task.MaxAttempts)
	require.True(t, task.RunAt.After(*task.StartedAt))

	young, old := ledger.Task{CreatedAt: time.Now()}, ledger.Task{CreatedAt: time.Now().Add(-objectsAge)}
	require.True(t, waitsForObjects(away, young, time.Now()))
	require.False(t, waitsForObjects(away, old, time.Now()), "what only one task meets ends")
	require.False(t, waitsForObjects(tasks.Permanent(away), young, time.Now()))
	require.Equal(t, "object store not available: connection refused", reason(away, nil), "without the host")
}

func TestCancelStopsARunningHandler(t *testing.T) {
	t.Parallel()
	started := make(chan struct{})
	f := start(t, tasks.CrashPurge, func(ctx context.Context, _ *Claim) error {
		close(started)
		<-ctx.Done()
		return ctx.Err()
	})
	id := f.purge(t)
	<-started
	_, err := ledger.Cancel(context.Background(), f.db, ledger.Scope{}, id)
	require.NoError(t, err)
	require.NotNil(t, f.await(t, id, in(ledger.Cancelled)).FinishedAt)
}

func TestStaleWorkerHasNoEffect(t *testing.T) {
	t.Parallel()
	var f *fixture
	f = start(t, tasks.CrashPurge, func(ctx context.Context, claim *Claim) error {
		// Another worker takes the task while this one is paused.
		if _, err := f.db.Exec(`update tasks set attempt = attempt + 1`); err != nil {
			return err
		}
		return claim.Finish(ctx, nil, func(tx *storage.Tx) error {
			_, err := tx.Exec(`update organizations set name = 'ghost'`)
			return err
		})
	})
	id := f.purge(t)
	require.Eventually(t, func() bool { return f.observed.saw("stale") }, time.Minute, 10*time.Millisecond)
	task := f.await(t, id, in(ledger.Running))
	require.Equal(t, 2, task.Attempt)
	var name string
	require.NoError(t, f.db.Get(&name, `select name from organizations`))
	require.Equal(t, "o", name)
}

func TestStopReleasesWhatIsRunning(t *testing.T) {
	t.Parallel()
	started := make(chan struct{}, 4)
	f := start(t, tasks.CrashPurge, func(ctx context.Context, _ *Claim) error {
		started <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	})
	id := f.purge(t)
	<-started
	f.worker.Stop()
	task := f.await(t, id, in(ledger.Queued))
	require.Nil(t, task.Worker)
	require.Equal(t, tasks.CrashPurge.MaxAttempts+task.Attempt, task.MaxAttempts, "the attempt does not count")
	require.WithinDuration(t, time.Now(), task.RunAt, 15*time.Second, "due at once")
}

func TestBatchKindMergesRows(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	var merged atomic.Int32
	f := start(t, tasks.CrashProcess, func(_ context.Context, claim *Claim) error {
		<-gate
		merged.Store(max(merged.Load(), int32(len(claim.Tasks))))
		return nil
	})
	var ids []uuid.UUID
	for range 40 {
		ids = append(ids, f.insert(t, tasks.NewCrashProcess(f.org, uuid.New(), 1000)))
	}
	close(gate)
	for _, id := range ids {
		f.await(t, id, in(ledger.Succeeded))
	}
	require.Greater(t, merged.Load(), int32(3))
}

func TestTriggerMakesOneMaintenanceTask(t *testing.T) {
	t.Parallel()
	f := start(t, tasks.LedgerRetention, func(context.Context, *Claim) error { return nil })
	kind, ok := dispatch.TriggeredKind(tasks.TriggerPrefix + tasks.LedgerRetention.Name)
	require.True(t, ok)
	f.worker.receiveTrigger(kind)
	f.worker.receiveTrigger(kind)
	all, total, err := f.store.List(context.Background(), ledger.Filter{Kinds: []string{kind.Name}, Limit: 10})
	require.NoError(t, err)
	require.Equal(t, 1, total.Rows)
	require.Nil(t, all[0].OrganizationID)
	_, ok = dispatch.TriggeredKind("trigger:unknown")
	require.False(t, ok)
	_, ok = dispatch.TriggeredKind(tasks.CrashPurge.Name)
	require.False(t, ok)
}

func TestUnknownKindIsPutOff(t *testing.T) {
	t.Parallel()
	f := start(t, tasks.CrashPurge, func(context.Context, *Claim) error { return nil })
	delete(f.worker.cfg.Handlers, tasks.CrashPurge.Name)
	before := time.Now()
	id := f.purge(t)
	task := f.await(t, id, func(task *ledger.Task) bool { return task.Attempt == 1 && task.State == ledger.Queued })
	require.Greater(t, task.RunAt.Sub(before), 10*time.Second)
	require.Equal(t, tasks.CrashPurge.MaxAttempts+1, task.MaxAttempts)
}

func TestCheckpointKeepsTheHeartGoing(t *testing.T) {
	t.Parallel()
	var f *fixture
	f = start(t, tasks.CrashPurge, func(ctx context.Context, claim *Claim) error {
		var before, after time.Time
		err := claim.Checkpoint(ctx, func(tx *storage.Tx) error {
			return tx.Get(&before, `select now() from pg_sleep(0.1)`)
		})
		if err != nil {
			return err
		}
		if err := f.db.Get(&after, `select heartbeat_at from tasks where id = $1`, claim.Tasks[0].ID); err != nil {
			return err
		}
		if after.Sub(before) < 100*time.Millisecond {
			return tasks.Permanent(errors.New("the heartbeat is older than the end of the step"))
		}
		return nil
	})
	f.await(t, f.purge(t), in(ledger.Succeeded))
}

func TestParsePools(t *testing.T) {
	t.Parallel()
	pools, err := ParsePools("4:critical=6,default=3; 2:crash ;1:bulk=1;")
	require.NoError(t, err)
	require.Equal(t, []Pool{
		{Slots: 4, Queues: map[string]int{"critical": 6, "default": 3}},
		{Slots: 2, Queues: map[string]int{"crash": 1}},
		{Slots: 1, Queues: map[string]int{"bulk": 1}},
	}, pools)
	for _, bad := range []string{"", ";", "4", "0:bulk", "x:bulk", "4:", "4:nosuch", "4:bulk=0", "4:bulk=x", "9999:bulk"} {
		_, err := ParsePools(bad)
		require.Error(t, err, bad)
	}
}
