package localservice

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// command describes a child process.
type command struct {
	name    string // of the server, or "initdb"
	program string // executable
	args    []string
	env     []string // added to the few variables that all children get
	folder  string   // working folder
	log     string   // file that takes stdout and stderr
	as      identity
}

// process is a running child.
type process struct {
	child
	handle *os.Process
	offset int64         // end of the log before this child wrote to it
	gone   chan struct{} // closed when the child has ended and is off the roster
	err    error         // how it ended; read after gone
}

// start runs a command and records it in the children file.
//
// The goroutine that starts the child keeps its thread until the child has
// ended: the parent-death signal comes when the thread ends, not the process,
// and Go ends threads, such as those that goroutines left locked.
func (f *Folder) start(c command) (*process, error) {
	log, err := os.OpenFile(c.log, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("private: %w", err)
	}
	info, err := log.Stat()
	if err != nil {
		log.Close()
		return nil, fmt.Errorf("private: %w", err)
	}
	program, err := filepath.EvalSymlinks(c.program)
	if err != nil {
		log.Close()
		return nil, fmt.Errorf("private: %w", err)
	}
	// The symbolic link is what runs: PostgreSQL looks for its own files
	// beside the name it was called by, then beside the target.
	cmd := exec.Command(c.program, c.args...)
	cmd.Env = append(childEnvironment(f.dir), c.env...)
	cmd.Dir = c.folder
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.as.apply(cmd.SysProcAttr)
	if !f.noDeathSignal {
		setDeathSignal(cmd.SysProcAttr, deathSignal(c.name))
	}

	p := &process{offset: info.Size(), gone: make(chan struct{})}
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer log.Close()
		if err := cmd.Start(); err != nil {
			started <- fmt.Errorf("private: start %s: %w", c.name, err)
			return
		}
		p.handle = cmd.Process
		began, _ := processStart(p.handle.Pid)
		p.child = child{Name: c.name, Program: program, Folder: c.folder,
			PID: p.handle.Pid, Group: p.handle.Pid, Start: began}
		if err := f.enroll(p.child); err != nil {
			// An unrecorded child could not be swept; there must be none.
			_ = p.handle.Kill()
			_ = cmd.Wait()
			_ = f.dismiss(p.handle.Pid)
			started <- err
			return
		}
		started <- nil
		p.err = cmd.Wait()
		// A record that stays behind does no harm: the process is gone, and
		// its start time keeps the pid's next owner safe.
		_ = f.dismiss(p.handle.Pid)
		close(p.gone)
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

// end stops the child, politely first.
func (p *process) end(ctx context.Context) (killed bool, err error) {
	killed, err = endProcess(ctx, stepsOf(p.Name), p.handle, p.Group, p.gone)
	if killed {
		endLeftovers(p.Program, p.Folder)
	}
	return killed, err
}

// reason tells how an ended child ended.
func (p *process) reason() error {
	if p.err == nil {
		return errors.New("it ended by itself without an error")
	}
	return p.err
}

// childEnvironment keeps the user's own settings of the servers and their
// programs (PGDATA, PGOPTIONS, MINIO_*, LC_*) away from the children.
func childEnvironment(home string) []string {
	env := []string{"HOME=" + home, "LC_ALL=C", "TZ=UTC"}
	for _, name := range []string{"PATH", "TMPDIR", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// logLimit bounds a server's log, and the former one kept beside it.
const logLimit = 16 << 20

// logTail is how much of a log an error carries.
const logTail = 2 << 10

// boundLog keeps a log and its predecessor (.1) at logLimit until the child
// ends. The child holds the file open, so the content moves and the file stays.
func (p *process) boundLog(path string) {
	ticker := time.NewTicker(time.Minute)
	defer ticker.Stop()
	for {
		turnLog(path, logLimit)
		select {
		case <-ticker.C:
		case <-p.gone:
			return
		}
	}
}

// turnLog moves the last limit bytes of a larger log to its predecessor.
// Lines written meanwhile can be lost; a log that cannot be moved is cut.
func turnLog(path string, limit int64) {
	info, err := os.Stat(path)
	if err != nil || info.Size() <= limit {
		return
	}
	_ = ReplaceFile(path+".1", []byte(tail(path, 0, limit)), 0o600)
	_ = os.Truncate(path, 0)
}

// StartError says that a server did not become ready.
type StartError struct {
	Server string // "postgres", "redis", "minio", "chromedriver" or "initdb"
	Log    string // path of the server's log
	Tail   string // the last lines of this start
	Err    error
}

func (e *StartError) Error() string {
	text := fmt.Sprintf("private %s did not start: %v (log: %s)", e.Server, e.Err, e.Log)
	if e.Tail != "" {
		text += "\n" + e.Tail
	}
	return text
}

func (e *StartError) Unwrap() error { return e.Err }

func (p *process) startError(c command, err error) *StartError {
	return &StartError{Server: c.name, Log: c.log, Tail: strings.TrimSpace(tail(c.log, p.offset, logTail)), Err: err}
}
