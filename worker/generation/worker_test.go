package generation

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage"
	store "github.com/slipway-qa/slipway/storage/generation"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/tasks/dispatch"
	"github.com/slipway-qa/slipway/worker"
)

// machine is a Redis, a relay and the rescue of a scheduler, for workers to start at.
type machine struct {
	*world
	redisURL string
}

func (w *world) newMachine() *machine {
	w.t.Helper()
	m := &machine{world: w, redisURL: servicetest.RedisURL(w.t)}
	redis := m.redis()
	ctx, cancel := context.WithCancel(context.Background())
	var loops sync.WaitGroup
	relay := dispatch.NewRelay(redis, w.ledger, slog.New(slog.DiscardHandler))
	loops.Go(func() { relay.Run(ctx, func() {}) })
	loops.Go(func() {
		for tick := time.NewTicker(time.Second); ; {
			select {
			case <-ctx.Done():
				tick.Stop()
				return
			case <-tick.C:
				_, _ = w.ledger.Rescue(ctx, time.Minute) // no worker of a busy machine is taken for dead
				_ = redis.Trigger(ctx, tasks.GenerationMaintenance)
			}
		}
	})
	w.t.Cleanup(func() { cancel(); loops.Wait() })
	return m
}

func (m *machine) redis() *dispatch.Redis {
	m.t.Helper()
	redis, err := dispatch.OpenRedis(dispatch.RedisConfig{URL: m.redisURL})
	require.NoError(m.t, err)
	m.t.Cleanup(func() { _ = redis.Close() })
	return redis
}

// start starts a worker with the author, and returns what stops it.
func (m *machine) start(slots, keyLimit int, author Author) (stop func()) {
	m.t.Helper()
	handler := *m.handler
	handler.Author = author
	real, err := worker.New(worker.Config{Redis: m.redis(), Ledger: m.ledger, Log: slog.New(slog.DiscardHandler),
		Drain:     100 * time.Millisecond,
		Handlers:  map[string]worker.Handler{tasks.TestGenerate.Name: &handler, tasks.GenerationMaintenance.Name: NewMaintenance(m.db)},
		KeyLimits: map[string]int{tasks.TestGenerate.Name: keyLimit},
		Pools: []worker.Pool{{Slots: slots, Queues: map[string]int{tasks.Generate: 1}},
			{Slots: 1, Queues: map[string]int{tasks.Critical: 1}}}})
	require.NoError(m.t, err)
	require.NoError(m.t, real.Start())
	var once sync.Once
	stop = func() { once.Do(real.Stop) }
	m.t.Cleanup(stop)
	return stop
}

func (m *machine) await(id uuid.UUID, state store.State) *store.Generation {
	m.t.Helper()
	var g *store.Generation
	require.Eventually(m.t, func() bool {
		got, err := store.ByID(m.t.Context(), m.db, m.writer.OrganizationID, id)
		if err != nil {
			got, err = store.ByID(m.t.Context(), m.db, m.other.OrganizationID, id)
		}
		g = got
		return err == nil && g.State == state
	}, time.Minute, 20*time.Millisecond)
	return g
}

func TestGenerationGoesThrough(t *testing.T) {
	t.Parallel()
	m := newWorld(t).newMachine()
	m.start(2, 4, writes(clicks))
	m.await(m.newGeneration("Click on Go"), store.Completed)
}

// A worker that is stopped leaves its generation to another one at once.
func TestWorkerIsDrained(t *testing.T) {
	t.Parallel()
	m := newWorld(t).newMachine()
	started := make(chan struct{}, 1)
	stop := m.start(1, 4, writes(func(ctx context.Context, _ Job) (Result, error) {
		started <- struct{}{}
		<-ctx.Done()
		return Result{}, context.Cause(ctx)
	}))
	id := m.newGeneration("x")
	<-started
	stop()
	require.Equal(t, ledger.Queued, m.task(id).State)
	m.start(1, 4, writes(clicks))
	m.await(id, store.Completed)
}

// Whoever cancels does not wait for the worker, which stops.
func TestRunningGenerationIsCancelled(t *testing.T) {
	t.Parallel()
	m := newWorld(t).newMachine()
	started, stopped := make(chan struct{}), make(chan error, 1)
	m.start(1, 4, writes(func(ctx context.Context, _ Job) (Result, error) {
		close(started)
		<-ctx.Done()
		stopped <- context.Cause(ctx)
		return Result{}, context.Cause(ctx)
	}))
	id := m.newGeneration("x")
	<-started
	m.must(func(ctx context.Context, tx *storage.Tx) error {
		if err := store.Cancel(ctx, tx, m.writer, id); err != nil {
			return err
		}
		_, err := ledger.CancelAll(ctx, tx, ledger.Scope{}, []uuid.UUID{id})
		return err
	})
	require.Equal(t, CodeCancelled, m.code(id))
	select {
	case <-stopped:
	case <-time.After(time.Minute):
		t.Fatal("the worker goes on")
	}
	require.Eventually(t, func() bool { return m.task(id).State == ledger.Cancelled }, time.Minute, 20*time.Millisecond)
}

// The maintenance ends what is overdue: what was not started, and what does not stop.
func TestMaintenanceEndsWhatIsOverdue(t *testing.T) {
	t.Parallel()
	m := newWorld(t).newMachine()
	started, free := make(chan struct{}, 2), make(chan struct{})
	t.Cleanup(func() { close(free) })
	m.start(1, 1, writes(func(context.Context, Job) (Result, error) {
		started <- struct{}{}
		<-free // whatever its context says
		return Result{}, nil
	}))
	hangs := m.newGeneration("x")
	<-started
	waits := m.newGeneration("x")
	m.exec(`update test_generations set deadline = now() + interval '1 second'`)
	for _, id := range []uuid.UUID{waits, hangs} {
		require.Equal(t, CodeTimeout, m.await(id, store.Failed).ErrorCode)
	}
	require.Equal(t, ledger.Cancelled, m.task(waits).State)
	require.Eventually(t, func() bool {
		return m.number(`select count(*) from tasks where kind = $1 and state = 'succeeded'`, tasks.GenerationMaintenance.Name) > 0
	}, time.Minute, 20*time.Millisecond)
	require.Less(t, m.number(`select count(*) from tasks where kind = $1`, tasks.GenerationMaintenance.Name), 5,
		"a row only when there is work")
}

// An organization that asks for much does not keep another one waiting, and has no more
// at work than its share.
func TestOrganizationsTakeTurns(t *testing.T) {
	t.Parallel()
	m := newWorld(t).newMachine()
	var mu sync.Mutex
	var order []int64
	working, most := map[int64]int{}, 0
	author := writes(func(ctx context.Context, j Job) (Result, error) {
		mu.Lock()
		order = append(order, j.Organization)
		working[j.Organization]++
		most = max(most, working[j.Organization])
		mu.Unlock()
		defer func() {
			mu.Lock()
			defer mu.Unlock()
			working[j.Organization]--
		}()
		return clicks(ctx, j)
	})
	var all []uuid.UUID
	for range 30 {
		all = append(all, m.newGeneration("many"))
	}
	few := m.newGenerationOf(m.other, "few")
	m.start(3, 2, author)
	m.await(few, store.Completed)
	for _, id := range all {
		m.await(id, store.Completed)
	}
	require.LessOrEqual(t, most, 2)
	require.Less(t, slices.Index(order, m.other.OrganizationID), 15, "not behind all of the others")
}
