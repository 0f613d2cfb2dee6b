package child

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/symbol"
)

func TestMain(m *testing.M) {
	if IsChild(os.Args[1:]) {
		os.Exit(Serve(os.Args[1:], hostile(), readers()))
	}
	os.Exit(m.Run())
}

type number struct{ N int }

// hostile is what readers of files must not do, and do.
func hostile() map[string]Operation {
	return map[string]Operation{
		"add": Typed(func(_ context.Context, a number) (number, error) { return number{a.N + 1}, nil }),
		"pid": Typed(func(context.Context, number) (number, error) { return number{os.Getpid()}, nil }),
		"invalid": Typed(func(context.Context, number) (number, error) {
			return number{}, symbol.Invalid(symbol.Cyclic, "a loop at 7")
		}),
		"failure": Typed(func(context.Context, number) (number, error) { return number{}, errors.New("no space") }),
		"panic":   Typed(func(_ context.Context, a number) (number, error) { return number{[]int{1}[a.N]}, nil }),
		"memory": Typed(func(context.Context, number) (number, error) {
			var all [][]byte
			for {
				b := make([]byte, 8<<20)
				for i := 0; i < len(b); i += 4096 {
					b[i] = 1
				}
				all = append(all, b)
				_ = len(all)
			}
		}),
		"huge": Typed(func(_ context.Context, a number) (number, error) { return number{len(make([]byte, a.N))}, nil }),
		"loop": Typed(func(context.Context, number) (number, error) {
			for i := 0; ; i++ {
				runtime.KeepAlive(i)
			}
		}),
		"wait": Typed(func(ctx context.Context, _ number) (number, error) { select {} }),
		"sleep": Typed(func(ctx context.Context, _ number) (number, error) {
			_, err := io.Copy(io.Discard, os.NewFile(uintptr(must(syscall.Dup(3))), "never"))
			return number{}, err
		}),
		"stack": Typed(func(_ context.Context, a number) (number, error) { return number{deep(a.N)}, nil }),
		"exit":  Typed(func(context.Context, number) (number, error) { os.Exit(0); return number{}, nil }),
		"killed": Typed(func(context.Context, number) (number, error) {
			return number{}, syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}),
		"crash": Typed(func(context.Context, number) (number, error) { go func() { panic("elsewhere") }(); select {} }),
		"rubbish": Typed(func(context.Context, number) (number, error) {
			_, err := os.NewFile(4, "out").WriteString("r\x05\x00\x00\x00{{{{{")
			return number{}, err
		}),
		"length": Typed(func(context.Context, number) (number, error) {
			_, err := os.NewFile(4, "out").WriteString("r\xff\xff\xff\xff")
			return number{}, err
		}),
		"large": Typed(func(context.Context, number) (string, error) { return strings.Repeat("x", maxResponse), nil }),
		"environment": Typed(func(context.Context, number) ([]string, error) {
			return append(os.Environ(), fmt.Sprint(syscall.Getpgrp() == os.Getpid())), nil
		}),
		"write": Typed(func(_ context.Context, path string) (number, error) {
			f, err := os.Create(path)
			if err != nil {
				return number{}, err
			}
			defer f.Close()
			_, err = f.Write(make([]byte, 2<<20))
			return number{}, err
		}),
		"open": Typed(func(_ context.Context, path string) (number, error) {
			for n := 0; ; n++ {
				if _, err := os.Open(path); err != nil {
					return number{n}, nil
				}
			}
		}),
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func deep(n int) int {
	if n < 0 {
		return 0
	}
	var pad [1024]byte
	pad[n%1024] = 1
	return deep(n+1) + int(pad[(n+1)%1024])
}

func pool(t *testing.T, change func(*Config)) *Pool {
	t.Helper()
	cfg := Config{Children: 1, Limits: Limits{Memory: 256 << 20, CPU: 30 * time.Second, FileBytes: 1 << 20},
		Folder: t.TempDir(), Log: slog.New(slog.DiscardHandler), wordsTime: time.Minute}
	if change != nil {
		change(&cfg)
	}
	p, err := NewPool(cfg)
	require.NoError(t, err)
	t.Cleanup(p.Close)
	return p
}

func TestRequests(t *testing.T) {
	t.Parallel()
	p := pool(t, nil)
	for i := range 20 {
		var got number
		require.NoError(t, p.Do(t.Context(), "add", number{i}, &got))
		require.Equal(t, i+1, got.N)
	}
	require.Equal(t, 1, p.Started(), "one child served all")
	require.ErrorContains(t, p.Do(t.Context(), "failure", number{}, nil), "no space")
	require.ErrorContains(t, p.Do(t.Context(), "unknown", number{}, nil), "no operation")
	var invalid *symbol.InvalidError
	require.ErrorAs(t, p.Do(t.Context(), "invalid", number{}, nil), &invalid)
	require.Equal(t, symbol.InvalidError{Code: symbol.Cyclic, Reason: "a loop at 7"}, *invalid)
	require.Equal(t, 1, p.Started(), "errors are responses")
}

// Each of these ends in a named error, and the next request is served.
func TestHostileFiles(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the limits are those of Linux")
	}
	for operation, want := range map[string]struct {
		code, reason string
		change       func(*Config)
		n            int
	}{
		"memory":  {symbol.TooLarge, "more than 256 MiB of memory", nil, 0},
		"huge":    {symbol.TooLarge, "more than 256 MiB of memory", nil, 1 << 33},
		"loop":    {symbol.Timeout, "processor time", func(c *Config) { c.Limits.CPU, c.Timeout = time.Second, 5*time.Minute }, 0},
		"wait":    {symbol.Timeout, "longer than 10s", func(c *Config) { c.Timeout = 10 * time.Second }, 0}, // in which the next one is served
		"panic":   {symbol.Internal, "index out of range", nil, 5},
		"stack":   {symbol.TooLarge, "nested too deeply", nil, 0},
		"exit":    {symbol.Internal, "without a response", nil, 0},
		"killed":  {symbol.TooLarge, "system ended", nil, 0},
		"crash":   {symbol.Internal, "crashed", nil, 0},
		"rubbish": {symbol.Internal, "no readable response", nil, 0},
		"length":  {symbol.Internal, "no readable response", nil, 0},
		"large":   {symbol.TooLarge, "too large", func(c *Config) { c.Limits.Memory = 1 << 30 }, 0},
	} {
		t.Run(operation, func(t *testing.T) {
			t.Parallel()
			p := pool(t, want.change)
			var invalid *symbol.InvalidError
			require.ErrorAs(t, p.Do(t.Context(), operation, number{want.n}, nil), &invalid)
			require.Equal(t, want.code, invalid.Code, invalid.Reason)
			require.Contains(t, invalid.Reason, want.reason)
			var got number
			require.NoError(t, p.Do(t.Context(), "add", number{1}, &got), "the next one is served")
			require.Equal(t, 2, got.N)
		})
	}
}

// A death has its cause in the last words, however late they are read.
func TestLastWords(t *testing.T) {
	t.Parallel()
	exit := exec.CommandContext(t.Context(), "/bin/sh", "-c", "exit 2").Run()
	for words, want := range map[string]cause{
		"fatal error: runtime: out of memory\n\ngoroutine 0 gp=0x1 m=0 [idle]:\n":                             causeMemory,
		"SIGSEGV: segmentation violation\nPC=0x43 m=9 sigcode=1 addr=0x0\n\ngoroutine 0 gp=0x1 m=9 [idle]:\n": causeMemory,
		"panic: runtime error: invalid memory address\n[signal SIGSEGV: segmentation violation]\n":            causeRuntime,
		"runtime: goroutine stack exceeds 1000-byte limit\nfatal error: stack overflow\n":                     causeStack,
		"": causeExit,
	} {
		c := &process{errors: &tail{}}
		_, err := c.errors.Write([]byte(words))
		require.NoError(t, err)
		require.Equal(t, want, c.autopsy(exit).cause, words)
	}
}

// What holds a child's standard error open after its end delays nobody for long.
func TestHeldWords(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	program, holder := filepath.Join(folder, "program"), filepath.Join(folder, "holder")
	require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\nsleep 600 &\necho $! >"+holder+"\n"), 0o700))
	c, err := startProcess(Config{Program: program})
	require.NoError(t, err)
	require.LessOrEqual(t, c.cmd.WaitDelay, 2*time.Second)
	c.wait()
	text, err := os.ReadFile(holder)
	require.NoError(t, err)
	var pid int
	_, err = fmt.Sscan(string(text), &pid)
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL), "it holds it still")
}

func TestLimitsOfFiles(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the limits are those of Linux")
	}
	p := pool(t, nil)
	var invalid *symbol.InvalidError
	require.ErrorAs(t, p.Do(t.Context(), "write", filepath.Join(t.TempDir(), "out"), nil), &invalid)
	require.Equal(t, symbol.TooLarge, invalid.Code)
	var opened number
	require.NoError(t, p.Do(t.Context(), "open", os.Args[0], &opened))
	require.Less(t, opened.N, openFiles)
}

// A child has nothing of the parent's environment, and a session of its own.
func TestEnvironment(t *testing.T) {
	t.Setenv("SLIPWAY_TEST_CHILD", "secret")
	p := pool(t, nil)
	var got []string
	require.NoError(t, p.Do(t.Context(), "environment", number{}, &got))
	require.Equal(t, []string{"GOMAXPROCS=2", "GOTRACEBACK=single", "TMPDIR=" + p.cfg.Folder, "true"}, got)
}

func TestCancel(t *testing.T) {
	t.Parallel()
	p := pool(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- p.Do(ctx, "wait", number{}, nil) }()
	require.Eventually(t, func() bool { return p.Started() == 1 }, time.Minute, time.Millisecond)
	waiting, stop := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer stop()
	require.ErrorIs(t, p.Do(waiting, "add", number{}, nil), context.DeadlineExceeded, "all children are busy")
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
	require.NoError(t, p.Do(t.Context(), "add", number{}, nil))
}

// A request that meets an idle child which was killed is served by another.
func TestKilledWhileIdle(t *testing.T) {
	t.Parallel()
	p := pool(t, nil)
	var first, second number
	require.NoError(t, p.Do(t.Context(), "pid", number{}, &first))
	require.NoError(t, syscall.Kill(first.N, syscall.SIGKILL))
	require.NoError(t, p.Do(t.Context(), "pid", number{}, &second))
	require.NotEqual(t, first, second)
}

func TestWarm(t *testing.T) {
	t.Parallel()
	p := pool(t, func(c *Config) { c.Children, c.Warm = 3, 2 })
	require.Eventually(t, func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return len(p.idle) == 2
	}, time.Minute, time.Millisecond)
	// A third one is started, and ends when it was idle for long.
	var all sync.WaitGroup
	var taken []*process
	for range 3 {
		c, err := p.take()
		require.NoError(t, err)
		taken = append(taken, c)
	}
	for _, c := range taken {
		all.Go(func() { p.put(c) })
	}
	all.Wait()
	for _, c := range taken {
		p.expire(c)
	}
	require.Len(t, p.idle, 2)
	require.Len(t, p.alive, 2)
}

func TestReplaced(t *testing.T) {
	t.Parallel()
	p := pool(t, nil)
	for range requestsEach + 1 {
		require.NoError(t, p.Do(t.Context(), "add", number{}, nil))
	}
	require.Equal(t, 2, p.Started())
}

func TestClose(t *testing.T) {
	t.Parallel()
	p := pool(t, nil)
	var child number
	require.NoError(t, p.Do(t.Context(), "pid", number{}, &child))
	p.Close()
	require.ErrorIs(t, p.Do(t.Context(), "add", number{}, nil), errClosed)
	require.ErrorIs(t, syscall.Kill(child.N, 0), syscall.ESRCH, "the child has ended")
}

// A child whose parent is gone ends, also in the middle of its work.
func TestOrphan(t *testing.T) {
	t.Parallel()
	p := pool(t, nil)
	c, err := p.take()
	require.NoError(t, err)
	doc, err := json.Marshal(number{})
	require.NoError(t, err)
	require.NoError(t, writeJSON(c.in, frameRequest, request{Operation: "loop", Args: doc, CPU: time.Hour}, maxRequest))
	require.NoError(t, c.in.Close())
	select {
	case <-c.ended:
	case <-time.After(time.Minute):
		t.Fatal("the child goes on")
	}
}

func TestServeRefuses(t *testing.T) {
	t.Parallel()
	require.Equal(t, exitSetup, Serve([]string{Command}, nil))
	require.Equal(t, exitSetup, Serve([]string{Command, "{"}, nil))
	_, err := NewPool(Config{})
	require.Error(t, err)
	_, err = NewPool(Config{Children: 1, Warm: 2})
	require.Error(t, err)
	p := pool(t, func(c *Config) { c.Program = filepath.Join(t.TempDir(), "none") })
	require.ErrorContains(t, p.Do(t.Context(), "add", number{}, nil), "start child process")
}
