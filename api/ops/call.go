package ops

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// callLimit ends a call to a dependency: one that needs more than two
	// seconds does not serve anybody.
	callLimit = 2 * time.Second
	// besideLimit is the limit of checks that only degrade. Kubernetes gives a
	// probe one second by default, and the driver dials a Redis that is down
	// for 1.7 s: waiting for it would take an api out that is to stay in.
	besideLimit = 750 * time.Millisecond
	// fresh is how long an answer is given again.
	fresh = time.Second
)

// errHangs says that an earlier call has not returned yet.
var errHangs = fmt.Errorf("an earlier call has not returned: %w", context.DeadlineExceeded)

// call is a call to a dependency that returns in time, whatever the dependency
// does: drivers do not all heed the context while they read from a connection.
type call struct {
	limit time.Duration
	busy  atomic.Bool
}

// do runs fn and gives its result, context.DeadlineExceeded at the limit, or
// errHangs; a panic is an error. A result that comes after the limit is dropped.
func do[T any](c *call, fn func(context.Context) (T, error)) (T, error) {
	var zero T
	if !c.busy.CompareAndSwap(false, true) {
		return zero, errHangs
	}
	type result struct {
		value T
		err   error
	}
	ctx, cancel := context.WithTimeout(context.Background(), c.limit)
	defer cancel()
	done := make(chan result, 1)
	go func() {
		var r result
		defer func() {
			if v := recover(); v != nil {
				r = result{err: fmt.Errorf("panic: %v", v)}
			}
			c.busy.Store(false)
			done <- r
		}()
		r.value, r.err = fn(ctx)
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		return zero, ctx.Err()
	}
}

// cached keeps the value of load for a while. Callers that come while it is
// being loaded wait for that load.
type cached[T any] struct {
	load func() T
	now  func() time.Time

	mu     sync.Mutex
	value  T
	until  time.Time
	flight chan struct{} // nil while nobody loads
}

var errGone = errors.New("the caller is gone")

// get returns the value; the load goes on when the caller's context ends.
func (c *cached[T]) get(ctx context.Context) (T, error) {
	c.mu.Lock()
	if c.flight == nil && c.now().Before(c.until) {
		defer c.mu.Unlock()
		return c.value, nil
	}
	if c.flight == nil {
		c.flight = make(chan struct{})
		go c.fill()
	}
	flight := c.flight
	c.mu.Unlock()
	select {
	case <-flight:
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.value, nil
	case <-ctx.Done():
		var zero T
		return zero, errGone
	}
}

func (c *cached[T]) fill() {
	value := c.load()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.value, c.until = value, c.now().Add(fresh)
	close(c.flight)
	c.flight = nil
}
