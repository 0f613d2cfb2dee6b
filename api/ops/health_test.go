package ops

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
)

func TestHealth(t *testing.T) {
	t.Parallel()
	res, body := get(t, Health("1.2.3"), http.MethodGet, HealthPath)
	require.Equal(t, http.StatusOK, res.StatusCode)
	require.JSONEq(t, `{"status":"ok","version":"1.2.3"}`, body)
}

func TestReadinessStatus(t *testing.T) {
	t.Parallel()
	broken := func(context.Context) error { return errors.New("broken") }
	panics := func(context.Context) error { panic("broken") }
	for _, tc := range []struct {
		name   string
		checks []Check
		code   int
		status string
	}{
		{"nothing to check", nil, 200, "ok"},
		{"all well", []Check{{"a", fine, true}, {"b", fine, false}}, 200, "ok"},
		{"other fails", []Check{{"a", fine, true}, {"b", broken, false}}, 200, "degraded"},
		{"critical fails", []Check{{"a", broken, true}, {"b", fine, false}}, 503, "unavailable"},
		{"both fail", []Check{{"a", broken, true}, {"b", broken, false}}, 503, "unavailable"},
		{"both fail, other order", []Check{{"b", broken, false}, {"a", broken, true}}, 503, "unavailable"},
		{"critical panics", []Check{{"a", panics, true}}, 503, "unavailable"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			code, rep := ready(t, NewReadiness(tc.checks, discard()))
			require.Equal(t, tc.code, code)
			require.Equal(t, tc.status, rep.Status)
			require.Len(t, rep.Checks, len(tc.checks))
			for _, c := range tc.checks {
				require.Equal(t, c.Critical, rep.Checks[c.Name].Critical)
				require.Equal(t, rep.Checks[c.Name].Status == "ok", rep.Checks[c.Name].Error == "")
			}
		})
	}
}

// TestReadinessStorm: probes share one look, and another follows after a second.
func TestReadinessStorm(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var looks atomic.Int32
		r := NewReadiness([]Check{{"a", func(context.Context) error {
			looks.Add(1)
			time.Sleep(100 * time.Millisecond)
			return nil
		}, true}}, discard())
		var wg sync.WaitGroup
		for range 200 {
			wg.Go(func() {
				code, rep := ready(t, r)
				require.Equal(t, 200, code)
				require.EqualValues(t, 100, rep.Checks["a"].TookMS)
			})
		}
		wg.Wait()
		require.EqualValues(t, 1, looks.Load())
		time.Sleep(fresh - time.Millisecond)
		_, _ = ready(t, r)
		require.EqualValues(t, 1, looks.Load(), "still fresh")
		time.Sleep(time.Millisecond)
		_, _ = ready(t, r)
		require.EqualValues(t, 2, looks.Load(), "stale after a second")
	})
}

// TestReadinessHang: a check that ignores its context costs its limit once and
// one goroutine in all, and the others are not held up.
func TestReadinessHang(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var calls atomic.Int32
		r := NewReadiness([]Check{
			{"stuck", func(context.Context) error { calls.Add(1); <-release; return nil }, false},
			{"heeds", func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, false},
			{"quick", fine, true},
		}, discard())
		started := time.Now()
		code, rep := ready(t, r)
		require.Equal(t, 200, code)
		require.Equal(t, besideLimit, time.Since(started), "within the second of a probe")
		require.Equal(t, "timeout", rep.Checks["stuck"].Error)
		require.Equal(t, "timeout", rep.Checks["heeds"].Error)
		require.Equal(t, "ok", rep.Checks["quick"].Status)
		for range 5 {
			time.Sleep(2 * time.Second)
			_, rep = ready(t, r)
			require.Equal(t, "timeout", rep.Checks["stuck"].Error)
		}
		require.EqualValues(t, 1, calls.Load())
		close(release)
		synctest.Wait()
		time.Sleep(2 * time.Second)
		_, rep = ready(t, r)
		require.Equal(t, "ok", rep.Checks["stuck"].Status, "it is asked again once it returned")
	})
}

func TestReadinessHangOfACriticalCheck(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := NewReadiness([]Check{{"heeds", func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, true}}, discard())
		started := time.Now()
		code, rep := ready(t, r)
		require.Equal(t, 503, code)
		require.Equal(t, callLimit, time.Since(started))
		require.Equal(t, "timeout", rep.Checks["heeds"].Error)
	})
}

// TestReadinessGoneClient: the first prober leaves, the look goes on for others.
func TestReadinessGoneClient(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := NewReadiness([]Check{{"a", func(ctx context.Context) error {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(time.Second):
				return nil
			}
		}, true}}, discard())
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := r.cache.get(ctx)
		require.ErrorIs(t, err, errGone)
		code, _ := ready(t, r)
		require.Equal(t, 200, code)
	})
}

func TestReadinessDrain(t *testing.T) {
	t.Parallel()
	r := NewReadiness([]Check{{"a", fine, true}}, discard())
	code, _ := ready(t, r)
	require.Equal(t, 200, code)
	r.Drain()
	code, rep := ready(t, r)
	require.Equal(t, 503, code)
	require.Equal(t, "stopping", rep.Checks["process"].Error)
}

// TestReadinessLog: a failure and a recovery are one line each, with the whole
// error, however often readiness is asked.
func TestReadinessLog(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var (
			out  bytes.Buffer
			down = true
		)
		r := NewReadiness([]Check{{"a", func(context.Context) error {
			if down {
				return errors.New("the whole story")
			}
			return nil
		}, true}}, slog.New(slog.NewTextHandler(&out, nil)))
		for range 3 {
			_, _ = ready(t, r)
			time.Sleep(fresh)
		}
		require.Equal(t, 1, strings.Count(out.String(), "the whole story"))
		down = false
		for range 3 {
			_, _ = ready(t, r)
			time.Sleep(fresh)
		}
		require.Equal(t, 1, strings.Count(out.String(), "recovered"))
		require.Equal(t, 2, strings.Count(out.String(), "\n"))
	})
}

func TestReasonTellsNoSecrets(t *testing.T) {
	t.Parallel()
	const secret = "postgres://slipway:hunter2@db.corp.example:5432/slipway"
	addr := &net.TCPAddr{IP: net.IPv4(10, 1, 2, 3), Port: 5432}
	for _, tc := range []struct {
		err  error
		want string
	}{
		{errors.New(secret), "failed"},
		{fmt.Errorf("%s: %w", secret, context.DeadlineExceeded), "timeout"},
		{errHangs, "timeout"},
		{&net.OpError{Op: "dial", Net: "tcp", Addr: addr, Err: syscall.ECONNREFUSED}, "connection refused"},
		{storage.Wrap(&net.OpError{Op: "dial", Addr: addr, Err: syscall.ECONNREFUSED}, secret), "connection refused"},
		{&net.OpError{Op: "dial", Err: &net.DNSError{Name: "db.corp.example", Err: "no such host"}}, "host name not resolved"},
		{&net.OpError{Op: "read", Addr: addr, Err: syscall.ECONNRESET}, "not reachable"},
		{fmt.Errorf("%s: %w", secret, storage.ErrUnavailable), "not reachable"},
		{fmt.Errorf("check: %w", &openError{"crash waits 6m; limit 5m"}), "crash waits 6m; limit 5m"},
	} {
		require.Equal(t, tc.want, reason(tc.err), tc.err)
	}
}

func TestMux(t *testing.T) {
	t.Parallel()
	mux := Mux("1", NewReadiness(nil, discard()), NewMetrics(MetricsConfig{Version: "1", Log: discard()}))
	for _, tc := range []struct {
		method, path string
		code         int
	}{
		{"GET", "/healthz", 200}, {"GET", "/readyz", 200}, {"GET", "/metrics", 200},
		{"HEAD", "/healthz", 200}, {"HEAD", "/readyz", 200},
		{"POST", "/healthz", 405}, {"DELETE", "/metrics", 405},
		{"GET", "/", 404}, {"GET", "/readyz/x", 404}, {"GET", "/ops/queues", 404},
	} {
		res, _ := get(t, mux, tc.method, tc.path)
		require.Equal(t, tc.code, res.StatusCode, "%s %s", tc.method, tc.path)
	}
}
