package build

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

// Rate is the least that a storage of others must take: Bytes in each Window. One that
// takes a byte now and then would keep its slot for the whole time of a task.
type Rate struct {
	Bytes  int64
	Window time.Duration
}

// defaultRate is 17 KiB a second, at which a copy of 64 MiB takes the hour that it may.
// The window leaves a service time to respond to the last byte.
var defaultRate = Rate{Bytes: 2 << 20, Window: 2 * time.Minute}

// slowError is the end of a copy that was too slow.
type slowError struct{ least Rate }

func (e *slowError) Error() string {
	return fmt.Sprintf("the app storage took less than %d KiB in %s", e.least.Bytes>>10, e.least.Window)
}

// rateMeter counts the bytes of requests on their way, and of responses.
type rateMeter struct {
	next  http.RoundTripper
	least Rate
	moved atomic.Int64
	slow  atomic.Bool
}

// watch returns a transport whose requests must move at the rate: stop is called when
// they do not. It ends with the context.
func (r Rate) watch(ctx context.Context, next http.RoundTripper, stop func()) *rateMeter {
	if r == (Rate{}) {
		r = defaultRate
	}
	m := &rateMeter{next: next, least: r}
	go func() {
		ticker := time.NewTicker(r.Window)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			if m.moved.Swap(0) < r.Bytes {
				m.slow.Store(true)
				stop()
				return
			}
		}
	}()
	return m
}

// RoundTrip implements http.RoundTripper.
func (m *rateMeter) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Body != nil && request.Body != http.NoBody {
		request = request.Clone(request.Context())
		request.Body = &meteredBody{request.Body, m}
	}
	response, err := m.next.RoundTrip(request)
	if err == nil {
		response.Body = &meteredBody{response.Body, m}
	}
	return response, err
}

// classify returns the error of a copy that was too slow in the place of what its end
// looked like.
func (m *rateMeter) classify(err error) error {
	if m.slow.Load() {
		return &slowError{m.least}
	}
	return err
}

type meteredBody struct {
	io.ReadCloser
	meter *rateMeter
}

func (b *meteredBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.meter.moved.Add(int64(n))
	return n, err
}
