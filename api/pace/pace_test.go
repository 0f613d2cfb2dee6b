package pace

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/tasks/admission"
)

// slow returns its bytes in steps with a wait before each, as a connection does: it fails
// at its deadline.
type slow struct {
	left, step int
	wait       time.Duration
	changed    chan struct{}

	mu       sync.Mutex
	deadline time.Time
}

// readAll reads to the end, in buffers that hold what came in a step.
func readAll(r io.Reader) (n int, err error) {
	buf := make([]byte, 2<<20)
	for err == nil {
		var m int
		m, err = r.Read(buf)
		n += m
	}
	if err == io.EOF {
		err = nil
	}
	return n, err
}

func (s *slow) until() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Until(s.deadline)
}

func (s *slow) setDeadline(at time.Time) error {
	s.mu.Lock()
	s.deadline = at
	s.mu.Unlock()
	select {
	case s.changed <- struct{}{}:
	default:
	}
	return nil
}

func (s *slow) Read(b []byte) (int, error) {
	if s.left == 0 {
		return 0, io.EOF
	}
	ready := time.After(s.wait)
	for {
		late := time.After(s.until())
		select {
		case <-ready:
			n := min(s.left, s.step, len(b))
			s.left -= n
			return n, nil
		case <-late:
			return 0, os.ErrDeadlineExceeded
		case <-s.changed:
		}
	}
}

func (s *slow) Close() error { return nil }

func TestBodyMustKeepARate(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		body *slow
		end  time.Duration
		took time.Duration // until it is too slow; 0: it never is
		rate int64
	}{
		{"all together", &slow{left: 10 << 20, step: 1 << 20}, time.Hour, 0, 0},
		{"64 KiB/s for minutes", &slow{left: 10 << 20, step: 64 << 10, wait: time.Second}, time.Hour, 0, 0},
		{"a byte a second", &slow{left: 100, step: 1, wait: time.Second}, time.Hour, 30 * time.Second, least},
		{"64 KiB/s beyond the request's deadline", &slow{left: 10 << 20, step: 64 << 10, wait: time.Second}, time.Minute, time.Minute, least},
		{"2 KiB/s", &slow{left: 1 << 20, step: 2 << 10, wait: time.Second}, time.Hour, 40 * time.Second, least},
		{"16 KiB/s for ever", &slow{left: 1 << 30, step: 16 << 10, wait: time.Second}, 10 * time.Hour, 1029 * time.Second, lasting},
		{"1 Mbit/s for ever", &slow{left: 256 << 20, step: 128 << 10, wait: time.Second}, 10 * time.Hour, 0, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			tt.body.changed = make(chan struct{}, 1)
			start := time.Now()
			b := newBody(tt.body, tt.body.setDeadline, DefaultGrace, start.Add(tt.end))
			n, err := readAll(b)
			if tt.took == 0 {
				require.NoError(t, err, tt.name)
				require.Zero(t, tt.body.left)
				require.Zero(t, tt.body.deadline, "lifted at the end of the body")
				return
			}
			var late *SlowError
			require.ErrorAs(t, err, &late, tt.name)
			require.ErrorIs(t, err, os.ErrDeadlineExceeded)
			require.Equal(t, tt.rate, late.Rate, tt.name)
			require.InDelta(t, tt.took.Seconds(), time.Since(start).Seconds(), 2, tt.name)
			_, again := b.Read(make([]byte, 1))
			require.Equal(t, err, again)
			require.Positive(t, n)
		})
	}
}

// Only the time counts in which bytes were waited for.
func TestStoresMayBeSlow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		src := &slow{left: 1 << 20, step: 64 << 10, wait: 100 * time.Millisecond, changed: make(chan struct{}, 1)}
		b := newBody(src, src.setDeadline, DefaultGrace, time.Now().Add(2*time.Hour))
		b.Require(64<<10, 30*time.Second, "")
		buf := make([]byte, 64<<10)
		for {
			_, err := b.Read(buf)
			if err == io.EOF {
				break
			}
			require.NoError(t, err)
			time.Sleep(5 * time.Minute)
		}
	})
}

func TestRequire(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		read := func(lift bool) error {
			src := &slow{left: 4 << 20, step: 32 << 10, wait: time.Second, changed: make(chan struct{}, 1)}
			b := newBody(src, src.setDeadline, DefaultGrace, time.Now().Add(time.Hour))
			b.Require(64<<10, 30*time.Second, "send the key")
			_, err := io.ReadFull(b, make([]byte, 1<<20))
			require.NoError(t, err)
			if lift {
				b.Lift()
			}
			_, err = readAll(b)
			return err
		}
		require.NoError(t, read(true))
		require.EqualError(t, read(false), "the body arrived too slowly: at least 65536 bytes a second are wanted; send the key")
	})
}

func TestFirst(t *testing.T) {
	t.Parallel()
	for _, length := range []int{0, 1, 1000, 1 << 10, 5000, 3 * step} {
		want := bytes.Repeat([]byte("x"), length)
		b := newBody(io.NopCloser(&chunks{want, 300}), func(time.Time) error { return nil }, DefaultGrace, time.Now().Add(time.Hour))
		head := make([]byte, min(length, 100))
		_, err := io.ReadFull(b, head)
		require.NoError(t, err)
		require.NoError(t, b.First())
		require.GreaterOrEqual(t, b.n, int64(min(length, 1<<10)))
		require.NoError(t, b.First())
		rest, err := io.ReadAll(b)
		require.NoError(t, err)
		require.Equal(t, want, append(head, rest...))
	}
	broken := newBody(io.NopCloser(io.MultiReader(strings.NewReader("x"), failing{})), func(time.Time) error { return nil },
		DefaultGrace, time.Now().Add(time.Hour))
	require.ErrorIs(t, broken.First(), errBroken)
}

var errBroken = errors.New("broken")

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errBroken }

// chunks returns some bytes at a time.
type chunks struct {
	left []byte
	most int
}

func (c *chunks) Read(p []byte) (int, error) {
	if len(c.left) == 0 {
		return 0, io.EOF
	}
	n := copy(p, c.left[:min(len(c.left), c.most)])
	c.left = c.left[n:]
	return n, nil
}

// A sender above its share is evicted in the middle of a read; one whose body has ended
// is left alone.
func TestEviction(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		room := admission.New(admission.Config{Name: "r", Capacity: 3})
		var errs []error
		done := make(chan error, 3)
		for i := range 3 {
			place, err := room.Enter(t.Context(), admission.Caller{Organization: 1}, 1)
			require.NoError(t, err)
			src := &slow{left: 100, step: 50, wait: 10 * time.Second, changed: make(chan struct{}, 1)}
			if i == 0 {
				src.wait = 0
			}
			b := newBody(src, src.setDeadline, DefaultGrace, time.Now().Add(time.Hour))
			go func() {
				b.Hold(place)
				_, err := readAll(b)
				if i == 0 {
					time.Sleep(time.Minute) // it stores what came
				}
				b.Free(place)
				place.Leave()
				done <- err
			}()
		}
		time.Sleep(5 * time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		place, err := room.Enter(ctx, admission.Caller{Organization: 2}, 1)
		require.NoError(t, err)
		for range 3 {
			errs = append(errs, <-done)
		}
		var late *SlowError
		require.ErrorAs(t, errs[0], &late)
		require.True(t, late.Evicted)
		require.ErrorContains(t, late, "while others waited")
		require.NoError(t, errs[1])
		require.NoError(t, errs[2])
		place.Leave()
	})
}

// What little is left of a refused body is read, so that the connection stays; more, or
// what does not come, ends the connection with the answer.
func TestSettle(t *testing.T) {
	t.Parallel()
	gin.SetMode(gin.ReleaseMode)
	engine := gin.New()
	engine.POST("/", func(c *gin.Context) {
		Start(c, DefaultGrace, time.Now().Add(time.Hour))
		Settle(c)
		c.String(http.StatusUnauthorized, "no")
	})
	engine.POST("/none", func(c *gin.Context) {
		Settle(c)
		c.String(http.StatusUnauthorized, "no")
	})
	server := httptest.NewServer(engine)
	defer server.Close()
	stalled, feed := io.Pipe()
	defer feed.Close()
	for name, tt := range map[string]struct {
		path   string
		body   io.Reader
		expect string
		close  bool
	}{
		"small":   {"/", strings.NewReader("abc"), "", false},
		"chunked": {"/", io.MultiReader(strings.NewReader("abc")), "", false},
		"none":    {"/none", nil, "", false},
		"large":   {"/", bytes.NewReader(make([]byte, settleBytes+1)), "", true},
		"stalled": {"/", stalled, "", true},
		"waiting": {"/", strings.NewReader("abc"), "100-continue", true},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+tt.path, tt.body)
		require.NoError(t, err)
		if tt.expect != "" {
			r.Header.Set("Expect", tt.expect)
		}
		client := &http.Client{Transport: &http.Transport{ExpectContinueTimeout: time.Minute}}
		res, err := client.Do(r)
		// A client that still writes when the connection ends may see that before the answer.
		for tries := 0; tries < 20 && (errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)); tries++ {
			if r.Body, err = r.GetBody(); err != nil {
				break
			}
			res, err = client.Do(r)
		}
		require.NoError(t, err, name)
		require.Equal(t, 401, res.StatusCode)
		require.Equal(t, tt.close, res.Close, name)
		require.NoError(t, res.Body.Close())
	}
}
