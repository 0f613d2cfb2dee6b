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

// childrenFile is the content of children.json. Boot identifies the boot of the
// machine: pids and start times are valid within one boot only.
type childrenFile struct {
	Boot     string  `json:"boot"`
	Children []child `json:"children"`
}

// childrenLimit bounds the children that a file may list: a folder has four
// servers and one initdb.
const childrenLimit = 16

// parseChildrenFile reads a children file and drops entries that cannot be
// children: a damaged file must not lead to a signal to init or to a session.
func parseChildrenFile(data []byte) (childrenFile, error) {
	var r childrenFile
	if err := json.Unmarshal(data, &r); err != nil {
		return childrenFile{}, err
	}
	r.Children = slices.DeleteFunc(r.Children, func(c child) bool {
		return c.PID <= 1 || c.PID > 1<<30 || c.Group != c.PID || c.Start == 0
	})
	if len(r.Children) > childrenLimit {
		return childrenFile{}, fmt.Errorf("%d children listed, at most %d expected", len(r.Children), childrenLimit)
	}
	return r, nil
}

func (f *Folder) childrenPath() string { return filepath.Join(f.dir, "children.json") }

// recordChild adds a child to the children file.
func (f *Folder) recordChild(c child) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.children = append(f.children, c)
	return f.writeChildrenFile()
}

// dropChild removes a child from the children file.
func (f *Folder) dropChild(pid int) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.children = slices.DeleteFunc(f.children, func(c child) bool { return c.PID == pid })
	return f.writeChildrenFile()
}

func (f *Folder) writeChildrenFile() error {
	data, err := json.Marshal(childrenFile{Boot: bootID(), Children: f.children})
	if err != nil {
		return fmt.Errorf("localservice: %w", err)
	}
	return ReplaceFile(f.childrenPath(), data, 0o600)
}

// sweep ends the children that a killed run left in this folder. The caller has
// the folder's lock, so they belong to no other running process.
func (f *Folder) sweep() error {
	data, err := readSmallFile(f.childrenPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("localservice: %w", err)
	}
	former, err := parseChildrenFile(data)
	if err != nil {
		return fmt.Errorf("localservice: %s is damaged: %w (end the servers of this folder, if any, and remove the file)", f.childrenPath(), err)
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
	return f.writeChildrenFile()
}

// alive reports whether the recorded process still runs. A zombie counts as
// ended: it has no open file and no port.
func (c child) alive() bool {
	start, running := processStart(c.PID)
	return running && start == c.Start
}

// sweep stops the process of a former run and processes that it left behind.
func (c child) sweep() error {
	// The handle is opened before the check: where it is a pidfd (Linux), a
	// later owner of the pid cannot receive the signals.
	process, err := os.FindProcess(c.PID)
	if err != nil || !c.alive() {
		killLeftovers(c.Program, c.Folder)
		return nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if _, err := endProcess(context.Background(), stopSteps(c.Name), process, c.Group, c.ended(ctx)); err != nil {
		return fmt.Errorf("localservice: end %s of a former run: %w", c.Name, err)
	}
	killLeftovers(c.Program, c.Folder)
	return nil
}

// ended returns a channel that is closed when the process has ended, or ctx has.
// It polls: only a parent is notified of the end.
func (c child) ended(ctx context.Context) <-chan struct{} {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(10 * time.Millisecond)
		defer ticker.Stop()
		for c.alive() {
			select {
			case <-ticker.C:
			case <-ctx.Done():
				return
			}
		}
	}()
	return ended
}

// stopStep is one signal of a stop and the time that it may take.
type stopStep struct {
	signal syscall.Signal
	wait   time.Duration
}

// stopSteps returns the signals that a server gets before it is killed.
//
// PostgreSQL: SIGINT is the fast shutdown (sessions end, a checkpoint of at
// most shared_buffers is written), SIGQUIT the immediate one (recovery at the
// next start). Redis and MinIO end on SIGTERM; Redis syncs its log first.
func stopSteps(name string) []stopStep {
	switch name {
	case "postgres":
		return []stopStep{{syscall.SIGINT, 30 * time.Second}, {syscall.SIGQUIT, 5 * time.Second}}
	case "chromedriver":
		// It ends at once, and its browsers with the sweep that follows.
		return []stopStep{{syscall.SIGTERM, 5 * time.Second}}
	case "initdb":
		return nil // an unfinished folder is removed anyway
	}
	return []stopStep{{syscall.SIGTERM, 15 * time.Second}}
}

// endProcess sends the signals of the steps until ended is closed, then kills
// the process group. It reports whether it had to kill. The end of ctx skips
// the waits, not the kill.
func endProcess(ctx context.Context, steps []stopStep, process *os.Process, group int, ended <-chan struct{}) (killed bool, err error) {
	for _, s := range steps {
		if err := process.Signal(s.signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return false, fmt.Errorf("signal %v to process %d: %w", s.signal, process.Pid, err)
		}
		timer := time.NewTimer(s.wait)
		select {
		case <-ended:
			timer.Stop()
			return false, nil
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
	}
	// The number of the group is safe to use: its leader was alive just now, or
	// is a zombie that this process has not waited for.
	select {
	case <-ended:
		return false, nil
	default:
		_ = syscall.Kill(-group, syscall.SIGKILL)
	}
	_ = process.Kill()
	select {
	case <-ended:
		return true, nil
	case <-time.After(10 * time.Second):
		return true, fmt.Errorf("process %d does not end even after SIGKILL", process.Pid)
	}
}
