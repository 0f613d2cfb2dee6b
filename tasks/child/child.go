// Package child runs the reading of files from outside in child processes, so that a
// file that eats memory, loops or crashes its reader costs one request and nothing else.
//
// A child is the same program, started with the argument Command: its main function calls
// Serve with a table of operations before it does anything else. It sets limits on its own
// memory, processor time, open files and the size of written files, has a session of its
// own, no core dumps, no environment but a folder for temporary files, a low priority, and
// ends when its parent does. It reaches no network and starts no program; one that is
// sealed opens no files either (seal_linux.go). Requests and responses are JSON with a
// length before it, over two pipes. Files are handed over by path, or read by ranges over
// the pipes from whatever the parent has them in (File).
//
// A Pool keeps a bounded number of children, each of which serves one request at a time. A
// child that overruns its time, breaks the protocol or dies is killed, and the next request
// has another. After some requests a child is replaced, so that what a reader leaks ends.
//
// What is wrong with a file is a *symbol.InvalidError: what the operation returned as such,
// and the deaths of a child that repeat with the same file, by their cause. All other
// errors are troubles of the machine, which may pass: no space left, no process started.
//
// The limits are those of Linux. On other systems a child has a deadline and the soft bound
// of Go's collector on memory, and no more.
package child

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// Command is the argument by which the program becomes a child.
const Command = "parse-files"

// Limits bound one child.
type Limits struct {
	// Memory is the most bytes of private memory beyond what the process has at its start.
	// The collector works harder from three quarters of it on.
	Memory int64 `json:"memory"`
	// CPU is the processor time of one request. At three quarters of it the operation's
	// context ends, so that a reader that looks at it has the chance to return what it has.
	CPU time.Duration `json:"cpu"`
	// FileBytes is the largest file that a request may write.
	FileBytes int64 `json:"file_bytes"`
	// Sealed children open no files: what they read is a File. No child reaches the network
	// or starts a program.
	Sealed bool `json:"sealed,omitempty"`
	// Interactive children begin each request with the priority of their parent, for somebody
	// waits, and lose it in one that takes long. Others have a low one from the start.
	Interactive bool `json:"interactive,omitempty"`
}

// Config is what a Pool needs.
type Config struct {
	// Program is the path of the executable; "" is the one that runs.
	Program string
	// Children is how many run at once; at least 1.
	Children int
	// Warm of them are kept although idle; others end after idleTime.
	Warm int
	// Limits of each child; zero members are the defaults.
	Limits Limits
	// Timeout bounds a request, as the clock has it; default four times Limits.CPU, since
	// the machine may be busy.
	Timeout time.Duration
	// Folder is where operations make temporary files; "" is the system's.
	Folder string
	Log    *slog.Logger

	wordsTime time.Duration // the constant, longer in tests, for which a busy machine is no matter
}

const (
	// DefaultMemory suffices to read a GiB of debug information, for which the readers
	// of formats promise to take less than 512 MiB of live memory.
	DefaultMemory = 768 << 20
	// DefaultCPU is some ten times of what a GiB of debug information takes.
	DefaultCPU = 5 * time.Minute
	// DefaultFileBytes is larger than any index or member of an archive that is accepted.
	DefaultFileBytes = 8 << 30
	// requestsEach of a child: the start of a process costs some tens of milliseconds.
	requestsEach = 500
	// idleTime of a child that is not kept warm: an archive's next file comes at once.
	idleTime = 30 * time.Second
)

// Pool runs requests in children. It is safe for concurrent use.
type Pool struct {
	cfg   Config
	slots chan struct{}

	mu     sync.Mutex
	idle   []*process // the one used last is the last
	alive  map[*process]bool
	closed bool
	starts int
}

// NewPool returns a pool; with Warm children it begins to start these.
func NewPool(cfg Config) (*Pool, error) {
	if cfg.Children < 1 || cfg.Warm < 0 || cfg.Warm > cfg.Children {
		return nil, errors.New("child processes: at least one, and no more warm than there are")
	}
	if cfg.Log == nil {
		return nil, errors.New("child processes: no log")
	}
	if cfg.Limits.Memory == 0 {
		cfg.Limits.Memory = DefaultMemory
	}
	if cfg.Limits.CPU == 0 {
		cfg.Limits.CPU = DefaultCPU
	}
	if cfg.Limits.FileBytes == 0 {
		cfg.Limits.FileBytes = DefaultFileBytes
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = 4 * cfg.Limits.CPU
	}
	p := &Pool{cfg: cfg, slots: make(chan struct{}, cfg.Children), alive: map[*process]bool{}}
	for range cfg.Warm {
		go p.warm()
	}
	return p, nil
}

// warm starts a child for the first request that comes.
func (p *Pool) warm() {
	if c, err := p.start(); err == nil {
		p.put(c)
	}
}

var errClosed = errors.New("child processes: the pool is closed")

// take returns an idle child, or starts one.
func (p *Pool) take() (*process, error) {
	p.mu.Lock()
	if n := len(p.idle); n > 0 {
		c := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.mu.Unlock()
		c.timer.Stop()
		return c, nil
	}
	p.mu.Unlock()
	return p.start()
}

func (p *Pool) start() (*process, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, errClosed
	}
	c, err := startProcess(p.cfg)
	if err != nil {
		return nil, fmt.Errorf("start child process: %w", err)
	}
	p.alive[c] = true
	p.starts++
	return c, nil
}

// put makes a child idle, or ends it when it has served enough.
func (p *Pool) put(c *process) {
	p.mu.Lock()
	if p.closed || c.served >= requestsEach || len(p.idle) >= p.cfg.Children {
		p.mu.Unlock()
		p.bury(c)
		return
	}
	defer p.mu.Unlock()
	p.idle = append(p.idle, c)
	c.timer = time.AfterFunc(idleTime, func() { p.expire(c) })
}

// expire ends a child that was idle for long, unless it is one of those kept warm.
func (p *Pool) expire(c *process) {
	p.mu.Lock()
	for i, other := range p.idle {
		if other == c && len(p.idle) > p.cfg.Warm {
			p.idle = append(p.idle[:i:i], p.idle[i+1:]...)
			p.mu.Unlock()
			p.bury(c)
			return
		}
	}
	p.mu.Unlock()
}

// bury kills a child and returns how it ended.
func (p *Pool) bury(c *process) death {
	c.kill()
	d := c.wait()
	p.mu.Lock()
	delete(p.alive, c)
	p.mu.Unlock()
	return d
}

// Started returns how many children were started so far.
func (p *Pool) Started() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.starts
}

// Close kills the children and waits for their ends. Requests under way fail.
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed = true
	var all []*process
	for c := range p.alive {
		all = append(all, c)
	}
	p.idle = nil
	p.mu.Unlock()
	for _, c := range all {
		c.kill()
	}
	for _, c := range all {
		c.wait()
	}
}
