package ops

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

var errAway = errors.New("dial tcp 10.0.0.1:6379: connection refused")

// watching is a watch of one dependency that can be taken away, with its log and a
// logger whose lines it holds back.
type watching struct {
	down atomic.Bool
	out  bytes.Buffer
	log  *slog.Logger
	*Dependencies
}

func newWatching(t *testing.T) *watching {
	w := &watching{}
	plain := slog.NewTextHandler(&w.out, nil)
	w.Dependencies = NewDependencies(slog.New(plain))
	w.log = slog.New(w.Handler(plain))
	w.Add(Dependency{Name: Redis, Host: "redis:6379", Caused: func(err error) bool { return errors.Is(err, errAway) },
		Check: func(context.Context) error {
			if w.down.Load() {
				return errAway
			}
			return nil
		}})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); w.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	synctest.Wait()
	return w
}

func (w *watching) count(text string) int { return strings.Count(w.out.String(), text) }

// An outage of three and a half minutes, in which everybody complains ten times a
// second, is five lines: at once, three summaries, and the end.
func TestTroubleIsLoggedOnceAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWatching(t)
		w.down.Store(true)
		for i := range 2100 {
			w.log.Warn("relay failed", "error", fmt.Errorf("count deliveries: %w", errAway))
			if i == 0 {
				require.Equal(t, 1, w.count("dependency not available"), "at once")
			}
			w.log.Error("asynq", "message", "Dequeue error", "dependency", Redis)
			time.Sleep(100 * time.Millisecond)
		}
		require.Equal(t, 4, w.count("dependency not available"), w.out.String())
		require.Zero(t, w.count("relay failed\" error"), "held back")
		require.Contains(t, w.out.String(), `dependency=redis host=redis:6379`)
		require.Contains(t, w.out.String(), "connection refused")
		require.Contains(t, w.out.String(), "lines_held_back=1200")

		w.down.Store(false)
		time.Sleep(quietFor + 3*time.Second)
		require.Equal(t, 1, w.count("dependency available again"), w.out.String())
		require.Equal(t, 5, strings.Count(w.out.String(), "\n"))
	})
}

// Other troubles are not held back, and what is not wrong is not either.
func TestOtherLinesPass(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWatching(t)
		w.log.Error("something else", "error", errors.New("a defect"))
		w.log.Warn("asynq", "message", "a warning while all is well", "dependency", Redis)
		w.down.Store(true)
		time.Sleep(checkEvery)
		w.log.Info("task ended", "error", errAway)
		w.log.Error("something else", "error", errors.New("another defect"))
		require.Equal(t, 2, w.count("something else"))
		require.Equal(t, 1, w.count("a warning while all is well"))
		require.Equal(t, 1, w.count("task ended"), "an information is not held back")
	})
}

// What others say of a dependency that is well passes once a minute, and the rest is
// counted.
func TestLinesAboutOneThatIsWell(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWatching(t)
		for range 1300 {
			w.log.Error("asynq", "message", "something odd", "dependency", Redis)
			time.Sleep(100 * time.Millisecond)
		}
		require.Equal(t, 3, strings.Count(w.out.String(), "\n"), w.out.String())
		require.Equal(t, 3, w.count("something odd"))
		require.Equal(t, 2, w.count("lines_held_back=599"))
	})
}

// What comes and goes is no more than a few lines a minute.
func TestFlappingDependency(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWatching(t)
		for range 20 {
			w.down.Store(true)
			w.log.Warn("relay failed", "error", errAway)
			time.Sleep(2 * time.Second)
			w.down.Store(false)
			time.Sleep(13 * time.Second)
		}
		require.LessOrEqual(t, strings.Count(w.out.String(), "\n"), 11, "five minutes:\n%s", w.out.String())
		require.GreaterOrEqual(t, w.count("dependency not available"), 5)
	})
}

// One whose check goes well while what is done with it fails, such as a server that
// serves reads and refuses writes, stays away until nothing fails any more.
func TestTroubleThatTheCheckDoesNotSee(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWatching(t)
		for range 30 {
			w.log.Warn("not written", "error", errAway)
			time.Sleep(4 * time.Second)
		}
		require.Zero(t, w.count("again"), w.out.String())
		require.ErrorIs(t, w.Last(Redis)(t.Context()), errAway)
		time.Sleep(quietFor + 3*time.Second)
		require.Equal(t, 1, w.count("again"))
		require.NoError(t, w.Last(Redis)(t.Context()))
	})
}

// With level debug the lines are there.
func TestHeldLinesAtDebug(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	handler := slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug})
	d := NewDependencies(slog.New(handler))
	d.Add(Dependency{Name: Redis, Check: fine, Caused: func(error) bool { return true }})
	slog.New(d.Handler(handler)).With("tier", "worker").Warn("relay failed", "error", errAway)
	require.Contains(t, out.String(), `level=DEBUG msg="relay failed" tier=worker`)
}
