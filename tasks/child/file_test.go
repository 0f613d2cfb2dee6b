package child

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/symbol"
)

// span is a range of a file.
type span struct{ At, N int64 }

// readers are operations that read the parent's file.
func readers() map[string]Operation {
	return map[string]Operation{
		"digest": TypedFile(func(_ context.Context, f *File, _ number) ([]byte, error) {
			sum := sha256.New()
			_, err := io.Copy(sum, io.NewSectionReader(f, 0, f.Size()))
			return sum.Sum(nil), err
		}),
		"spans": TypedFile(func(_ context.Context, f *File, all []span) ([]byte, error) {
			var read []byte
			for _, s := range all {
				p := make([]byte, s.N)
				n, err := f.ReadAt(p, s.At)
				if err != nil && err != io.EOF {
					return nil, err
				}
				read = append(read, p[:n]...)
			}
			return read, nil
		}),
		"partial": TypedFile(func(_ context.Context, f *File, a number) (number, error) {
			for i := range a.N {
				if err := f.Send(number{i}); err != nil {
					return number{}, err
				}
			}
			os.Exit(3)
			return number{}, nil
		}),
		"endless": TypedFile(func(_ context.Context, f *File, _ number) (number, error) {
			for {
				if _, err := io.Copy(io.Discard, io.NewSectionReader(f, 0, f.Size())); err != nil {
					return number{}, err
				}
			}
		}),
		"obedient": Typed(func(ctx context.Context, _ number) (number, error) {
			for ctx.Err() == nil {
				runtime.KeepAlive(ctx)
			}
			return number{}, ctx.Err()
		}),
		"escape": Typed(func(context.Context, number) ([]string, error) {
			var failed []string
			note := func(what string, err error) {
				if !errors.Is(err, syscall.EPERM) {
					what += ": " + errorText(err)
				}
				failed = append(failed, what)
			}
			_, err := os.Open("/etc/hostname")
			note("open", err)
			_, err = net.Dial("tcp", "127.0.0.1:1")
			note("dial", err)
			note("run", exec.Command("/bin/true").Run())
			note("remove", syscall.Unlink("/tmp/none"))
			note("signal", syscall.Kill(os.Getppid(), 0))
			return failed, nil
		}),
		"grow": Typed(func(_ context.Context, a number) (number, error) {
			b := make([]byte, a.N)
			for i := 0; i < len(b); i += 4096 {
				b[i] = 1
			}
			return number{int(b[4096])}, nil
		}),
	}
}

func errorText(err error) string {
	if err == nil {
		return "allowed"
	}
	return err.Error()
}

func random(n int) []byte {
	var seed [32]byte
	data := make([]byte, n)
	_, _ = rand.NewChaCha8(seed).Read(data)
	return data
}

// countingReader counts reads and their bytes.
type countingReader struct {
	io.ReaderAt
	calls int
	bytes int64
}

func (c *countingReader) ReadAt(p []byte, off int64) (int, error) {
	c.calls++
	c.bytes += int64(len(p))
	return c.ReaderAt.ReadAt(p, off)
}

// An operation reads the parent's file by ranges, of any length and at any place.
func TestFile(t *testing.T) {
	t.Parallel()
	p := pool(t, nil)
	content := random(5<<20 + 17)
	var got []byte
	require.NoError(t, p.Run(t.Context(), Call{Operation: "digest", Args: number{}, Result: &got, File: bytes.NewReader(content),
		Size: int64(len(content))}))
	want := sha256.Sum256(content)
	require.Equal(t, want[:], got)

	var spans []span
	var expected []byte
	for range 200 {
		s := span{rand.Int64N(int64(len(content))), rand.Int64N(200 << 10)}
		spans = append(spans, s, span{s.At + 1, 3})
		expected = append(expected, content[s.At:min(s.At+s.N, int64(len(content)))]...)
		expected = append(expected, content[min(s.At+1, int64(len(content))):min(s.At+4, int64(len(content)))]...)
	}
	spans = append(spans, span{int64(len(content)), 10}, span{1 << 50, 10})
	require.NoError(t, p.Run(t.Context(), Call{Operation: "spans", Args: spans, Result: &got, File: bytes.NewReader(content),
		Size: int64(len(content))}))
	require.True(t, bytes.Equal(expected, got))

	// Small reads next to each other are one of the parent's.
	var small []span
	for i := range int64(2000) {
		small = append(small, span{i * 30, 30})
	}
	counted := &countingReader{ReaderAt: bytes.NewReader(content)}
	require.NoError(t, p.Run(t.Context(), Call{Operation: "spans", Args: small, Result: &got, File: counted, Size: int64(len(content))}))
	require.Equal(t, 1, counted.calls)
	require.ErrorContains(t, p.Do(t.Context(), "spans", []span{{0, 1}}, nil), "cannot be read", "a request without a file")
}

// What is wrong with the file's store is no fault of the file.
func TestFileFails(t *testing.T) {
	t.Parallel()
	p := pool(t, nil)
	gone := errors.New("the store is gone")
	err := p.Run(t.Context(), Call{Operation: "digest", Args: number{}, File: brokenReader{gone}, Size: 100})
	require.ErrorIs(t, err, gone)
	err = p.Run(t.Context(), Call{Operation: "digest", Args: number{}, File: strings.NewReader("short"), Size: 100})
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	var invalid *symbol.InvalidError
	require.Equal(t, 1, p.Started())
	err = p.Run(t.Context(), Call{Operation: "endless", Args: number{}, File: bytes.NewReader(random(4 << 20)),
		Size: 4 << 20, MaxRead: 20 << 20})
	require.ErrorAs(t, err, &invalid)
	require.Equal(t, "reading this file takes more than 20 MiB of it", invalid.Reason)
	require.NoError(t, p.Do(t.Context(), "add", number{}, nil))
	require.Equal(t, 1, p.Started())
}

type brokenReader struct{ err error }

func (b brokenReader) ReadAt([]byte, int64) (int, error) { return 0, b.err }

// blockedReader says when a read has begun, which does not return before it is released.
type blockedReader struct{ begun, release chan struct{} }

func (b blockedReader) ReadAt(p []byte, _ int64) (int, error) {
	b.begun <- struct{}{}
	<-b.release
	return len(p), nil
}

// A read that never ends keeps no place in the pool beyond the request's time.
func TestBlockedFile(t *testing.T) {
	t.Parallel()
	p := pool(t, nil)
	stuck := blockedReader{make(chan struct{}, 1), make(chan struct{})}
	defer close(stuck.release)
	for range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-stuck.begun
			cancel()
		}()
		err := p.Run(ctx, Call{Operation: "digest", Args: number{}, File: stuck, Size: 100})
		require.ErrorIs(t, err, context.Canceled)
	}
	require.Empty(t, p.slots, "no place stays taken")
	p.mu.Lock()
	alive := len(p.alive)
	p.mu.Unlock()
	require.LessOrEqual(t, alive, 1)

	// The pool's own time ends it as well: during the read, or before it on a busy machine.
	p = pool(t, func(c *Config) { c.Timeout = 50 * time.Millisecond })
	go func() { <-stuck.begun }()
	err := p.Run(t.Context(), Call{Operation: "digest", Args: number{}, File: stuck, Size: 100})
	require.True(t, errors.Is(err, context.DeadlineExceeded) || Late(err), "%v", err)
	require.Empty(t, p.slots)
}

// What was sent before a death is there after it.
func TestPartial(t *testing.T) {
	t.Parallel()
	p := pool(t, nil)
	var got []number
	keep := func(doc json.RawMessage) {
		var n number
		require.NoError(t, json.Unmarshal(doc, &n))
		got = append(got, n)
	}
	var invalid *symbol.InvalidError
	require.ErrorAs(t, p.Run(t.Context(), Call{Operation: "partial", Args: number{3}, Partial: keep, Once: true}), &invalid)
	require.Equal(t, []number{{0}, {1}, {2}}, got)
	require.Equal(t, 1, p.Started(), "asked for once")
	require.ErrorAs(t, p.Run(t.Context(), Call{Operation: "partial", Args: number{1}}), &invalid)
	require.Equal(t, 3, p.Started(), "a death without a cause is tried again")
}

// Processor time is bounded to parts of a second: first by the context, then by death.
func TestProcessorTime(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the limits are those of Linux")
	}
	p := pool(t, nil)
	var invalid *symbol.InvalidError
	require.ErrorAs(t, p.Run(t.Context(), Call{Operation: "obedient", Args: number{}, CPU: 200 * time.Millisecond}), &invalid)
	require.Equal(t, "reading this file takes more than 200ms of processor time", invalid.Reason)
	require.Equal(t, symbol.Timeout, invalid.Code)
	require.NoError(t, p.Do(t.Context(), "add", number{}, nil))
	require.Equal(t, 1, p.Started(), "it returned by itself")

	c, err := p.take()
	require.NoError(t, err)
	_, err = c.do(t.Context(), request{Operation: "loop", Args: json.RawMessage(`{}`), CPU: 200 * time.Millisecond}, &source{}, nil)
	require.Error(t, err)
	require.Equal(t, causeCPU, p.bury(c).cause)
	state := c.cmd.ProcessState
	require.Less(t, state.UserTime()+state.SystemTime(), 2*time.Second)
}

// The memory of a child is bounded beyond what it has at its start, and one that has grown
// is replaced before it is too small for the next file.
func TestMemory(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the limits are those of Linux")
	}
	p := pool(t, func(c *Config) { c.Limits.Memory = 64 << 20 })
	for range 3 {
		// Half of it: the runtime's own threads and heap take some of the rest.
		require.NoError(t, p.Do(t.Context(), "grow", number{32 << 20}, nil))
	}
	require.Equal(t, 3, p.Started())
	var invalid *symbol.InvalidError
	require.ErrorAs(t, p.Do(t.Context(), "grow", number{memoryFactor*64<<20 + 1<<20}, nil), &invalid)
	require.Equal(t, "reading this file takes more than 64 MiB of memory", invalid.Reason)
}

// A sealed child reaches no file, no network, no program and no other process.
func TestSealed(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		t.Skip("the filter is one of Linux")
	}
	var got []string
	require.NoError(t, pool(t, func(c *Config) { c.Limits.Sealed = true }).Do(t.Context(), "escape", number{}, &got))
	require.Equal(t, []string{"open", "dial", "run", "remove", "signal"}, got)
	require.NoError(t, pool(t, nil).Do(t.Context(), "escape", number{}, &got))
	require.Equal(t, []string{"open: allowed", "dial", "run", "remove: no such file or directory", "signal: allowed"}, got)
}
