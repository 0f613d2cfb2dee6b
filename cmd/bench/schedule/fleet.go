package schedule

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/slipway-qa/slipway/cmd/bench/process"
	"github.com/slipway-qa/slipway/cmd/localservice"
	"github.com/slipway-qa/slipway/storage"
)

// poolsWithoutBrowsers are the default pools but the one of runs: suite runs are worked
// on, their jobs wait.
const poolsWithoutBrowsers = "2:schedule=1;4:critical=6,default=3;3:crash=1;128:webhook=1;16:webhook-slow=1;4:sync=1;2:bulk=1"

// Fleet is a deployment with an organization: managed servers, and tiers as
// separate processes.
type Fleet struct {
	Dir       string
	Binary    string
	Variables []string
	servers   *localservice.Folder
	Postgres  *localservice.Server
	DB        *storage.DB
	members   []*Member
}

// Member is a process of the fleet; after a kill it is started again.
type Member struct {
	Fleet *Fleet
	Tier  string
	Port  string
	Log   string
	cmd   *exec.Cmd
	Ended chan struct{}
}

// StartFleet starts the servers of a fleet and makes its organization; no tier runs yet.
func StartFleet(ctx context.Context, binary string) (f *Fleet, err error) {
	f = &Fleet{Binary: binary}
	defer func() {
		if err != nil {
			f.Stop()
		}
	}()
	if f.Dir, err = os.MkdirTemp("", "slipway-bench-"); err != nil {
		return nil, err
	}
	if f.servers, err = localservice.Open(filepath.Join(f.Dir, "servers")); err != nil {
		return nil, err
	}
	if f.Postgres, err = f.servers.Postgres(ctx, localservice.PostgresConfig{}); err != nil {
		return nil, err
	}
	redis, err := f.servers.Redis(ctx, localservice.RedisConfig{})
	if err != nil {
		return nil, err
	}
	f.Variables = append(os.Environ(), "SLIPWAY_DATABASE_URL="+f.Postgres.URL(), "SLIPWAY_REDIS_URL="+redis.URL(),
		"SLIPWAY_OBJECTS_URL=file://"+filepath.Join(f.Dir, "objects"), "SLIPWAY_SIGNING_KEY="+strings.Repeat("k", 32),
		"SLIPWAY_PUBLIC_URL=http://127.0.0.1", "SLIPWAY_WORKER_POOLS="+poolsWithoutBrowsers, "SLIPWAY_WORKER_DRAIN=1s", "SLIPWAY_LOG_LEVEL=warn")
	for _, line := range [][]string{{"migrate"}, {"admin", "org", "create", "bench"},
		{"admin", "user", "create", "bench", "owner@example.com", "--role", "owner"}} {
		cmd := exec.CommandContext(ctx, binary, line...)
		cmd.Env = f.Variables
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("slipway %s: %w\n%s", strings.Join(line, " "), err, out)
		}
	}
	f.DB, err = storage.Open(storage.Config{URL: f.Postgres.URL(), MaxConns: baselineConns + 2, ApplicationName: "bench"})
	return f, err
}

// Ready starts tiers and waits until all are ready.
func (f *Fleet) Ready(ctx context.Context, tiers ...string) ([]*Member, error) {
	var started []*Member
	for _, tier := range tiers {
		port, err := process.FreePort()
		if err != nil {
			return nil, err
		}
		m := &Member{Fleet: f, Tier: tier, Port: port, Log: filepath.Join(f.Dir, fmt.Sprintf("%s-%d.log", tier, len(f.members)))}
		if err := m.Start(); err != nil {
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

// waitUntilReady waits until /readyz of the process returns 200.
func (m *Member) waitUntilReady(ctx context.Context) error {
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		if err := process.Sleep(ctx, 50*time.Millisecond); err != nil {
			return err
		}
		if process.Ready(ctx, "http://127.0.0.1:"+m.Port) {
			return nil
		}
	}
	tail, _ := os.ReadFile(m.Log)
	return fmt.Errorf("slipway %s is not ready after a minute\n%s", m.Tier, tail)
}

// Start starts the process of the member.
func (m *Member) Start() error {
	log, err := os.OpenFile(m.Log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(m.Fleet.Binary, m.Tier)
	cmd.Env = append(m.Fleet.Variables[:len(m.Fleet.Variables):len(m.Fleet.Variables)], "SLIPWAY_OPS_LISTEN=127.0.0.1:"+m.Port,
		"SLIPWAY_LISTEN=127.0.0.1:"+m.Port)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	m.cmd, m.Ended = cmd, ended
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	return nil
}

func (m *Member) pid() int { return m.cmd.Process.Pid }

// Kill ends the process as a crash would. It returns an error when the process had ended
// by itself.
func (m *Member) Kill() error {
	if !m.HasEnded() {
		_ = m.cmd.Process.Kill()
		<-m.Ended
		if status, ok := m.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signal() == syscall.SIGKILL {
			return nil
		}
	}
	log, _ := os.ReadFile(m.Log)
	return fmt.Errorf("slipway %s ended by itself: %s: %s", m.Tier, m.cmd.ProcessState, LastWords(string(log)))
}

// HasEnded reports whether the process has ended, killed or not.
func (m *Member) HasEnded() bool {
	select {
	case <-m.Ended:
		return true
	default:
		return false
	}
}

// LastWords returns the line of a log that says why a Go program ended: that of its last
// panic, else its last line.
func LastWords(log string) string {
	lines := strings.Split(strings.TrimSpace(log), "\n")
	for _, line := range slices.Backward(lines) {
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			return line
		}
	}
	return lines[len(lines)-1]
}

// Stop ends what the fleet has started, the servers last.
func (f *Fleet) Stop() {
	for _, m := range f.members {
		_ = m.cmd.Process.Signal(syscall.SIGTERM)
	}
	for _, m := range f.members {
		select {
		case <-m.Ended:
		case <-time.After(time.Minute):
			_ = m.Kill()
		}
	}
	if f.DB != nil {
		_ = f.DB.Close()
	}
	if f.servers != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		_ = f.servers.Close(ctx)
	}
	_ = os.RemoveAll(f.Dir)
}
