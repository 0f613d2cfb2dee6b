package localservice

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Server is a running managed server. It prints without its password.
type Server struct {
	name    string
	url     url.URL
	log     string
	folder  *Folder
	process *process
	cleanup func() // called when the process has ended; may be nil

	mu       sync.Mutex
	stopping bool
	done     chan struct{}
	err      error
	// released is closed when the server is no longer in the folder's list.
	released chan struct{}
}

// URL returns the server's address with user and password:
// postgres://slipway:...@127.0.0.1:PORT/DATABASE?sslmode=disable,
// redis://:...@127.0.0.1:PORT/0,
// s3://USER:...@127.0.0.1:PORT?region=REGION&tls=0 or
// http://127.0.0.1:PORT/SECRET (chromedriver).
// It is a secret; print Redacted.
func (s *Server) URL() string { return s.url.String() }

// Redacted returns the URL with "xxxxx" for the password, or for the secret path
// of chromedriver.
func (s *Server) Redacted() string {
	if s.name == "chromedriver" {
		return "http://" + s.url.Host + "/xxxxx"
	}
	return s.url.Redacted()
}

// Addr returns 127.0.0.1:PORT.
func (s *Server) Addr() string { return s.url.Host }

// User and Password return the credentials of the URL; User is "" for Redis.
func (s *Server) User() string { return s.url.User.Username() }

// Password returns the password of the URL.
func (s *Server) Password() string {
	password, _ := s.url.User.Password()
	return password
}

// String keeps the password out of prints.
func (s *Server) String() string { return s.name + " at " + s.Redacted() }

// GoString keeps the password out of prints with %#v.
func (s *Server) GoString() string { return s.String() }

// LogValue keeps the password out of logs.
func (s *Server) LogValue() slog.Value { return slog.StringValue(s.String()) }

// PID returns the process id of the server.
func (s *Server) PID() int { return s.process.handle.Pid }

// Log returns the path of the server's log. Up to 16 MiB of older messages are
// in the file with the suffix ".1".
func (s *Server) Log() string { return s.log }

// Done returns a channel that is closed when the server has ended by itself, not
// by Stop or Close. Err then returns how. The server may be started again.
func (s *Server) Done() <-chan struct{} { return s.done }

// Err returns how the server ended, with the end of its log, once Done is
// closed; nil before, and after Stop.
func (s *Server) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Stop ends the server and returns when the process has ended. The server first
// gets the signal to shut down, and SIGKILL when it takes more than half a minute
// or ctx ends. An error reports that it had to be killed; its data are then as
// safe as after a crash. A second Stop does nothing.
func (s *Server) Stop(ctx context.Context) error {
	s.mu.Lock()
	s.stopping = true
	s.mu.Unlock()
	killed, err := s.process.end(ctx)
	if err != nil {
		return fmt.Errorf("localservice: stop %s: %w", s.name, err)
	}
	<-s.released
	if killed {
		return fmt.Errorf("localservice: %s did not stop in time and was killed", s.name)
	}
	return nil
}

// watch waits for the end of the process, and reports it as an error unless Stop
// was called.
func (s *Server) watch() {
	<-s.process.ended
	if s.cleanup != nil {
		s.cleanup()
	}
	s.folder.removeServer(s)
	s.mu.Lock()
	if !s.stopping {
		s.err = fmt.Errorf("managed %s ended by itself: %w (log: %s)\n%s", s.name, s.process.exitError(), s.log,
			strings.TrimSpace(tail(s.log, s.process.offset, logTail)))
		close(s.done)
	}
	s.mu.Unlock()
	close(s.released)
}

// serverSpec is what serve needs to start a server.
type serverSpec struct {
	command
	// args returns the arguments for a port, and writes files that contain it.
	args func(port int) ([]string, error)
	url  func(port int) url.URL
	// ready sends the server a request that needs its password. After an error
	// it is called again until the deadline; a *rejectedError is final.
	ready func(ctx context.Context, address url.URL) error
	// cleanup is called when the process has ended, for any reason; may be nil.
	cleanup func()
}

// rejectedError reports that the server refused the password, which another try
// would not change.
type rejectedError struct{ err error }

func (e *rejectedError) Error() string { return e.err.Error() }
func (e *rejectedError) Unwrap() error { return e.err }

const (
	// readyTimeout bounds one start. Recovery after a crash reads up to
	// max_wal_size (4 GB), about a minute from a slow disk.
	readyTimeout = 2 * time.Minute
	// portAttempts bounds the tries to find a port: each failure means that
	// another process took a free port within some milliseconds.
	portAttempts = 5
)

// serve starts a server on a free port and returns when it is ready.
func (f *Folder) serve(ctx context.Context, r serverSpec) (*Server, error) {
	logs := filepath.Join(f.dir, "log")
	if err := os.MkdirAll(logs, 0o700); err != nil {
		return nil, fmt.Errorf("localservice: %w", err)
	}
	r.log = filepath.Join(logs, r.name+".log")
	rotateLog(r.log, logLimit)
	portFile := filepath.Join(f.dir, r.name+".port")
	former := readPort(portFile)
	for attempt := 1; ; attempt++ {
		port, err := freePort(former)
		if err != nil {
			return nil, err
		}
		s, err := f.serveAt(ctx, r, port)
		if portTaken(err) && attempt < portAttempts {
			former = 0
			continue
		}
		if err != nil {
			return nil, err
		}
		if port == former {
			return s, nil
		}
		if err := ReplaceFile(portFile, []byte(strconv.Itoa(port)), 0o600); err != nil {
			_, ended := s.process.end(ctx)
			return nil, errors.Join(err, ended)
		}
		return s, nil
	}
}

// portTaken reports whether a server did not start because its port was taken.
func portTaken(err error) bool {
	var failed *StartError
	return errors.As(err, &failed) && strings.Contains(strings.ToLower(failed.Tail), "already in use")
}

// serveAt starts a server on a port and returns when it is ready.
func (f *Folder) serveAt(ctx context.Context, r serverSpec, port int) (*Server, error) {
	args, err := r.args(port)
	if err != nil {
		return nil, err
	}
	r.command.args = args
	p, err := f.start(r.command)
	if err != nil {
		return nil, err
	}
	address := r.url(port)
	if err := p.await(ctx, func(ctx context.Context) error { return r.ready(ctx, address) }); err != nil {
		failure := p.startError(r.command, err)
		// A caller that no longer waits for the start waits briefly for the stop.
		short, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		_, ended := p.end(short)
		return nil, errors.Join(failure, ended)
	}
	s := &Server{name: r.name, url: address, log: r.log, folder: f, process: p, cleanup: r.cleanup,
		done: make(chan struct{}), released: make(chan struct{})}
	go p.boundLog(r.log)
	return s, nil
}

// await calls ready until the server is ready, has ended, or the time is over.
func (p *process) await(ctx context.Context, ready func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	for pause := 2 * time.Millisecond; ; pause = min(pause*2, 50*time.Millisecond) {
		attempt, cancel := context.WithTimeout(ctx, 2*time.Second)
		err := ready(attempt)
		cancel()
		if err == nil && p.running() {
			return nil
		}
		if err == nil { // another server on the port answered
			return p.exitError()
		}
		var rejected *rejectedError
		if errors.As(err, &rejected) {
			// Another server on the port rejects the password too, and this one
			// is about to end because the port is taken: that can be tried again.
			select {
			case <-p.ended:
				return p.exitError()
			case <-time.After(time.Second):
				return err
			}
		}
		select {
		case <-p.ended:
			return p.exitError()
		case <-ctx.Done():
			return fmt.Errorf("%w; last error: %w", ctx.Err(), err)
		case <-time.After(pause):
		}
	}
}

// running reports whether the child has not ended yet.
func (p *process) running() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// freePort returns the preferred port of 127.0.0.1 when it is free, else another.
// Another process can take it before the server does: see serve.
func freePort(preferred int) (int, error) {
	listener, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(preferred)))
	if err != nil && preferred != 0 {
		listener, err = net.Listen("tcp4", "127.0.0.1:0")
	}
	if err != nil {
		return 0, fmt.Errorf("localservice: find a free port: %w", err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}

// readPort returns the port of the last run, 0 when there was none. Ports below
// 1024 are never used.
func readPort(path string) int {
	data, err := readSmallFile(path)
	if err != nil {
		return 0
	}
	port, err := strconv.Atoi(string(data))
	if err != nil || port < 1024 || port > 65535 {
		return 0
	}
	return port
}

// hostPort returns 127.0.0.1:PORT.
func hostPort(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
