package localservice

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// LockedError reports that another process uses the data folder.
type LockedError struct {
	Dir string
	PID int // of that process; 0 while it has not written it yet
}

func (e *LockedError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("the data folder %s is in use by another process", e.Dir)
	}
	return fmt.Sprintf("the data folder %s is in use by process %d", e.Dir, e.PID)
}

// ErrClosed is returned by the starters of a Folder after Close.
var ErrClosed = errors.New("localservice: the data folder is closed")

// Folder is a data folder that this process has locked, with the servers that
// run in it. Its methods may be called from any goroutine, so that servers can
// start in parallel.
type Folder struct {
	dir  string // absolute, symbolic links resolved
	lock *os.File

	// lifetime ends with Close, which also cancels starts that are not complete.
	lifetime context.Context
	cancel   context.CancelFunc
	starts   sync.WaitGroup

	mu       sync.Mutex
	closed   bool
	starting map[string]bool
	servers  []*Server // in the order of their starts
	children []child

	// Tests disable what not every system has, to reach the alternatives.
	noNamespace   bool
	noDeathSignal bool
}

// Open locks the data folder for this process, creates it (0700) when it is
// missing, and ends servers that a killed process left there, which can take
// some seconds. It returns a *LockedError while another process has the lock.
func Open(dir string) (*Folder, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("localservice: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("localservice: %w", err)
	}
	// The system reports working folders of processes with links resolved.
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, fmt.Errorf("localservice: %w", err)
	}
	if strings.ContainsAny(dir, "\x00\r\n") {
		return nil, fmt.Errorf("localservice: the folder's name %q contains a line break", dir)
	}
	lock, err := lockFolder(dir)
	if err != nil {
		return nil, err
	}
	f := &Folder{dir: dir, lock: lock, starting: map[string]bool{}}
	f.lifetime, f.cancel = context.WithCancel(context.Background())
	if err := f.endFormerRun(); err != nil {
		_ = unix.Flock(int(lock.Fd()), unix.LOCK_UN)
		lock.Close()
		return nil, err
	}
	return f, nil
}

// endFormerRun ends servers and browsers that a killed run left in the folder.
func (f *Folder) endFormerRun() error {
	if err := f.sweep(); err != nil {
		return err
	}
	return f.sweepBrowsers()
}

// lockFolder locks dir/lock until the file is closed or the process ends. The
// file stays: without it, two processes could each have a lock, one on the
// removed file and one on a new one. Children do not inherit the lock, as Go
// opens files close-on-exec.
func lockFolder(dir string) (*os.File, error) {
	file, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("localservice: %w", err)
	}
	err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		defer file.Close()
		text, _ := readSmallFile(file.Name())
		pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
		return nil, &LockedError{Dir: dir, PID: pid}
	}
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("localservice: lock %s: %w", dir, err)
	}
	if err := writePID(file); err != nil {
		file.Close()
		return nil, fmt.Errorf("localservice: lock %s: %w", dir, err)
	}
	return file, nil
}

// writePID replaces the content of the lock file by the pid of this process.
func writePID(lock *os.File) error {
	if err := lock.Truncate(0); err != nil {
		return err
	}
	_, err := lock.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}

// Dir returns the folder's absolute path.
func (f *Folder) Dir() string { return f.dir }

// Close cancels starts that are not complete, stops the servers, the last
// started first, and unlocks the folder. The end of ctx shortens the grace period
// of each server; none is left running. The error names servers that had to be
// killed. A second Close does nothing.
func (f *Folder) Close(ctx context.Context) error {
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return nil
	}
	f.closed = true
	f.mu.Unlock()
	f.cancel()
	f.starts.Wait()

	f.mu.Lock()
	servers := slices.Clone(f.servers)
	f.mu.Unlock()
	var errs []error
	for _, s := range slices.Backward(servers) {
		errs = append(errs, s.Stop(ctx))
	}
	_ = f.lock.Truncate(0)
	// Closing the file may not unlock it at once: a child that this process is
	// just starting has a copy of the descriptor until its exec.
	errs = append(errs, unix.Flock(int(f.lock.Fd()), unix.LOCK_UN), f.lock.Close())
	return errors.Join(errs...)
}

// beginStart marks a server as starting and returns the context of the start,
// which also ends when the folder is closed. The caller calls finishStart after
// each beginStart without an error.
func (f *Folder) beginStart(ctx context.Context, name string) (context.Context, context.CancelFunc, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, nil, ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, fmt.Errorf("localservice: start %s: %w", name, err)
	}
	runs := func(s *Server) bool { return s.name == name }
	if f.starting[name] || slices.ContainsFunc(f.servers, runs) {
		return nil, nil, fmt.Errorf("localservice: %s runs in this folder already", name)
	}
	f.starting[name] = true
	f.starts.Add(1)
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(f.lifetime, cancel)
	return ctx, func() { stop(); cancel() }, nil
}

// finishStart ends what beginStart began and watches the server from now on; s
// is nil when the start failed.
func (f *Folder) finishStart(name string, s *Server) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.starting, name)
	if s != nil {
		f.servers = append(f.servers, s)
		go s.watch()
	}
	f.starts.Done()
}

// removeServer removes a server that has ended from the list.
func (f *Folder) removeServer(s *Server) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.servers = slices.DeleteFunc(f.servers, func(other *Server) bool { return other == s })
}

// deathSignal returns the signal that the kernel sends to a server when this
// process dies: the first signal of its ordinary stop.
func deathSignal(name string) syscall.Signal {
	if steps := stopSteps(name); len(steps) > 0 {
		return steps[0].signal
	}
	return syscall.SIGKILL
}
