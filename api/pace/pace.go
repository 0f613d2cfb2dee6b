// Package pace bounds the time that the body of a request takes to arrive.
//
// The router puts a Body around each one. Its sender has a grace period, then what has
// arrived buys time for the rest: 8 KiB a second are enough for a quarter of an hour,
// after that it is 128 KiB a second for what came since, so that nobody holds a
// connection for hours with a trickle. Only the time counts in which bytes were waited
// for, not what a store took meanwhile. A handler may ask for more of a sender who has
// shown no key (Require).
//
// A handler whose request holds a place of a room (tasks/admission) lends it to the body
// (Hold): the room then knows how fast the bytes come, and may evict a slow sender for
// others who wait. Hold is for after First, which waits for the first KiB: a connection
// on which nothing comes takes no place.
//
// A body that was too slow fails with a *SlowError. Its connection cannot be used again,
// but the answer still reaches the sender: Settle has net/http write it at once, and the
// listener (api/connection) keeps the connection open until it was read.
package pace

import (
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/connection"
	"github.com/slipway-qa/slipway/tasks/admission"
)

const (
	// DefaultGrace is what a body has to arrive before its rate counts: a phone may
	// change its network in the middle of it.
	DefaultGrace = 30 * time.Second
	// least is the slowest transfer in bytes a second that is waited for.
	least = 8 << 10
	// patientFor is how long that is enough; lasting is the rate for what comes later.
	patientFor = 15 * time.Minute
	lasting    = 128 << 10
	// step is how many bytes arrive, and stepTime how much time passes at most, between
	// two settings of the deadline.
	step     = 256 << 10
	stepTime = time.Second
	// firstBytes of a body have to come before a place is taken for it.
	firstBytes = 1 << 10
)

// SlowError ends a body whose sender was too slow. It is an os.ErrDeadlineExceeded.
type SlowError struct {
	// Rate, in bytes a second, is what would have been enough on average.
	Rate int64
	// Evicted: others waited for the place of the sender, who held more than a share.
	Evicted bool
	// Hint is what the sender may do instead; may be empty.
	Hint string
}

func (e *SlowError) Error() string {
	if e.Evicted {
		return "the body arrived too slowly while others waited for its place: send fewer at a time, or faster, and send this one again"
	}
	text := "the body arrived too slowly: at least " + strconv.FormatInt(e.Rate, 10) + " bytes a second are wanted"
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return text
}

// Is makes the error one of time.
func (e *SlowError) Is(target error) bool { return target == os.ErrDeadlineExceeded }

// rule is a rate that what arrives from a point on must keep.
type rule struct {
	rate  int64
	grace time.Duration
	bytes int64         // that had arrived at that point
	used  time.Duration // that had been waited by then
	hint  string
}

// left is how long the next byte may take.
func (r *rule) left(n int64, used time.Duration) time.Duration {
	return r.grace + time.Duration(float64(n-r.bytes)/float64(r.rate)*float64(time.Second)) - (used - r.used)
}

// Body is the body of a request. It is for one goroutine, as bodies are.
type Body struct {
	ctx    context.Context // the request's, for its connection
	src    io.ReadCloser
	rules  []rule
	end    time.Time // the last of all deadlines: the request's
	n      int64
	used   time.Duration
	next   int64     // bytes at which the deadline is set again
	armed  time.Time // when it was set
	head   []byte    // read by First, not handed out
	err    error     // of the source, kept
	places []*admission.Place

	mu          sync.Mutex // eviction comes from outside
	setDeadline func(time.Time) error
	evicted     bool
	over        bool // the source ended: the connection is net/http's again
}

const contextKey = "slipway.pace"

// Start makes the body of a request one that must keep to its pace, and to the end of the
// request's time.
func Start(c *gin.Context, grace time.Duration, end time.Time) *Body {
	b := newBody(c.Request.Body, http.NewResponseController(c.Writer).SetReadDeadline, grace, end)
	b.ctx = c.Request.Context()
	c.Request.Body = b
	c.Set(contextKey, b)
	return b
}

// Of returns the body of a request as Start made it. Where there is none, as in tests of a
// room without the router, it is made now.
func Of(c *gin.Context) *Body {
	if b, ok := c.Value(contextKey).(*Body); ok {
		return b
	}
	end, ok := c.Request.Context().Deadline()
	if !ok {
		end = time.Now().Add(math.MaxInt64 / 2)
	}
	if c.Request.Body == nil {
		c.Request.Body = http.NoBody
	}
	return Start(c, DefaultGrace, end)
}

func newBody(src io.ReadCloser, setDeadline func(time.Time) error, grace time.Duration, end time.Time) *Body {
	b := &Body{src: src, setDeadline: setDeadline, end: end,
		ctx:   context.Background(),
		rules: []rule{{rate: least, grace: grace}, {rate: lasting, grace: patientFor}}}
	b.arm(time.Now())
	return b
}

// arm sets the deadline of the connection. Writers without one, such as those of tests,
// refuse.
func (b *Body) arm(now time.Time) {
	b.next, b.armed = b.n+step, now
	at := now.Add(b.left())
	if at.After(b.end) {
		at = b.end // a read does not look at the request's context
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.evicted && !b.over {
		_ = b.setDeadline(at)
	}
}

func (b *Body) left() time.Duration {
	left := time.Duration(math.MaxInt64)
	for i := range b.rules {
		left = min(left, b.rules[i].left(b.n, b.used))
	}
	return left
}

// Read reads on. A sender that is too slow, or was evicted, is a *SlowError.
func (b *Body) Read(p []byte) (int, error) {
	if len(b.head) > 0 {
		n := copy(p, b.head)
		b.head = b.head[n:]
		return n, nil
	}
	return b.read(p)
}

func (b *Body) read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	start := time.Now()
	if b.n >= b.next || start.Sub(b.armed) >= stepTime {
		b.arm(start)
	}
	n, err := b.src.Read(p)
	b.n += int64(n)
	b.used += time.Since(start)
	for _, p := range b.places {
		p.Arrived(n)
	}
	switch {
	case err == io.EOF:
		b.finish()
	case b.wasEvicted():
		err = &SlowError{Rate: lasting, Evicted: true}
	case errors.Is(err, os.ErrDeadlineExceeded), err == nil && b.left() <= 0:
		err = b.tooSlow()
	}
	b.err = err
	return n, err
}

// tooSlow names the rate that the body did not keep.
func (b *Body) tooSlow() error {
	broken, left := &b.rules[0], time.Duration(math.MaxInt64)
	for i := range b.rules {
		if own := b.rules[i].left(b.n, b.used); own < left {
			broken, left = &b.rules[i], own
		}
	}
	return &SlowError{Rate: broken.rate, Hint: broken.hint}
}

// finish lifts the deadline: net/http reads on to learn that the client went away, and
// would take the deadline for that.
func (b *Body) finish() {
	b.FreeAll()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.over = true
	_ = b.setDeadline(time.Time{})
}

func (b *Body) wasEvicted() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.evicted
}

// evict ends the read under way, and later ones.
func (b *Body) evict() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.evicted = true
	if !b.over {
		_ = b.setDeadline(time.Unix(1, 0))
	}
}

// Close satisfies io.Closer.
func (b *Body) Close() error { return b.src.Close() }

// First waits for the first KiB of the body, or its end: before that a request is to hold
// nothing that others wait for.
func (b *Body) First() error {
	if b.n >= firstBytes || b.err == io.EOF {
		return nil
	}
	head := make([]byte, firstBytes)
	have := copy(head, b.head)
	connection.Starving(b.ctx, true)
	defer connection.Starving(b.ctx, false)
	for b.n < firstBytes {
		n, err := b.read(head[have:])
		have += n
		if err != nil {
			if err == io.EOF {
				break
			}
			return err
		}
	}
	b.head = head[:have]
	return nil
}

// Hold lends the body a place of its request: while bytes are waited for, the room may
// evict the sender. Free must come before the place is left.
func (b *Body) Hold(place *admission.Place) {
	if b.err == nil {
		b.places = append(b.places, place)
		place.OnEvict(b.evict)
	}
}

// Free takes a place back; nil, and one that is not held, are none.
func (b *Body) Free(place *admission.Place) {
	if i := slices.Index(b.places, place); i >= 0 {
		place.OnEvict(nil)
		b.places = slices.Delete(b.places, i, i+1)
	}
}

// FreeAll takes all places back: the sender is not waited for any more.
func (b *Body) FreeAll() {
	for _, p := range b.places {
		p.OnEvict(nil)
	}
	b.places = nil
}

// Require has the body keep to a rate in bytes a second from here on, after a grace period.
// The hint is for the error.
func (b *Body) Require(rate int64, grace time.Duration, hint string) {
	b.Lift()
	b.rules = append(b.rules, rule{rate, grace, b.n, b.used, hint})
	b.arm(time.Now())
}

// Lift ends what Require began.
func (b *Body) Lift() {
	if len(b.rules) > 2 {
		b.rules = b.rules[:2]
		b.arm(time.Now())
	}
}
