package browser

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

// Limits bound what one managed browser may use while a test has it. A page that goes
// beyond them costs its own run, not the machine.
type Limits struct {
	// Memory of the browser and all its processes together, in bytes: what they hold
	// alone, swapped out or not; default 2 GiB.
	Memory int64
	// Processes of the browser; default 100.
	Processes int
}

const (
	defaultMemory    = 2 << 30
	defaultProcesses = 100
	// limitInterval: a script fills about 1 GiB a second.
	limitInterval = 250 * time.Millisecond
	// expendable lets the kernel end browsers before databases when memory is short
	// (proc_pid_oom_score_adj(5); 1000 is most).
	expendable = "600"
)

func (l Limits) withDefaults() Limits {
	if l.Memory <= 0 {
		l.Memory = defaultMemory
	}
	if l.Processes <= 0 {
		l.Processes = defaultProcesses
	}
	return l
}

// watch ends the browser of a lease when it goes beyond the limits. It returns what
// ends the watch. Where /proc cannot be read there are no limits.
func (p *Pool) watch(lease *Lease) (stop func()) {
	pid := processOf(lease.Session)
	if pid == 0 {
		return func() {}
	}
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", pid), []byte(expendable), 0)
	ctx, cancel := context.WithCancel(p.late)
	p.background(func() {
		defer cancel()
		ticker := time.NewTicker(limitInterval)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			reason := p.cfg.Limits.exceeded(usageOf(pid))
			if reason == "" {
				continue
			}
			lease.exceeded.Store(&reason)
			p.cfg.Log.Warn("a browser is ended", "reason", reason)
			if err := kill(lease.Session); err != nil {
				p.cfg.Log.Warn("a browser did not end", "error", err)
			}
			return
		}
	})
	return cancel
}

// exceeded returns which limit is exceeded, in words for people; "" for none.
func (l Limits) exceeded(processes int, memory int64) string {
	switch {
	case memory > l.Memory:
		return fmt.Sprintf("the page used more than %d MiB of memory, and its browser was ended", l.Memory>>20)
	case processes > l.Processes:
		return fmt.Sprintf("the page needed more than %d processes, and its browser was ended", l.Processes)
	}
	return ""
}

// processOf returns the id of a session's browser; 0 when it is not known.
func processOf(s *webdriver.Session) int {
	pid, _ := s.Capabilities["goog:processID"].(float64)
	if pid <= 1 {
		return 0
	}
	return int(pid)
}

// usageOf returns the number of processes of a tree, and the bytes that they hold: anonymous
// memory and swap, since what they share would be counted several times.
func usageOf(root int) (processes int, memory int64) {
	parents := map[int]int{}
	paths, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range paths {
		line, err := os.ReadFile(path)
		if err != nil {
			continue // ended
		}
		// The name in brackets may hold anything; state and parent follow it.
		after := bytes.Fields(line[bytes.LastIndexByte(line, ')')+1:])
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil || len(after) < 2 {
			continue
		}
		if parent, err := strconv.Atoi(string(after[1])); err == nil {
			parents[pid] = parent
		}
	}
	for pid := range parents {
		// A cycle cannot be: the depth only guards against ids that were used again.
		for at, depth := pid, 0; at > 1 && depth < 100; at, depth = parents[at], depth+1 {
			if at == root {
				processes++
				memory += held(pid)
				break
			}
		}
	}
	return processes, memory
}

// held returns the bytes that a process holds alone. Source: proc_pid_status(5).
func held(pid int) (bytes int64) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		if name != "RssAnon" && name != "VmSwap" {
			continue
		}
		if kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64); err == nil {
			bytes += kib << 10
		}
	}
	return bytes
}
