package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/slipway-qa/slipway/storage"
)

const (
	// linger is how long the first request of a commit waits for company, unless
	// lingerMost are there: short beside the commit itself, which takes some milliseconds.
	linger     = 2 * time.Millisecond
	lingerMost = 24
	// commitMost requests share a commit.
	commitMost = 64
	// commitLanes commits run at once: while one waits for the disk, the next fill.
	commitLanes = 4
	// commitWait is how long a request may wait for its commit before its client is
	// told to come again; the database may restart in this time.
	commitWait = 10 * time.Second
)

// errBusy says that a request could not be committed in time.
var errBusy = errors.New("not committed in time")

// committer lets requests in flight share commits: a request is answered when the
// transaction that holds what it brought is durable. Organizations take turns, so
// that one with thousands of requests does not stand in front of one with a single one.
//
// store must find what it stored before: after a lost connection it is called again.
// When the database refuses the data of a commit, it is halved until the bad
// request stands alone.
type committer[In, Out any] struct {
	store func(ctx context.Context, in []In) ([]Out, error)
	log   *slog.Logger

	mu      sync.Mutex
	queues  map[int64][]*waiting[In, Out] // by organization; none is empty
	turn    []int64                       // the organizations that wait, next one first
	waiting int
	closed  bool

	wake  chan struct{} // one place
	lanes chan struct{}
	done  sync.WaitGroup
}

// waiting is a request that waits for its commit.
type waiting[In, Out any] struct {
	in       In
	deadline time.Time
	answer   chan outcome[Out] // one place: the committer never blocks on it
}

type outcome[Out any] struct {
	out Out
	err error
}

// newCommitter returns a committer and starts it; close ends it.
func newCommitter[In, Out any](store func(context.Context, []In) ([]Out, error), log *slog.Logger) *committer[In, Out] {
	c := &committer[In, Out]{store: store, log: log, queues: map[int64][]*waiting[In, Out]{}, wake: make(chan struct{}, 1),
		lanes: make(chan struct{}, commitLanes)}
	c.done.Go(c.collect)
	return c
}

// submit stores what a request brought, and returns once it is durable. With errBusy
// it may be stored: the client sends it again.
func (c *committer[In, Out]) submit(ctx context.Context, organization int64, in In) (Out, error) {
	var none Out
	w := &waiting[In, Out]{in: in, deadline: time.Now().Add(commitWait), answer: make(chan outcome[Out], 1)}
	if !c.add(organization, w) {
		return none, errBusy
	}
	timer := time.NewTimer(commitWait + time.Second)
	defer timer.Stop()
	select {
	case a := <-w.answer:
		return a.out, a.err
	case <-ctx.Done():
		return none, ctx.Err()
	case <-timer.C:
		return none, errBusy
	}
}

func (c *committer[In, Out]) add(organization int64, w *waiting[In, Out]) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	if len(c.queues[organization]) == 0 {
		c.turn = append(c.turn, organization)
	}
	c.queues[organization] = append(c.queues[organization], w)
	c.waiting++
	c.signal()
	return true
}

func (c *committer[In, Out]) signal() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// close commits what waits and ends the committer.
func (c *committer[In, Out]) close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.signal()
	c.done.Wait()
}

// collect gathers requests into commits.
func (c *committer[In, Out]) collect() {
	for range c.wake {
		for {
			n, closed := c.state()
			if n == 0 {
				if closed {
					return
				}
				break
			}
			if n < lingerMost && !closed {
				time.Sleep(linger)
			}
			c.lanes <- struct{}{} // waits while all lanes are busy, and more come meanwhile
			members := c.take()
			c.done.Go(func() {
				defer func() { <-c.lanes }()
				c.commit(members)
			})
		}
	}
}

func (c *committer[In, Out]) state() (n int, closed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.waiting, c.closed
}

// take takes the requests of one commit, one of each organization in turn.
func (c *committer[In, Out]) take() []*waiting[In, Out] {
	c.mu.Lock()
	defer c.mu.Unlock()
	members := make([]*waiting[In, Out], 0, min(c.waiting, commitMost))
	for len(members) < commitMost && len(c.turn) > 0 {
		organization := c.turn[0]
		queue := c.queues[organization]
		members = append(members, queue[0])
		c.turn = c.turn[1:]
		if len(queue) == 1 {
			delete(c.queues, organization)
		} else {
			queue[0] = nil
			c.queues[organization] = queue[1:]
			c.turn = append(c.turn, organization)
		}
	}
	c.waiting -= len(members)
	return members
}

// commit stores what requests brought, and answers them.
func (c *committer[In, Out]) commit(members []*waiting[In, Out]) {
	in := make([]In, len(members))
	deadline := members[0].deadline
	for i, w := range members {
		in[i] = w.in
		if w.deadline.Before(deadline) {
			deadline = w.deadline
		}
	}
	ctx, cancel := context.WithDeadline(context.Background(), deadline)
	defer cancel()
	out, err := c.persist(ctx, in)
	if storage.IsData(err) && len(members) > 1 {
		half := len(members) / 2
		c.commit(members[:half])
		c.commit(members[half:])
		return
	}
	for i, w := range members {
		if err != nil {
			w.answer <- outcome[Out]{err: err}
		} else {
			w.answer <- outcome[Out]{out: out[i]}
		}
	}
}

// persist tries until the deadline while the database is away.
func (c *committer[In, Out]) persist(ctx context.Context, in []In) ([]Out, error) {
	for wait := 20 * time.Millisecond; ; wait = min(2*wait, 500*time.Millisecond) {
		out, err := c.storeSafely(ctx, in)
		if err == nil {
			return out, nil
		}
		if ctx.Err() != nil {
			return nil, errors.Join(errBusy, err)
		}
		if !errors.Is(err, storage.ErrUnavailable) {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(errBusy, err)
		case <-time.After(wait):
		}
	}
}

// storeSafely keeps a panic from ending the process and other requests with it.
func (c *committer[In, Out]) storeSafely(ctx context.Context, in []In) (out []Out, err error) {
	defer func() {
		if v := recover(); v != nil {
			c.log.Error("commit of sessions panicked", "panic", v, "stack", string(debug.Stack()))
			err = fmt.Errorf("commit: panic: %v", v)
		}
	}()
	return c.store(ctx, in)
}
