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
	ended  chan struct{} // closed when the child has ended and is out of the children file
	err    error         // how it ended; read after ended is closed
}

// start runs a command and records it in the children file.
//
// The goroutine that starts the child keeps its thread until the child has
// ended: the parent-death signal is sent when the thread ends, not the process,
// and Go can end a thread at any time.
func (f *Folder) start(c command) (*process, error) {
	log, err := os.OpenFile(c.log, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("localservice: %w", err)
	}
	info, err := log.Stat()
	if err != nil {
		log.Close()
		return nil, fmt.Errorf("localservice: %w", err)
	}
	program, err := filepath.EvalSymlinks(c.program)
	if err != nil {
		log.Close()
		return nil, fmt.Errorf("localservice: %w", err)
	}
	// The name is called, not the target of a link: PostgreSQL looks for its
	// files beside the name, then beside the target.
	cmd := exec.Command(c.program, c.args...)
	cmd.Env = append(childEnvironment(f.dir), c.env...)
	cmd.Dir = c.folder
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.as.apply(cmd.SysProcAttr)
	if !f.noDeathSignal {
		setDeathSignal(cmd.SysProcAttr, deathSignal(c.name))
	}

	p := &process{offset: info.Size(), ended: make(chan struct{})}
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer log.Close()
		if err := cmd.Start(); err != nil {
			started <- fmt.Errorf("localservice: start %s: %w", c.name, err)
			return
		}
		p.handle = cmd.Process
		began, _ := processStart(p.handle.Pid)
		p.child = child{Name: c.name, Program: program, Folder: c.folder,
			PID: p.handle.Pid, Group: p.handle.Pid, Start: began}
		if err := f.recordChild(p.child); err != nil {
			// A child without a record could not be found after a crash.
			_ = p.handle.Kill()
			_ = cmd.Wait()
			_ = f.dropChild(p.handle.Pid)
			started <- err
			return
		}
		started <- nil
		p.err = cmd.Wait()
		// A record that remains does no harm: the process has ended, and the
		// start time protects the next owner of the pid.
		_ = f.dropChild(p.handle.Pid)
		close(p.ended)
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

// end stops the child: first by its signals, then by SIGKILL. It reports whether
// SIGKILL was necessary.
func (p *process) end(ctx context.Context) (killed bool, err error) {
	killed, err = endProcess(ctx, stopSteps(p.Name), p.handle, p.Group, p.ended)
	if killed {
		killLeftovers(p.Program, p.Folder)
	}
	return killed, err
}

// exitError returns how a child ended that was not stopped; never nil.
func (p *process) exitError() error {
	if p.err == nil {
		return errors.New("it ended by itself without an error")
	}
	return p.err
}

// childEnvironment returns the variables of all children. The user's settings of
// these programs (PGDATA, PGOPTIONS, MINIO_*, LC_*) are not among them.
func childEnvironment(home string) []string {
	env := []string{"HOME=" + home, "LC_ALL=C", "TZ=UTC"}
	for _, name := range []string{"PATH", "TMPDIR", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// logLimit bounds a server's log, and the former log beside it, in bytes.
const logLimit = 16 << 20

// logTail is how much of a log an error contains, in bytes.
const logTail = 2 << 10

// boundLog keeps a log and the former one (.1) within logLimit until the child
// ends. The child has the file open, so the content is moved and the file stays.
func (p *process) boundLog(path string) {
	ticker := time.NewTicker(time.Minute)
	defer ticker.Stop()
	for {
		rotateLog(path, logLimit)
		select {
		case <-ticker.C:
		case <-p.ended:
			return
		}
	}
}

// rotateLog moves the last limit bytes of a larger log to the former log. Lines
// written meanwhile can be lost; a log that cannot be moved is emptied.
func rotateLog(path string, limit int64) {
	info, err := os.Stat(path)
	if err != nil || info.Size() <= limit {
		return
	}
	_ = ReplaceFile(path+".1", []byte(tail(path, 0, limit)), 0o600)
	_ = os.Truncate(path, 0)
}

// StartError reports that a server did not become ready.
type StartError struct {
	Server string // "postgres", "redis", "minio", "chromedriver" or "initdb"
	Log    string // path of the server's log
	Tail   string // the last lines of this start
	Err    error
}

func (e *StartError) Error() string {
	text := fmt.Sprintf("managed %s did not start: %v (log: %s)", e.Server, e.Err, e.Log)
	if e.Tail != "" {
		text += "\n" + e.Tail
	}
	return text
}

func (e *StartError) Unwrap() error { return e.Err }

func (p *process) startError(c command, err error) *StartError {
	return &StartError{Server: c.name, Log: c.log, Tail: strings.TrimSpace(tail(c.log, p.offset, logTail)), Err: err}
}
