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

// LockedError says that another run uses the data folder.
type LockedError struct {
	Dir string
	PID int // the process that holds the folder; 0 while it has not said so yet
}

func (e *LockedError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("the data folder %s is in use by another process", e.Dir)
	}
	return fmt.Sprintf("the data folder %s is in use by process %d", e.Dir, e.PID)
}

// ErrClosed is returned by the starters of a Folder after Close.
var ErrClosed = errors.New("private: the data folder is closed")

// Folder is a data folder that this process holds, with the servers that it
// runs there. Its methods may be called from any goroutine, so that servers
// can start side by side.
type Folder struct {
	dir  string // absolute, symbolic links resolved
	lock *os.File

	// life ends with Close and takes the starts under way with it.
	life   context.Context
	cancel context.CancelFunc
	starts sync.WaitGroup

	mu       sync.Mutex
	closed   bool
	starting map[string]bool
	servers  []*Server // in the order of their starts
	children []child

	// Tests take away what not every system has, to see the ways around.
	noNamespace   bool
	noDeathSignal bool
}

// Open takes the data folder for this process, making it (0700) when it is
// missing, and ends the servers that a killed run left there. That can take
// some seconds. It returns a *LockedError while another run holds the folder.
func Open(dir string) (*Folder, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("private: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("private: %w", err)
	}
	// The system reports the working folders of processes resolved.
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, fmt.Errorf("private: %w", err)
	}
	if strings.ContainsAny(dir, "\x00\r\n") {
		return nil, fmt.Errorf("private: the folder's name %q holds a line break", dir)
	}
	lock, err := takeLock(dir)
	if err != nil {
		return nil, err
	}
	f := &Folder{dir: dir, lock: lock, starting: map[string]bool{}}
	f.life, f.cancel = context.WithCancel(context.Background())
	err = f.sweep()
	if err == nil {
		err = f.sweepBrowsers()
	}
	if err != nil {
		_ = unix.Flock(int(lock.Fd()), unix.LOCK_UN)
		lock.Close()
		return nil, err
	}
	return f, nil
}

// takeLock holds dir/lock until the file is closed or the process ends. The
// file stays when it is released: removing it would let two processes hold a
// lock each, on the old file and on a new one. Children do not inherit it, as
// Go opens files close-on-exec.
func takeLock(dir string) (*os.File, error) {
	file, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("private: %w", err)
	}
	err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		defer file.Close()
		held, _ := readSmall(file.Name())
		pid, _ := strconv.Atoi(strings.TrimSpace(string(held)))
		return nil, &LockedError{Dir: dir, PID: pid}
	}
	if err == nil {
		err = file.Truncate(0)
	}
	if err == nil {
		_, err = file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("private: lock %s: %w", dir, err)
	}
	return file, nil
}

// Dir returns the folder's absolute path.
func (f *Folder) Dir() string { return f.dir }

// Close stops the servers, the last started first, and gives up the folder;
// starts under way are broken off. The end of ctx shortens the patience with
// each server, but none is left running. The error names servers that had to
// be killed. A second Close does nothing.
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
	// Closing alone can be late: a child that this process is just starting
	// has a copy of the descriptor until its exec.
	errs = append(errs, unix.Flock(int(f.lock.Fd()), unix.LOCK_UN), f.lock.Close())
	return errors.Join(errs...)
}

// begin reserves the place of a server that is about to start and returns the
// context of the start, which also ends with the folder. Each begin without
// an error is followed by finish.
func (f *Folder) begin(ctx context.Context, name string) (context.Context, context.CancelFunc, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, nil, ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, fmt.Errorf("private: start %s: %w", name, err)
	}
	runs := func(s *Server) bool { return s.name == name }
	if f.starting[name] || slices.ContainsFunc(f.servers, runs) {
		return nil, nil, fmt.Errorf("private: %s runs in this folder already", name)
	}
	f.starting[name] = true
	f.starts.Add(1)
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(f.life, cancel)
	return ctx, func() { stop(); cancel() }, nil
}

// finish ends a reservation, and from now on the server's end is noticed; s is
// nil when the start failed.
func (f *Folder) finish(name string, s *Server) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.starting, name)
	if s != nil {
		f.servers = append(f.servers, s)
		go s.watch()
	}
	f.starts.Done()
}

// forget takes a server that has ended off the list.
func (f *Folder) forget(s *Server) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.servers = slices.DeleteFunc(f.servers, func(other *Server) bool { return other == s })
}

// deathSignal is what the kernel sends to a server when this process dies: the
// first of its polite signals.
func deathSignal(name string) syscall.Signal {
	if steps := stepsOf(name); len(steps) > 0 {
		return steps[0].signal
	}
	return syscall.SIGKILL
}
