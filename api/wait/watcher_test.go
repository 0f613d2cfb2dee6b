package wait

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/ledger"
)

func TestMain(m *testing.M) { os.Exit(servicetest.Main(m)) }

func newTask(t *testing.T, store *ledger.Store) uuid.UUID {
	t.Helper()
	n := &ledger.NewTask{Kind: "test:kind", Queue: "default", Payload: struct{}{}, MaxAttempts: 1}
	require.NoError(t, store.DB().InTx(t.Context(), func(tx *storage.Tx) error {
		_, err := ledger.Insert(t.Context(), tx, n)
		return err
	}))
	return n.ID
}

func run(t *testing.T, w *Watcher) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); w.Run(ctx) }()
	stop = func() { cancel(); <-ended }
	t.Cleanup(stop)
	return stop
}

// waiters polls until n requests wait.
func waiters(t *testing.T, w *Watcher, n int) {
	t.Helper()
	require.Eventually(t, func() bool {
		return w.room.Stats(0).Held == int64(n)
	}, time.Minute, time.Millisecond)
}

func TestWatcherBounds(t *testing.T) {
	t.Parallel()
	store := ledger.New(servicetest.DB(t))
	w := NewWatcher(Config{Ended: store.Ended, Most: 8, Interval: 5 * time.Millisecond})
	stop := run(t, w)
	id := newTask(t, store)
	answers := make(chan error, 9)
	for range 8 {
		go func() { answers <- w.Wait(t.Context(), 1, id, time.Minute) }()
	}
	waiters(t, w, 8)
	var p *respond.Problem
	require.True(t, errors.As(w.Wait(t.Context(), 1, id, time.Minute), &p), "alone it has all, and no more")
	require.Equal(t, 429, p.Status)
	require.Positive(t, p.RetryAfter)

	// Another organization, or operators, still find a place.
	go func() { answers <- w.Wait(t.Context(), 0, id, time.Minute) }()
	waiters(t, w, 9)
	require.True(t, errors.As(w.Wait(t.Context(), 9, id, time.Minute), &p))
	require.Equal(t, 429, p.Status)

	// A process that ends lets all go, and later ones do not wait.
	stop()
	for range 9 {
		require.NoError(t, <-answers)
	}
	waiters(t, w, 0)
	require.NoError(t, w.Wait(t.Context(), 1, id, time.Minute))
	require.Empty(t, w.waiting)
}

func TestWatcherForgetsCallersWhoLeft(t *testing.T) {
	t.Parallel()
	store := ledger.New(servicetest.DB(t))
	w := NewWatcher(Config{Ended: store.Ended, Interval: 5 * time.Millisecond})
	run(t, w)
	id := newTask(t, store)
	ctx, cancel := context.WithCancel(t.Context())
	answer := make(chan error)
	go func() { answer <- w.Wait(ctx, 1, id, time.Minute) }()
	waiters(t, w, 1)
	cancel()
	require.ErrorIs(t, <-answer, context.Canceled)
	require.Empty(t, w.ids())
	require.NoError(t, w.Wait(t.Context(), 1, id, time.Millisecond), "time over")
	// A task that is not there has nothing to wait for.
	require.NoError(t, w.Wait(t.Context(), 1, uuid.New(), time.Minute))
	require.Empty(t, w.ids())
}

func TestWatcherSurvivesTheDatabase(t *testing.T) {
	t.Parallel()
	away, err := storage.Open(storage.Config{URL: "postgres://x:y@127.0.0.1:1/none"})
	require.NoError(t, err)
	t.Cleanup(func() { _ = away.Close() })
	w := NewWatcher(Config{Ended: ledger.New(away).Ended, Interval: time.Millisecond})
	run(t, w)
	require.NoError(t, w.Wait(t.Context(), 1, uuid.New(), 50*time.Millisecond))
}

// However long the database is away, the log has its going and its coming back.
func TestWatcherLogsOnce(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	var fault error
	w := NewWatcher(Config{Log: slog.New(slog.NewTextHandler(&log, nil)),
		Ended: func(context.Context, []uuid.UUID) ([]uuid.UUID, error) { return nil, fault }})
	look := func(times int) {
		for range times {
			w.look(t.Context(), []uuid.UUID{uuid.New()})
		}
	}
	look(2)
	require.Empty(t, log.String())
	fault = errors.New("away")
	look(3)
	require.Equal(t, 1, strings.Count(log.String(), "\n"), log.String())
	fault = nil
	look(3)
	require.Equal(t, 2, strings.Count(log.String(), "\n"), log.String())
	require.Contains(t, log.String(), "read again")
}

func TestFor(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]time.Duration{"": 0, "wait=": 0, "wait=0": 0, "wait=7": 7 * time.Second, "wait=60": Max} {
		c, _ := gin.CreateTestContext(httptest.NewRecorder())
		c.Request = httptest.NewRequest("GET", "/?"+query, nil)
		got, err := For(c)
		require.NoError(t, err, query)
		require.Equal(t, want, got, query)
	}
	for _, query := range []string{"wait=61", "wait=-1", "wait=x", "wait=1.5"} {
		c, _ := gin.CreateTestContext(httptest.NewRecorder())
		c.Request = httptest.NewRequest("GET", "/?"+query, nil)
		_, err := For(c)
		var invalid *storage.InvalidError
		require.ErrorAs(t, err, &invalid, query)
		require.Equal(t, "wait", invalid.Field)
	}
}
