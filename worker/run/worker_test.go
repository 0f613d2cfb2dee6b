package run

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage/ledger"
	store "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/run/reading"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/tasks/dispatch"
	"github.com/slipway-qa/slipway/worker"
	"github.com/slipway-qa/slipway/worker/run/replay"
)

// start runs a worker with the handlers, the relay and the rescue of a scheduler,
// and returns what stops the worker.
func (w *world) start() (stop func()) {
	w.t.Helper()
	// All workers of a test share one Redis: a task that the relay of a stopped one
	// delivered is found by the next.
	if w.redisURL == "" {
		w.redisURL = servicetest.RedisURL(w.t)
	}
	redis, err := dispatch.OpenRedis(dispatch.RedisConfig{URL: w.redisURL})
	require.NoError(w.t, err)
	log := slog.New(slog.DiscardHandler)
	real, err := worker.New(worker.Config{Redis: redis, Ledger: w.ledger, Log: log, Drain: 100 * time.Millisecond,
		Handlers: map[string]worker.Handler{tasks.TestJob.Name: w.handler, tasks.SuiteRun.Name: w.suite()},
		Pools:    []worker.Pool{{Slots: 4, Queues: map[string]int{tasks.Run: 1, tasks.Critical: 1}}}})
	require.NoError(w.t, err)
	require.NoError(w.t, real.Start())
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	relay := dispatch.NewRelay(redis, w.ledger, log)
	go func() { defer close(done); relay.Run(ctx, func() {}) }()
	rescued := make(chan struct{})
	go func() {
		defer close(rescued)
		for tick := time.NewTicker(time.Second); ; {
			select {
			case <-ctx.Done():
				tick.Stop()
				return
			case <-tick.C:
				_, _ = w.ledger.Rescue(ctx, time.Minute) // no worker of a busy machine is taken for dead
			}
		}
	}()
	w.t.Cleanup(func() {
		real.Stop()
		cancel()
		<-done
		<-rescued
		_ = redis.Close()
	})
	return real.Stop
}

func (w *world) await(id uuid.UUID, state ledger.State) {
	w.t.Helper()
	require.Eventually(w.t, func() bool { return w.task(id).State == state }, time.Minute, 10*time.Millisecond)
}

// An operator cancels the task of a job, and nobody the run.
func TestTaskIsCancelled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	started := make(chan struct{})
	w.handler.Play = func(ctx context.Context, cfg replay.Config) replay.Result {
		cfg.Capture(ctx, shot(1))
		close(started)
		<-ctx.Done()
		return replay.Result{Status: "ERROR", Code: store.CodeInternal}
	}
	run, id := w.simpleRun()
	w.start()
	<-started
	_, err := ledger.Cancel(t.Context(), w.db, ledger.Scope{}, id)
	require.NoError(t, err)
	w.await(id, ledger.Cancelled)
	got := w.read(run)
	require.Equal(t, store.Cancelled, got.Status)
	require.Equal(t, store.CodeCancelled, got.Jobs[0].ErrorCode)
	require.Empty(t, w.stored())
	require.Equal(t, 1, w.browser.broken)
}

// A worker is stopped in the middle of a test, which another one plays anew.
func TestWorkerIsDrained(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	started := make(chan struct{}, 1)
	w.handler.Play = func(ctx context.Context, cfg replay.Config) replay.Result {
		started <- struct{}{}
		<-ctx.Done()
		return replay.Result{Status: "ERROR", Code: store.CodeInternal}
	}
	run, id := w.simpleRun()
	stop := w.start()
	<-started
	stop()
	w.await(id, ledger.Queued)
	require.Equal(t, store.Running, w.read(run).Status)
	w.handler.Play = passes
	w.start()
	w.await(id, ledger.Succeeded)
	require.Equal(t, store.Passed, w.read(run).Status)
}

// A suite goes through the whole machine.
func TestSuiteRunGoesThrough(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.handler.Play = func(ctx context.Context, cfg replay.Config) replay.Result {
		cfg.Progress([]playback.Record{{StepID: "s1", Status: playback.Passed}})
		return passes(ctx, cfg)
	}
	run := w.newSuiteRun(25)
	stop := w.start()
	require.Eventually(t, func() bool {
		ended, err := reading.Ended(t.Context(), w.db, []uuid.UUID{run.ID})
		return err == nil && len(ended) == 1
	}, time.Minute, 10*time.Millisecond)
	got, err := reading.SuiteRunByID(t.Context(), w.db, w.org, run.SuiteID, run.ID)
	require.NoError(t, err)
	require.Equal(t, store.Passed, got.Status)
	require.Equal(t, 25, got.Counts[store.Passed])
	stop() // a job gives its browser back behind its end
	require.Equal(t, 25, w.browser.released)
}
