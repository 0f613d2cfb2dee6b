package browser

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"strconv"
	"strings"
	"sync"
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
	if p.watched.add(lease, pid) {
		p.background(p.watchAll)
	}
	return func() { p.watched.remove(lease) }
}

// watched are the leases whose browsers have limits, with the ids of the browsers. A nil map
// has nobody who looks at them.
type watched struct {
	sync.Mutex
	leases map[*Lease]int
}

// add reports whether nobody looks at the leases yet.
func (w *watched) add(lease *Lease, pid int) (first bool) {
	w.Lock()
	defer w.Unlock()
	if w.leases == nil {
		w.leases, first = map[*Lease]int{}, true
	}
	w.leases[lease] = pid
	return first
}

func (w *watched) remove(lease *Lease) {
	w.Lock()
	defer w.Unlock()
	delete(w.leases, lease)
}

// exceed notes why a lease's browser is ended, and reports whether that is to be done now: a
// browser whose test has ended meanwhile may be another test's. Who releases a lease removes it
// first and then looks at the reason.
func (w *watched) exceed(lease *Lease, reason string) bool {
	w.Lock()
	defer w.Unlock()
	return w.leases[lease] != 0 && lease.exceeded.CompareAndSwap(nil, &reason)
}

// still returns a copy of what is watched; nil for nothing, and then the caller looks no more.
func (w *watched) still() map[*Lease]int {
	w.Lock()
	defer w.Unlock()
	if len(w.leases) == 0 {
		w.leases = nil
	}
	return maps.Clone(w.leases)
}

// watchAll looks at all browsers that tests have, at once: a look reads a file of each process
// of the machine. It ends with the pool, or when no browser is left to look at.
func (p *Pool) watchAll() {
	ticker := time.NewTicker(limitInterval)
	defer ticker.Stop()
	for {
		select {
		case <-p.late.Done():
			return
		case <-ticker.C:
		}
		leases := p.watched.still()
		if leases == nil {
			return
		}
		parents := parentsOfProcesses()
		for lease, pid := range leases {
			p.endExceeding(lease, parents, pid)
		}
	}
}

// endExceeding ends the browser of a lease, whose id is pid, if it uses more than it may.
func (p *Pool) endExceeding(lease *Lease, parents map[int]int, pid int) {
	reason := p.cfg.Limits.exceeded(usageOf(parents, pid))
	if reason == "" || !p.watched.exceed(lease, reason) {
		return
	}
	p.cfg.Log.Warn("a browser is ended", "reason", reason)
	if err := kill(lease.Session); err != nil {
		p.cfg.Log.Warn("a browser did not end", "error", err)
	}
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

// parentsOfProcesses returns the parent of each process of the machine; empty without /proc.
func parentsOfProcesses() map[int]int {
	proc, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer proc.Close()
	names, _ := proc.Readdirnames(-1)
	parents := make(map[int]int, len(names))
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue // no process
		}
		line, err := os.ReadFile("/proc/" + name + "/stat")
		if err != nil {
			continue // ended
		}
		// The name in brackets may hold anything; state and parent follow it.
		after := bytes.Fields(line[bytes.LastIndexByte(line, ')')+1:])
		if len(after) < 2 {
			continue
		}
		if parent, err := strconv.Atoi(string(after[1])); err == nil {
			parents[pid] = parent
		}
	}
	return parents
}

// usageOf returns the number of processes of the tree below root, and the bytes that they hold:
// anonymous memory and swap, since what they share would be counted several times.
func usageOf(parents map[int]int, root int) (processes int, memory int64) {
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
