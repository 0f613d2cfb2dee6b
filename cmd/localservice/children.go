package localservice

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"
)

// child is a running server as the children file records it. PID and Start
// together name a process for good: a pid alone is reused.
type child struct {
	Name    string `json:"name"`    // of the server, as in the data folder
	Program string `json:"program"` // its executable, symbolic links resolved
	Folder  string `json:"folder"`  // its working folder
	PID     int    `json:"pid"`
	Group   int    `json:"group"` // process group: the pid, as the child leads it
	Start   uint64 `json:"start"` // see processStart
}

// roster is the children file. Boot tells boots of the machine apart, since
// pids and start times begin anew with each.
type roster struct {
	Boot     string  `json:"boot"`
	Children []child `json:"children"`
}

// rosterLimit bounds the children that one sweep believes: a folder has four
// servers and one initdb.
const rosterLimit = 16

// parseRoster reads a children file and drops what cannot be a child: nothing
// in a damaged file may lead to a signal to init or to a whole session.
func parseRoster(data []byte) (roster, error) {
	var r roster
	if err := json.Unmarshal(data, &r); err != nil {
		return roster{}, err
	}
	r.Children = slices.DeleteFunc(r.Children, func(c child) bool {
		return c.PID <= 1 || c.PID > 1<<30 || c.Group != c.PID || c.Start == 0
	})
	if len(r.Children) > rosterLimit {
		return roster{}, fmt.Errorf("%d children listed, at most %d expected", len(r.Children), rosterLimit)
	}
	return r, nil
}

func (f *Folder) rosterPath() string { return filepath.Join(f.dir, "children.json") }

// enroll and dismiss keep the children file in step with the children.
func (f *Folder) enroll(c child) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.children = append(f.children, c)
	return f.writeRoster()
}

func (f *Folder) dismiss(pid int) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.children = slices.DeleteFunc(f.children, func(c child) bool { return c.PID == pid })
	return f.writeRoster()
}

func (f *Folder) writeRoster() error {
	data, err := json.Marshal(roster{Boot: bootID(), Children: f.children})
	if err != nil {
		return fmt.Errorf("private: %w", err)
	}
	return ReplaceFile(f.rosterPath(), data, 0o600)
}

// sweep ends the children of a former, killed run of this folder. The caller
// holds the folder's lock, so that no living run can own them.
func (f *Folder) sweep() error {
	data, err := readSmall(f.rosterPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("private: %w", err)
	}
	former, err := parseRoster(data)
	if err != nil {
		return fmt.Errorf("private: %s is damaged: %w (end the servers of this folder, if any, and remove the file)", f.rosterPath(), err)
	}
	if former.Boot != bootID() {
		former.Children = nil
	}
	errs := make([]error, len(former.Children))
	var all sync.WaitGroup
	for i, c := range former.Children {
		all.Go(func() { errs[i] = c.sweep() })
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return f.writeRoster()
}

// alive says whether the very process of the record still runs. A zombie does
// not: it holds no file and no port.
func (c child) alive() bool {
	start, running := processStart(c.PID)
	return running && start == c.Start
}

// sweep stops the process of a former run and whatever it left behind.
func (c child) sweep() error {
	// The handle comes before the check: where it is a pidfd (Linux), a
	// process that takes over the pid later cannot get the signals.
	process, err := os.FindProcess(c.PID)
	if err == nil && c.alive() {
		gone := make(chan struct{})
		given := make(chan struct{})
		go func() {
			defer close(gone)
			ticker := time.NewTicker(10 * time.Millisecond)
			defer ticker.Stop()
			for c.alive() {
				select {
				case <-ticker.C:
				case <-given:
					return
				}
			}
		}()
		_, err = endProcess(context.Background(), stepsOf(c.Name), process, c.Group, gone)
		close(given)
		if err != nil {
			return fmt.Errorf("private: end %s of a former run: %w", c.Name, err)
		}
	}
	endLeftovers(c.Program, c.Folder)
	return nil
}

// step is one signal of a stop and how long it may take.
type step struct {
	signal syscall.Signal
	wait   time.Duration
}

// stepsOf lists how a server is asked to stop before it is killed.
//
// PostgreSQL: SIGINT is the fast shutdown (sessions end, a checkpoint of at
// most shared_buffers is written), SIGQUIT the immediate one (recovery at the
// next start). Redis and MinIO end on SIGTERM; Redis syncs its log first.
func stepsOf(name string) []step {
	switch name {
	case "postgres":
		return []step{{syscall.SIGINT, 30 * time.Second}, {syscall.SIGQUIT, 5 * time.Second}}
	case "chromedriver":
		// It ends at once, and its browsers with the sweep that follows.
		return []step{{syscall.SIGTERM, 5 * time.Second}}
	case "initdb":
		return nil // nothing of a half-made folder is kept
	}
	return []step{{syscall.SIGTERM, 15 * time.Second}}
}

// endProcess goes through the steps until gone is closed, then kills the
// process group. It reports whether it had to kill. The end of ctx skips the
// waiting, not the killing.
func endProcess(ctx context.Context, steps []step, process *os.Process, group int, gone <-chan struct{}) (killed bool, err error) {
	for _, s := range steps {
		if err := process.Signal(s.signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return false, fmt.Errorf("signal %v to process %d: %w", s.signal, process.Pid, err)
		}
		timer := time.NewTimer(s.wait)
		select {
		case <-gone:
			timer.Stop()
			return false, nil
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
	}
	// The group's number is safe to use: its leader was alive just now, or is
	// a zombie that this process has not waited for.
	select {
	case <-gone:
		return false, nil
	default:
		_ = syscall.Kill(-group, syscall.SIGKILL)
	}
	_ = process.Kill()
	select {
	case <-gone:
		return true, nil
	case <-time.After(10 * time.Second):
		return true, fmt.Errorf("process %d does not end even when killed", process.Pid)
	}
}
