// Package groupcommit lets requests in flight share commits: a request is answered when
// the transaction that holds what it brought is durable.
//
// The first request of a commit waits a moment for company. Commits take the requests of
// the organizations in turn, so that one with thousands of requests does not stand in
// front of one with a single one. Several commits run at once: while one waits for the
// disk, the next ones fill.
//
// When the database is away, the store is called again until the oldest request of the
// commit has waited as long as it may; the others, for whom there is time left, are then
// committed without it. So the store must find what it stored before. When
// the database refuses the data of a commit, it is halved until the bad request stands
// alone. A panic fails the requests of its commit and nothing else.
package groupcommit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/slipway-qa/slipway/storage"
)

// ErrBusy says that a request could not be committed in time. It may be stored: the client
// sends it again.
var ErrBusy = errors.New("not committed in time")

// Config is what a Committer works with. Name and Store are required.
type Config[In, Out any] struct {
	// Name is what is committed, for the log.
	Name string
	// Store stores what requests brought, in one transaction, and returns a result for
	// each. It is called again after storage.ErrUnavailable.
	Store func(ctx context.Context, in []In) ([]Out, error)
	// Size is the weight of a request in bytes; nil: commits are not bounded by bytes.
	Size func(In) int
	Log  *slog.Logger

	// Linger is how long the first request of a commit waits for company, unless
	// LingerMost are there.
	Linger     time.Duration
	LingerMost int
	// Most requests, of Bytes together, share a commit; a larger single one stands alone.
	Most  int
	Bytes int
	// Lanes commits run at once; default 4.
	Lanes int
	// Wait is how long a request may wait for its commit; default 10 s: the database may
	// restart in this time.
	Wait time.Duration
}

const (
	defaultLanes = 4
	defaultWait  = 10 * time.Second
	// firstRetry and lastRetry bound the time between two attempts while the database is
	// away.
	firstRetry = 20 * time.Millisecond
	lastRetry  = 500 * time.Millisecond
)

// Committer gathers requests into commits.
type Committer[In, Out any] struct {
	cfg    Config[In, Out]
	inside atomic.Int64 // requests in Submit
	crowd  atomic.Int64 // their smoothed number; only collect writes it

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

// New returns a committer and starts it; Close ends it.
func New[In, Out any](cfg Config[In, Out]) *Committer[In, Out] {
	if cfg.Lanes <= 0 {
		cfg.Lanes = defaultLanes
	}
	if cfg.Wait <= 0 {
		cfg.Wait = defaultWait
	}
	c := &Committer[In, Out]{cfg: cfg, queues: map[int64][]*waiting[In, Out]{}, wake: make(chan struct{}, 1),
		lanes: make(chan struct{}, cfg.Lanes)}
	c.done.Go(c.collect)
	return c
}

// Submit stores what a request of an organization brought, and returns once it is durable.
// It may be stored whatever the client does meanwhile, so the end of its context is not
// waited for. After ErrBusy, or the database's error, it is not known to be stored.
func (c *Committer[In, Out]) Submit(ctx context.Context, organization int64, in In) (Out, error) {
	c.inside.Add(1)
	defer c.inside.Add(-1)
	w := &waiting[In, Out]{in: in, deadline: time.Now().Add(c.cfg.Wait), answer: make(chan outcome[Out], 1)}
	if err := ctx.Err(); err != nil {
		return outcome[Out]{}.out, err
	}
	if !c.add(organization, w) {
		return outcome[Out]{}.out, ErrBusy
	}
	a := <-w.answer
	return a.out, a.err
}

func (c *Committer[In, Out]) add(organization int64, w *waiting[In, Out]) bool {
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

func (c *Committer[In, Out]) signal() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// Close commits what waits and ends the committer. Requests that come from now on are
// refused with ErrBusy.
func (c *Committer[In, Out]) Close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.signal()
	c.done.Wait()
}

// crowdUnit is one request in crowd, which is a fixed-point number.
const crowdUnit = 1 << 10

// Crowd returns how many requests wait for their commit, smoothed over the last ten
// commits, and 0 when none waits now: the measure of a storm.
func (c *Committer[In, Out]) Crowd() int {
	if c.inside.Load() == 0 {
		return 0
	}
	return int(c.crowd.Load() / crowdUnit)
}

// collect gathers requests into commits.
func (c *Committer[In, Out]) collect() {
	for range c.wake {
		for {
			n, closed := c.state()
			if n == 0 && closed {
				return
			}
			if n == 0 {
				break
			}
			if n < c.cfg.LingerMost && !closed {
				c.linger()
			}
			c.crowd.Store((9*c.crowd.Load() + c.inside.Load()*crowdUnit) / 10)
			c.lanes <- struct{}{} // waits while all lanes are busy, and more come meanwhile
			members := c.take()
			c.done.Go(func() {
				defer func() { <-c.lanes }()
				c.commit(members)
			})
		}
	}
}

// linger waits for company.
func (c *Committer[In, Out]) linger() {
	timer := time.NewTimer(c.cfg.Linger)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
			return
		case <-c.wake:
		}
		if n, closed := c.state(); n >= c.cfg.LingerMost || closed {
			return
		}
	}
}

func (c *Committer[In, Out]) state() (n int, closed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.waiting, c.closed
}

// take takes the requests of one commit, one of each organization in turn.
func (c *Committer[In, Out]) take() []*waiting[In, Out] {
	c.mu.Lock()
	defer c.mu.Unlock()
	members := make([]*waiting[In, Out], 0, min(c.waiting, c.cfg.Most))
	for bytes := 0; len(members) < c.cfg.Most && len(c.turn) > 0; {
		organization := c.turn[0]
		queue := c.queues[organization]
		if c.cfg.Size != nil {
			if bytes += c.cfg.Size(queue[0].in); bytes > c.cfg.Bytes && len(members) > 0 {
				break
			}
		}
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
func (c *Committer[In, Out]) commit(members []*waiting[In, Out]) {
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
	if younger := c.expire(members, deadline, err); len(younger) > 0 {
		c.commit(younger)
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

// youngerBy is how much more time a request must have than the oldest of its commit to be
// committed again without it.
const youngerBy = 100 * time.Millisecond

// expire answers the oldest requests of a commit whose time was over, and returns the
// others. There are none when all are to be answered alike.
func (c *Committer[In, Out]) expire(members []*waiting[In, Out], deadline time.Time, err error) (younger []*waiting[In, Out]) {
	if !errors.Is(err, ErrBusy) {
		return nil
	}
	for _, w := range members {
		if w.deadline.Sub(deadline) > youngerBy {
			younger = append(younger, w)
		}
	}
	if len(younger) == 0 {
		return nil
	}
	for _, w := range members {
		if w.deadline.Sub(deadline) <= youngerBy {
			w.answer <- outcome[Out]{err: err}
		}
	}
	return younger
}

// persist tries until the deadline while the database is away.
func (c *Committer[In, Out]) persist(ctx context.Context, in []In) ([]Out, error) {
	for wait := firstRetry; ; wait = min(2*wait, lastRetry) {
		out, err := c.storeSafely(ctx, in)
		if err == nil {
			return out, nil
		}
		if ctx.Err() != nil {
			return nil, errors.Join(ErrBusy, err)
		}
		if !errors.Is(err, storage.ErrUnavailable) {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(ErrBusy, err)
		case <-time.After(wait):
		}
	}
}

// storeSafely keeps a panic from ending the process and other requests with it.
func (c *Committer[In, Out]) storeSafely(ctx context.Context, in []In) (out []Out, err error) {
	defer func() {
		if v := recover(); v != nil {
			c.cfg.Log.Error("commit panicked", "of", c.cfg.Name, "panic", v, "stack", string(debug.Stack()))
			err = fmt.Errorf("commit: panic: %v", v)
		}
	}()
	return c.cfg.Store(ctx, in)
}
