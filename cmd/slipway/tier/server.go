package tier

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/slipway-qa/slipway/api/connection"
	"github.com/slipway-qa/slipway/api/ops"
	"github.com/slipway-qa/slipway/cmd/slipway/terminal"
	"github.com/slipway-qa/slipway/cmd/slipway/version"
)

// RequestGrace is the time that requests get to end at a stop: every request, a
// crash submission that waits for its commit included, has a deadline of 30 s.
// stop_grace_period in compose.yaml contains it, and SLIPWAY_STOP_DELAY.
const RequestGrace = 35 * time.Second

// server is a listener that is served.
type server struct {
	http  *http.Server
	done  sync.WaitGroup
	leave atomic.Bool
	ended func() // closes what the listener still keeps; nil: nothing
}

// serve runs an HTTP server.
func (s *Services) serve(listener net.Listener, handler http.Handler) *server {
	v := &server{}
	v.http = &http.Server{Handler: v.closing(handler),
		// A client that never completes its headers must not keep a connection;
		// the router sets deadlines for bodies.
		ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(s.Log.Handler(), slog.LevelDebug)}
	if bounded, ok := listener.(*connection.Listener); ok {
		v.http.ConnState, v.http.ConnContext, v.ended = bounded.State, bounded.Context, bounded.Stop
	}
	v.done.Go(func() {
		if err := v.http.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.failed <- fmt.Errorf("serve %s: %w", listener.Addr(), err)
		}
	})
	return v
}

// closing asks clients for another connection with each response, once the server is
// about to stop: they find another process for the next request. Connections that are
// idle are left open meanwhile, since a request may be on its way on one.
func (v *server) closing(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if v.leave.Load() {
			w.Header().Set("Connection", "close")
		}
		handler.ServeHTTP(w, r)
	})
}

// linger serves on for the delay, without keeping connections.
func (v *server) linger(delay time.Duration) {
	v.leave.Store(true)
	time.Sleep(delay)
}

// stop refuses new connections and gives requests RequestGrace to end.
func (v *server) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), RequestGrace)
	defer cancel()
	if err := v.http.Shutdown(ctx); err != nil {
		_ = v.http.Close()
	}
	v.done.Wait()
	if v.ended != nil {
		v.ended()
	}
}

// startOps serves health and metrics of a worker or scheduler: until the tier has
// stopped, as nobody should kill one that is still ending its tasks.
func (s *Services) startOps(stops *cleanups, of ops.Process) error {
	if s.Settings.OpsListen == "" {
		return nil
	}
	ready, err := s.Readiness(of)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", s.Settings.OpsListen)
	if err != nil {
		return fmt.Errorf("listen for health and metrics: %w", err)
	}
	served := s.serve(listener, ops.Mux(version.Short(), ready, s.metrics))
	stops.addLast(served.stop)
	stops.add(ready.Drain)
	s.Log.Info("started", "ops_listen", listener.Addr().String(), "version", version.Short(), terminal.Routine, true)
	return nil
}
