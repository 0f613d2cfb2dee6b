// Package process starts Slipway as a program of its own, and calls and watches it from
// outside.
//
// A product is one `slipway up` with managed servers, in a temporary folder that ends with it or
// in one that is kept. What the bench does to it goes through its interfaces, but for rows that
// fill its database (StartToFill). Processor time and memory are read from /proc, so it runs on
// Linux only; memory is that of slipway and of the processes that read files for it.
//
// A program that is not ready after a minute is stopped, and the error holds its log.
package process

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Product is a running `slipway up`.
type Product struct {
	Dir       string
	Cmd       *exec.Cmd
	done      chan error
	Base      string
	Token     string
	APIKey    string
	Username  string // of the authoring interface, with AccessKey
	AccessKey string
	Database  string

	Operator         string
	OperatorPassword string
	keep             bool // Dir is somebody's own
}

// Start starts slipway with managed servers in a temporary folder. It
// builds the program unless binary names one.
func Start(ctx context.Context, binary string, args ...string) (*Product, error) {
	return StartAt(ctx, binary, "", args...)
}

// StartAt is Start for one that listens at an address and is called there,
// whatever its public address is; "" is a free port.
func StartAt(ctx context.Context, binary, listen string, args ...string) (*Product, error) {
	dir, err := os.MkdirTemp("", "slipway-bench-")
	if err != nil {
		return nil, err
	}
	p := &Product{Dir: dir, done: make(chan error, 1)}
	return p.start(ctx, binary, listen, args...)
}

// StartIn is Start for one whose folder stays, with what is in it; "" is a
// temporary one.
func StartIn(ctx context.Context, binary, dir string) (*Product, error) {
	if dir == "" {
		return Start(ctx, binary)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	p := &Product{Dir: dir, keep: true, done: make(chan error, 1)}
	return p.start(ctx, binary, "")
}

// start starts the program, which listens at an address ("" is a free port), and waits until
// it is ready.
func (p *Product) start(ctx context.Context, binary, listen string, args ...string) (*Product, error) {
	dir := p.Dir
	if listen != "" {
		p.Base = "http://" + listen
	}
	bin, err := Build(ctx, dir, binary)
	if err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	data := filepath.Join(dir, "data")
	p.Cmd = exec.Command(bin, append([]string{"up", "--data-dir", data, "--listen", cmp.Or(listen, "127.0.0.1:0"),
		"--log-level", "warn"}, args...)...)
	p.Cmd.Stdout, p.Cmd.Stderr = log, log
	p.Cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.Cmd.Start(); err != nil {
		return nil, err
	}
	go func() { p.done <- p.Cmd.Wait() }()
	if err := p.waitUntilReady(ctx, data); err != nil {
		tail, _ := os.ReadFile(filepath.Join(dir, "log"))
		p.Stop()
		return nil, fmt.Errorf("start slipway: %w\n%s", err, tail)
	}
	return p, nil
}

// Build builds the program into a folder, unless named is a program, and
// returns its path.
func Build(ctx context.Context, dir, named string) (string, error) {
	if named != "" {
		return named, nil
	}
	path := filepath.Join(dir, "slipway")
	out, err := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-o", path,
		"github.com/slipway-qa/slipway/cmd/slipway").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build slipway: %w\n%s", err, out)
	}
	return path, nil
}

// waitUntilReady waits until the api is ready and reads the keys.
func (p *Product) waitUntilReady(ctx context.Context, data string) error {
	deadline := time.Now().Add(time.Minute)
	for time.Now().Before(deadline) {
		select {
		case err := <-p.done:
			return fmt.Errorf("ended: %v", err) //nolint:errorlint // nil where it ended well
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
		raw, err := os.ReadFile(filepath.Join(data, "bootstrap.json"))
		if err != nil {
			continue
		}
		var boot struct {
			BaseURL string `json:"base_url"`
			Owner   struct {
				APIKey    string `json:"api_key"`
				Username  string `json:"username"`
				AccessKey string `json:"access_key"`
			} `json:"owner"`
			Crash    struct{ Token string } `json:"crash"`
			Operator struct {
				Username string `json:"username"`
				Password string `json:"password"`
			} `json:"operator"`
		}
		if json.Unmarshal(raw, &boot) != nil {
			continue
		}
		base := cmp.Or(p.Base, boot.BaseURL)
		if !Ready(ctx, base) {
			continue
		}
		p.Base, p.Token, p.APIKey = base, boot.Crash.Token, boot.Owner.APIKey
		p.Username, p.AccessKey = boot.Owner.Username, boot.Owner.AccessKey
		p.Operator, p.OperatorPassword = boot.Operator.Username, boot.Operator.Password
		p.Database, err = environment(filepath.Join(data, "environment"), "SLIPWAY_DATABASE_URL")
		return err
	}
	return errors.New("not ready after a minute")
}

func environment(path, name string) (string, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(raw)) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), name+"="); ok {
			return strings.Trim(value, "'"), nil
		}
	}
	return "", fmt.Errorf("%s is not in %s", name, path)
}

// Stop ends the program and what it started, and removes its folder unless that is somebody's own.
func (p *Product) Stop() {
	_ = p.Cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.done:
	case <-time.After(time.Minute):
		_ = p.Cmd.Process.Kill()
	}
	if !p.keep {
		_ = os.RemoveAll(p.Dir)
	}
}

// StartBaseline starts this program's baseline server and returns its address.
func StartBaseline(ctx context.Context, database string) (address string, stop func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return "", nil, err
	}
	cmd := exec.CommandContext(ctx, self, "baseline", "--database", database)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	stop = func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait()
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		stop()
		return "", nil, fmt.Errorf("baseline server: %w", err)
	}
	return strings.TrimSpace(line), stop, nil
}

// Tree returns a process and all its descendants.
func Tree(root int) ([]int, error) {
	children := map[int][]int{}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		fields, err := Stat(pid)
		if err != nil {
			continue // ended meanwhile
		}
		parent, err := strconv.Atoi(fields[1])
		if err != nil {
			return nil, err
		}
		children[parent] = append(children[parent], pid)
	}
	tree := []int{root}
	for i := 0; i < len(tree); i++ {
		tree = append(tree, children[tree[i]]...)
	}
	return tree, nil
}

// Stat returns the fields of /proc/PID/stat after the name, from the third
// on: state, parent, and so forth (proc_pid_stat(5)).
func Stat(pid int) ([]string, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil, err
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 15 {
		return nil, fmt.Errorf("/proc/%d/stat has %d fields behind the name", pid, len(fields))
	}
	return fields, nil
}

// ProcessorTime returns the sum of the processor time of a process and all its
// descendants, ended ones included.
func ProcessorTime(root int) (time.Duration, error) {
	const tick = 10 * time.Millisecond // Linux counts hundredths for programs
	tree, err := Tree(root)
	if err != nil {
		return 0, err
	}
	var sum time.Duration
	for _, pid := range tree {
		fields, err := Stat(pid)
		if err != nil {
			if pid == root {
				return 0, err
			}
			continue // ended meanwhile: its parent has its time
		}
		for _, field := range fields[11:15] { // utime, stime, and those of ended children
			n, err := strconv.ParseInt(field, 10, 64)
			if err != nil {
				return 0, err
			}
			sum += time.Duration(n) * tick
		}
	}
	return sum, nil
}
