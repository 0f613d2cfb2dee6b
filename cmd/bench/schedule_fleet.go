package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/slipway-qa/slipway/cmd/localservice"
	"github.com/slipway-qa/slipway/storage"
)

// poolsWithoutBrowsers are the default pools but the one of runs: suite runs are worked
// on, their jobs wait.
const poolsWithoutBrowsers = "2:schedule=1;4:critical=6,default=3;3:crash=1;128:webhook=1;16:webhook-slow=1;4:sync=1;2:bulk=1"

// fleet is a deployment with an organization: managed servers, and tiers as
// separate processes.
type fleet struct {
	dir       string
	binary    string
	variables []string
	servers   *localservice.Folder
	postgres  *localservice.Server
	db        *storage.DB
	members   []*member
}

// member is a process of the fleet; after a kill it is started again.
type member struct {
	fleet *fleet
	tier  string
	port  string
	log   string
	cmd   *exec.Cmd
	ended chan struct{}
}

func startFleet(ctx context.Context, binary string) (f *fleet, err error) {
	f = &fleet{binary: binary}
	defer func() {
		if err != nil {
			f.stop()
		}
	}()
	if f.dir, err = os.MkdirTemp("", "slipway-bench-"); err != nil {
		return nil, err
	}
	if f.servers, err = localservice.Open(filepath.Join(f.dir, "servers")); err != nil {
		return nil, err
	}
	if f.postgres, err = f.servers.Postgres(ctx, localservice.PostgresConfig{}); err != nil {
		return nil, err
	}
	redis, err := f.servers.Redis(ctx, localservice.RedisConfig{})
	if err != nil {
		return nil, err
	}
	f.variables = append(os.Environ(), "SLIPWAY_DATABASE_URL="+f.postgres.URL(), "SLIPWAY_REDIS_URL="+redis.URL(),
		"SLIPWAY_OBJECTS_URL=file://"+filepath.Join(f.dir, "objects"), "SLIPWAY_SIGNING_KEY="+strings.Repeat("k", 32),
		"SLIPWAY_PUBLIC_URL=http://127.0.0.1", "SLIPWAY_WORKER_POOLS="+poolsWithoutBrowsers, "SLIPWAY_WORKER_DRAIN=1s", "SLIPWAY_LOG_LEVEL=warn")
	for _, line := range [][]string{{"migrate"}, {"admin", "org", "create", "bench"},
		{"admin", "user", "create", "bench", "owner@example.com", "--role", "owner"}} {
		cmd := exec.CommandContext(ctx, binary, line...)
		cmd.Env = f.variables
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("slipway %s: %w\n%s", strings.Join(line, " "), err, out)
		}
	}
	f.db, err = storage.Open(storage.Config{URL: f.postgres.URL(), MaxConns: baselineConns + 2, ApplicationName: "bench"})
	return f, err
}

// ready starts tiers and waits until all are ready.
func (f *fleet) ready(ctx context.Context, tiers ...string) ([]*member, error) {
	var started []*member
	for _, tier := range tiers {
		port, err := freePort()
		if err != nil {
			return nil, err
		}
		m := &member{fleet: f, tier: tier, port: port, log: filepath.Join(f.dir, fmt.Sprintf("%s-%d.log", tier, len(f.members)))}
		if err := m.start(); err != nil {
			return nil, err
		}
		f.members, started = append(f.members, m), append(started, m)
	}
	for _, m := range started {
		if err := m.waitUntilReady(ctx); err != nil {
			return nil, err
		}
	}
	return started, nil
}

func freePort() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(listener.Addr().String())
	return port, errors.Join(err, listener.Close())
}

// waitUntilReady waits until /readyz of the process returns 200.
func (m *member) waitUntilReady(ctx context.Context) error {
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		if err := sleep(ctx, 50*time.Millisecond); err != nil {
			return err
		}
		response, err := http.Get("http://127.0.0.1:" + m.port + "/readyz")
		if err != nil {
			continue
		}
		_ = response.Body.Close()
		if response.StatusCode == http.StatusOK {
			return nil
		}
	}
	tail, _ := os.ReadFile(m.log)
	return fmt.Errorf("slipway %s is not ready after a minute\n%s", m.tier, tail)
}

func (m *member) start() error {
	log, err := os.OpenFile(m.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(m.fleet.binary, m.tier)
	cmd.Env = append(m.fleet.variables[:len(m.fleet.variables):len(m.fleet.variables)], "SLIPWAY_OPS_LISTEN=127.0.0.1:"+m.port, "SLIPWAY_LISTEN=127.0.0.1:"+m.port)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	m.cmd, m.ended = cmd, ended
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	return nil
}

func (m *member) pid() int { return m.cmd.Process.Pid }

// kill ends the process as a crash would. It returns an error when the process had ended
// by itself.
func (m *member) kill() error {
	if !m.hasEnded() {
		_ = m.cmd.Process.Kill()
		<-m.ended
		if status, ok := m.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signal() == syscall.SIGKILL {
			return nil
		}
	}
	log, _ := os.ReadFile(m.log)
	return fmt.Errorf("slipway %s ended by itself: %s: %s", m.tier, m.cmd.ProcessState, lastWords(string(log)))
}

// hasEnded reports whether the process has ended, killed or not.
func (m *member) hasEnded() bool {
	select {
	case <-m.ended:
		return true
	default:
		return false
	}
}

// lastWords returns the line of a log that says why a Go program ended: that of its last
// panic, else its last line.
func lastWords(log string) string {
	lines := strings.Split(strings.TrimSpace(log), "\n")
	for _, line := range slices.Backward(lines) {
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			return line
		}
	}
	return lines[len(lines)-1]
}

// stop ends what the fleet has started, the servers last.
func (f *fleet) stop() {
	for _, m := range f.members {
		_ = m.cmd.Process.Signal(syscall.SIGTERM)
	}
	for _, m := range f.members {
		select {
		case <-m.ended:
		case <-time.After(time.Minute):
			_ = m.kill()
		}
	}
	if f.db != nil {
		_ = f.db.Close()
	}
	if f.servers != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		_ = f.servers.Close(ctx)
	}
	_ = os.RemoveAll(f.dir)
}

// sleep waits, or returns the error of a context that has ended.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// repeat calls round at an interval until stop is called, which returns the first
// error; an error ends the calls.
func repeat(ctx context.Context, every time.Duration, round func(context.Context) error) (stop func() error) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() {
		for {
			if sleep(ctx, every) != nil {
				done <- nil
				return
			}
			if err := round(ctx); err != nil && !errors.Is(err, context.Canceled) && ctx.Err() == nil {
				done <- err
				return
			}
		}
	}()
	return func() error {
		cancel()
		return <-done
	}
}
