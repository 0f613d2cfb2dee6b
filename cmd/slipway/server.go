package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/slipway-qa/slipway/api/ops"
)

// requestGrace is the time that requests get to end at a stop: every request, a
// crash submission that waits for its commit included, has a deadline of 30 s.
// stop_grace_period in compose.yaml contains it.
const requestGrace = 35 * time.Second

// serve runs an HTTP server and returns what stops it: new connections are refused
// and requests get requestGrace to end.
func (s *services) serve(listener net.Listener, handler http.Handler) (stop func()) {
	server := &http.Server{Handler: handler,
		// A client that never completes its headers must not keep a connection;
		// the router sets deadlines for bodies.
		ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug)}
	var done sync.WaitGroup
	done.Go(func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.failed <- fmt.Errorf("serve %s: %w", listener.Addr(), err)
		}
	})
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), requestGrace)
		defer cancel()
		if err := server.Shutdown(ctx); err != nil {
			_ = server.Close()
		}
		done.Wait()
	}
}

// startOps serves health and metrics of a worker or scheduler.
func (s *services) startOps(stops *cleanups, of ops.Process) error {
	if s.settings.OpsListen == "" {
		return nil
	}
	ready, err := s.readiness(of)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", s.settings.OpsListen)
	if err != nil {
		return fmt.Errorf("listen for health and metrics: %w", err)
	}
	stop := s.serve(listener, ops.Mux(version(), ready, s.metrics))
	stops.add(func() {
		ready.Drain()
		stop()
	})
	s.log.Info("started", "ops_listen", listener.Addr().String(), "version", version())
	return nil
}
