package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// product is a running `slipway up`.
type product struct {
	dir       string
	cmd       *exec.Cmd
	done      chan error
	base      string
	token     string
	apiKey    string
	username  string // of the authoring interface, with accessKey
	accessKey string
	database  string
}

// startProduct starts slipway with private servers in a folder of its own; the
// program is built unless one is named.
func startProduct(ctx context.Context, binary string, args ...string) (*product, error) {
	dir, err := os.MkdirTemp("", "slipway-bench-")
	if err != nil {
		return nil, err
	}
	p := &product{dir: dir, done: make(chan error, 1)}
	bin := filepath.Join(dir, "slipway")
	if binary != "" {
		bin = binary
	} else if out, err := exec.CommandContext(ctx, "go", "build", "-o", bin, "github.com/slipway-qa/slipway/cmd/slipway").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build slipway: %w\n%s", err, out)
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	data := filepath.Join(dir, "data")
	p.cmd = exec.Command(bin, append([]string{"up", "--data-dir", data, "--listen", "127.0.0.1:0", "--log-level", "warn"}, args...)...)
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() { p.done <- p.cmd.Wait() }()
	if err := p.ready(ctx, data); err != nil {
		tail, _ := os.ReadFile(filepath.Join(dir, "log"))
		p.stop()
		return nil, fmt.Errorf("start slipway: %w\n%s", err, tail)
	}
	return p, nil
}

// ready waits until the api answers and reads the keys.
func (p *product) ready(ctx context.Context, data string) error {
	deadline := time.Now().Add(time.Minute)
	for time.Now().Before(deadline) {
		select {
		case err := <-p.done:
			return fmt.Errorf("ended: %v", err)
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
			Crash struct{ Token string } `json:"crash"`
		}
		if json.Unmarshal(raw, &boot) != nil {
			continue
		}
		answer, err := http.Get(boot.BaseURL + "/readyz")
		if err != nil {
			continue
		}
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			continue
		}
		p.base, p.token, p.apiKey = boot.BaseURL, boot.Crash.Token, boot.Owner.APIKey
		p.username, p.accessKey = boot.Owner.Username, boot.Owner.AccessKey
		p.database, err = environment(filepath.Join(data, "environment"), "SLIPWAY_DATABASE_URL")
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

func (p *product) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.done:
	case <-time.After(time.Minute):
		_ = p.cmd.Process.Kill()
	}
	_ = os.RemoveAll(p.dir)
}

// startFloor starts this program's floor server and gives its address.
func startFloor(ctx context.Context, database string) (address string, stop func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return "", nil, err
	}
	cmd := exec.CommandContext(ctx, self, "floor", "--database", database)
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
		return "", nil, fmt.Errorf("floor server: %w", err)
	}
	return strings.TrimSpace(line), stop, nil
}

// treeMemory sums the memory of a process and all below it, shared pages counted
// by their share (PSS), in bytes.
func treeMemory(root int) (int64, error) {
	children := map[int][]int{}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile(filepath.Join("/proc", e.Name(), "stat"))
		if err != nil {
			continue
		}
		_, rest, _ := strings.Cut(string(stat), ") ")
		if fields := strings.Fields(rest); len(fields) > 1 {
			if parent, err := strconv.Atoi(fields[1]); err == nil {
				children[parent] = append(children[parent], pid)
			}
		}
	}
	var sum int64
	for queue := []int{root}; len(queue) > 0; queue = queue[1:] {
		queue = append(queue, children[queue[0]]...)
		rollup, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", queue[0]))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(rollup)) {
			if rest, ok := strings.CutPrefix(line, "Pss:"); ok {
				kb, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
				sum += kb << 10
			}
		}
	}
	return sum, nil
}
