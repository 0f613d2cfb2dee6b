package child

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/slipway-qa/slipway/storage/symbol"
)

// errProtocol: the child sent what is no response.
var errProtocol = errors.New("not a response")

// process is one child.
type process struct {
	cmd    *exec.Cmd
	in     *os.File // requests go here
	out    *os.File // responses come from here
	errors *tail
	served int
	timer  *time.Timer // of its idle time

	ended chan struct{} // closed after Wait
	death death
}

// death is how a child ended.
type death struct {
	cause  cause
	signal syscall.Signal
	words  string // of causeSetup
}

type cause string

const (
	causeMemory  cause = "memory"
	causeCPU     cause = "cpu"
	causeStack   cause = "stack"
	causeRuntime cause = "runtime" // an error that Go cannot recover from
	causeSignal  cause = "signal"
	causeExit    cause = "exit"
	causeSetup   cause = "setup" // it could not begin
)

// wordsTime bounds the wait for the last words of a child that has ended, which say what it
// died of. They are there at once, unless the machine is too busy to read them; what a
// descendant keeps open must not keep Wait from returning, nor the request that waits for it.
const wordsTime = 2 * time.Second

// Exit codes of a child.
const (
	exitCPU   = 91 // its request used up its processor time
	exitSetup = 92 // it could not set its limits
)

// startProcess starts a child, without waiting for it.
func startProcess(cfg Config) (_ *process, err error) {
	program := cfg.Program
	if program == "" {
		if program, err = os.Executable(); err != nil {
			return nil, err
		}
	}
	limits, err := json.Marshal(cfg.Limits)
	if err != nil {
		return nil, err
	}
	var files []*os.File
	pipe := func() (r, w *os.File, err error) {
		if r, w, err = os.Pipe(); err == nil {
			files = append(files, r, w)
		}
		return r, w, err
	}
	defer func() {
		if err != nil {
			for _, f := range files {
				_ = f.Close()
			}
		}
	}()
	childIn, in, err := pipe()
	if err != nil {
		return nil, err
	}
	out, childOut, err := pipe()
	if err != nil {
		return nil, err
	}
	c := &process{in: in, out: out, errors: &tail{}, ended: make(chan struct{})}
	c.cmd = exec.Command(program, Command, string(limits))
	c.cmd.ExtraFiles = []*os.File{childIn, childOut} // 3 and 4
	c.cmd.Stderr = c.errors
	// Nothing of the parent's: its variables hold secrets.
	c.cmd.Env = []string{"GOMAXPROCS=2", "GOTRACEBACK=single"}
	if cfg.Folder != "" {
		c.cmd.Env = append(c.cmd.Env, "TMPDIR="+cfg.Folder)
	}
	c.cmd.Dir = "/"
	c.cmd.SysProcAttr = attributes()
	c.cmd.WaitDelay = cmp.Or(cfg.wordsTime, wordsTime)
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	_, _ = childIn.Close(), childOut.Close()
	go c.await()
	return c, nil
}

// await collects the end of the child.
func (c *process) await() {
	err := c.cmd.Wait()
	c.death = c.autopsy(err)
	_ = c.in.Close()
	close(c.ended)
}

func (c *process) wait() death {
	<-c.ended
	_ = c.out.Close()
	return c.death
}

// kill ends the child and whatever is in its session.
func (c *process) kill() {
	select {
	case <-c.ended:
	default:
		_ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL)
		_ = c.cmd.Process.Kill() // before it has a group of its own
	}
}

// do sends a request, serves what the child reads of the file, and reads the response.
// After an error the child is of no use.
func (c *process) do(ctx context.Context, r request, from *source, partial func(json.RawMessage)) (*response, error) {
	stop := context.AfterFunc(ctx, c.kill)
	defer stop()
	if err := writeJSON(c.in, frameRequest, r, maxRequest); err != nil {
		return nil, fmt.Errorf("send request: %w", err)
	}
	for {
		kind, content, err := readFrame(c.out, maxResponse)
		if err != nil {
			if !errors.Is(err, io.EOF) && ctx.Err() == nil {
				err = fmt.Errorf("%w: %w", errProtocol, err)
			}
			return nil, fmt.Errorf("read response: %w", err)
		}
		switch kind {
		case frameRead:
			if err := from.serve(ctx, c.in, content); err != nil {
				return nil, fmt.Errorf("send a part of the file: %w", err)
			}
		case framePartial:
			if partial != nil {
				partial(content)
			}
		case frameResponse:
			return c.finish(ctx, content)
		default:
			return nil, fmt.Errorf("read response: %w: a frame of kind %d", errProtocol, kind)
		}
	}
}

// finish reads the last frame of a request.
func (c *process) finish(ctx context.Context, content []byte) (*response, error) {
	var res response
	if err := json.Unmarshal(content, &res); err != nil {
		return nil, fmt.Errorf("read response: %w: %w", errProtocol, err)
	}
	c.served++
	if res.Panic != "" || res.Retire {
		c.served = requestsEach // what it holds is in no known state, or too much
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return &res, nil
}

// autopsy reads from the exit of the child and its last words what it died of.
func (c *process) autopsy(err error) death {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return death{cause: causeExit}
	}
	words := c.errors.String()
	status, _ := exit.Sys().(syscall.WaitStatus)
	switch {
	case exit.ExitCode() == exitCPU, status.Signaled() && status.Signal() == syscall.SIGXCPU:
		return death{cause: causeCPU}
	case exit.ExitCode() == exitSetup:
		return death{cause: causeSetup, words: words}
	case status.Signaled():
		return death{cause: causeSignal, signal: status.Signal()}
	case strings.Contains(words, "stack exceeds"), strings.Contains(words, "stack overflow"):
		return death{cause: causeStack}
	case strings.Contains(words, "out of memory"), strings.Contains(words, "cannot allocate memory"),
		strings.Contains(words, "failed to allocate"), strings.Contains(words, "failed to create new OS thread"),
		collectorFault(words):
		return death{cause: causeMemory}
	case strings.Contains(words, "fatal error:"), strings.Contains(words, "panic:"):
		return death{cause: causeRuntime}
	}
	return death{cause: causeExit}
}

// collectorFault reports whether Go's runtime read from nowhere on its own stack. Its collector
// does so where it gets no memory for its work: the newest one does not look whether it did.
// What a reader does wrong is a panic.
func collectorFault(words string) bool {
	return strings.HasPrefix(words, "SIGSEGV: segmentation violation") && strings.Contains(words, "\ngoroutine 0 ")
}

// verdict returns the error of a request whose child died; repeats means that the cause may
// lie outside of the file, so that another child should try once.
func (d death) verdict(late bool, err error, cpu time.Duration, cfg Config) (_ error, repeats bool) {
	switch {
	case d.cause == causeSetup:
		return fmt.Errorf("the child process could not begin: %s", strings.TrimSpace(d.words)), false
	case d.cause == causeMemory:
		return symbol.Invalid(symbol.TooLarge, "reading this file takes more than %d MiB of memory", cfg.Limits.Memory>>20), false
	case d.cause == causeStack:
		return symbol.Invalid(symbol.TooLarge, "this file is nested too deeply to be read"), false
	case d.cause == causeCPU:
		return symbol.Invalid(symbol.Timeout, "reading this file takes more than %s of processor time", cpu), false
	case late:
		return &lateError{symbol.Invalid(symbol.Timeout, "reading this file takes longer than %s", cfg.Timeout)}, false
	case d.cause == causeRuntime:
		return symbol.Invalid(symbol.Internal, "the reader of this file crashed"), true
	case d.cause == causeSignal && d.signal == syscall.SIGKILL && errors.Is(err, errProtocol):
		return symbol.Invalid(symbol.Internal, "the reader of this file sent no readable response"), true
	case d.cause == causeSignal && d.signal == syscall.SIGKILL:
		return symbol.Invalid(symbol.TooLarge, "the system ended the reading of this file, most likely for lack of memory"), true
	}
	return symbol.Invalid(symbol.Internal, "the reader of this file ended without a response"), true
}

// lateError is a *symbol.InvalidError of a request that overran its time by the clock.
type lateError struct{ error }

func (e *lateError) Unwrap() error { return e.error }

// Late reports whether a request overran its time by the clock, and not its processor time:
// the machine or the file's store may be what was slow.
func Late(err error) bool {
	var late *lateError
	return errors.As(err, &late)
}

// tail keeps the beginning and the end of what a child writes to its standard error.
type tail struct {
	mu         sync.Mutex
	head, last []byte
}

const tailSize = 4 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(p)
	if room := tailSize - len(t.head); room > 0 {
		k := min(room, len(p))
		t.head = append(t.head, p[:k]...)
		p = p[k:]
	}
	if len(p) > tailSize {
		p = p[len(p)-tailSize:]
	}
	t.last = append(t.last, p...)
	if over := len(t.last) - tailSize; over > 0 {
		t.last = append(t.last[:0], t.last[over:]...)
	}
	return n, nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.head) + string(t.last)
}
