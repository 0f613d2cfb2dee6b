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

// Server is a running private server. It prints without its password.
type Server struct {
	name    string
	url     url.URL
	log     string
	folder  *Folder
	process *process
	after   func() // called when the process is gone; may be nil

	mu       sync.Mutex
	stopping bool
	done     chan struct{}
	err      error
	// released is closed when the server is off the folder's list.
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

// Log returns the path of the file that takes the server's messages. Up to
// 16 MiB of older ones are in the same name with ".1".
func (s *Server) Log() string { return s.log }

// Done returns a channel that is closed when the server has ended by itself;
// never by Stop or Close. Err then tells how. It may be started again.
func (s *Server) Done() <-chan struct{} { return s.done }

// Err returns how the server ended, with the end of its log, once Done is
// closed; nil before, and after Stop.
func (s *Server) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Stop ends the server and returns when the process is gone: politely at
// first, so that it writes what it holds, and with SIGKILL when it takes more
// than half a minute or ctx ends. The error says that it had to be killed;
// its data are as safe as after a crash. A second Stop does nothing.
func (s *Server) Stop(ctx context.Context) error {
	s.mu.Lock()
	s.stopping = true
	s.mu.Unlock()
	killed, err := s.process.end(ctx)
	if err != nil {
		return fmt.Errorf("private: stop %s: %w", s.name, err)
	}
	<-s.released
	if killed {
		return fmt.Errorf("private: %s did not stop in time and was killed", s.name)
	}
	return nil
}

// watch waits for the end of the process and tells apart who wanted it.
func (s *Server) watch() {
	<-s.process.gone
	if s.after != nil {
		s.after()
	}
	s.folder.forget(s)
	s.mu.Lock()
	if !s.stopping {
		s.err = fmt.Errorf("private %s ended by itself: %w (log: %s)\n%s", s.name, s.process.reason(), s.log,
			strings.TrimSpace(tail(s.log, s.process.offset, logTail)))
		close(s.done)
	}
	s.mu.Unlock()
	close(s.released)
}

// recipe is what serve needs to start one of the servers.
type recipe struct {
	command
	// args returns the arguments for a port, and writes what depends on it.
	args func(port int) ([]string, error)
	url  func(port int) url.URL
	// ready asks the server something that needs its password. An error is
	// tried again until the deadline, a *refusedError is final.
	ready func(ctx context.Context, address url.URL) error
	// after cleans up when the process has ended, however it did; may be nil.
	after func()
}

// refusedError says that the server answered and will not change its mind.
type refusedError struct{ err error }

func (e *refusedError) Error() string { return e.err.Error() }
func (e *refusedError) Unwrap() error { return e.err }

const (
	// readyTimeout bounds one start. Recovery after a crash reads up to
	// max_wal_size (4 GB), about a minute from a slow disk.
	readyTimeout = 2 * time.Minute
	// portAttempts: each means that another process took a port, which was
	// free, within some milliseconds.
	portAttempts = 5
)

// serve starts a server on a free port and returns when it is ready.
func (f *Folder) serve(ctx context.Context, r recipe) (*Server, error) {
	logs := filepath.Join(f.dir, "log")
	if err := os.MkdirAll(logs, 0o700); err != nil {
		return nil, fmt.Errorf("private: %w", err)
	}
	r.log = filepath.Join(logs, r.name+".log")
	turnLog(r.log, logLimit)
	portFile := filepath.Join(f.dir, r.name+".port")
	former := readPort(portFile)
	for attempt := 1; ; attempt++ {
		port, err := freePort(former)
		if err != nil {
			return nil, err
		}
		s, err := f.serveAt(ctx, r, port)
		if err == nil {
			if port != former {
				err = ReplaceFile(portFile, []byte(strconv.Itoa(port)), 0o600)
			}
			if err != nil {
				_, ended := s.process.end(ctx)
				return nil, errors.Join(err, ended)
			}
			return s, nil
		}
		var failed *StartError
		taken := errors.As(err, &failed) && strings.Contains(strings.ToLower(failed.Tail), "already in use")
		if !taken || attempt == portAttempts {
			return nil, err
		}
		former = 0
	}
}

func (f *Folder) serveAt(ctx context.Context, r recipe, port int) (*Server, error) {
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
		// Whoever waits no longer should not wait for a tidy stop either.
		short, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		_, ended := p.end(short)
		return nil, errors.Join(failure, ended)
	}
	s := &Server{name: r.name, url: address, log: r.log, folder: f, process: p, after: r.after,
		done: make(chan struct{}), released: make(chan struct{})}
	go p.boundLog(r.log)
	return s, nil
}

// await asks until the server is ready, has ended, or the time is over.
func (p *process) await(ctx context.Context, ready func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	pause := 2 * time.Millisecond
	for {
		once, done := context.WithTimeout(ctx, 2*time.Second)
		err := ready(once)
		done()
		if err == nil {
			select {
			case <-p.gone: // then another server answered
				return p.reason()
			default:
				return nil
			}
		}
		var refused *refusedError
		if errors.As(err, &refused) {
			// A stranger on the port refuses too, while our server is about
			// to end for want of the port: that one can be tried again.
			select {
			case <-p.gone:
				return p.reason()
			case <-time.After(time.Second):
				return err
			}
		}
		select {
		case <-p.gone:
			return p.reason()
		case <-ctx.Done():
			return fmt.Errorf("%w; last answer: %w", ctx.Err(), err)
		case <-time.After(pause):
			pause = min(pause*2, 50*time.Millisecond)
		}
	}
}

// freePort returns the wanted port of 127.0.0.1 when it is free, else another.
// It can be taken again before the server binds it: see serve.
func freePort(wanted int) (int, error) {
	listener, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(wanted)))
	if err != nil && wanted != 0 {
		listener, err = net.Listen("tcp4", "127.0.0.1:0")
	}
	if err != nil {
		return 0, fmt.Errorf("private: find a free port: %w", err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}

// readPort returns the port of the last run, 0 when there was none. Ports
// below 1024 are never ours.
func readPort(path string) int {
	data, err := readSmall(path)
	if err != nil {
		return 0
	}
	port, err := strconv.Atoi(string(data))
	if err != nil || port < 1024 || port > 65535 {
		return 0
	}
	return port
}

// hostPort is 127.0.0.1:PORT.
func hostPort(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
