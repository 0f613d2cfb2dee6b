// Package admission shares the places of a process out among organizations: slots of
// uploads, bytes of memory, connections to the database.
//
// A Room has a capacity. Who enters takes a weight of it, and returns it by leaving.
// Who finds none free waits; who waits in vain gets a FullError. The rules:
//
//   - Alone, an organization may hold all of the room.
//   - While others are there, or were until some seconds ago, it may hold a third. More
//     only as long as a third of the room stays free, so that a newcomer need not wait.
//   - Free room goes to the waiting organization that holds least, within it to the key
//     that holds least.
//   - Callers who have not shown a key yet have the organization 0, with their address as
//     the key. Together they have what one organization has. Pass moves a place to the
//     organization, once the key is known.
//   - The headroom, beyond the capacity, is for organizations that hold next to nothing
//     while others have filled the room.
//
// Places that wait for a sender can be evicted (Place.OnEvict). While an organization below
// its share waits, one above its own loses places: those at once whose sender is slow, the
// slowest others after a second. So a room that slow senders fill is free for others
// within a second or two, however little they send. A key counts in its organization as
// an organization does in the room, save that only slow senders lose their places to
// another key; among addresses without a key all do. Where there are so many that none is
// above its share, very slow senders lose their places to those who have none.
//
// All is in the memory of one process, and every operation takes a time that grows with
// the logarithm of the number of those who wait. A room has no goroutine of its own; a
// timer runs while somebody waits.
package admission

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// shareOf is the part of a room that an organization may hold while others are there.
const shareOf = 3

const (
	defaultWait       = 10 * time.Second
	defaultRetryAfter = 5 * time.Second
	defaultLinger     = 10 * time.Second
	defaultMinRate    = 128 << 10
	// defaultWaiting bounds those who wait. Each is a connection with its goroutine,
	// some 10 KiB.
	defaultWaiting = 2000
)

// Config describes a room. Name and Capacity are required.
type Config struct {
	// Name is that of the room in metrics and errors, such as "uploads".
	Name string
	// Capacity is the weight of all places together, in the unit of the room.
	Capacity int64
	// Headroom is what organizations that hold next to nothing may take beyond the
	// capacity while the room is full.
	Headroom int64
	// Wait is how long a caller waits for its place; default 10 s.
	Wait time.Duration
	// RetryAfter is when one that got none should come again; default 5 s.
	RetryAfter time.Duration
	// MaxWaiting bounds the callers that wait, of whom one organization may be half
	// while others are there; default 2,000.
	MaxWaiting int
	// Linger is how long an organization counts as being there after it left; default
	// 10 s.
	Linger time.Duration
	// MinRate is the rate, in bytes a second, below which a sender that holds a place
	// above its organization's share loses it at once when others wait; default 128 KiB.
	MinRate int64
}

// Caller is who wants a place.
type Caller struct {
	// Organization is 0 for callers who have not shown a key.
	Organization int64
	// Key is the token, key or address of the caller.
	Key string
}

// FullError says that no place came free in time.
type FullError struct {
	Room       string
	RetryAfter time.Duration
}

func (e *FullError) Error() string {
	return "no place in " + e.Room + " came free in time; retry after " + strconv.Itoa(int(e.RetryAfter/time.Second)) + " s"
}

// Room is a number of places. It is safe for concurrent use.
type Room struct {
	cfg   Config
	share int64

	admitted, refused, evicted atomic.Int64

	mu            sync.Mutex
	held          int64
	waiting       int // callers
	sequence      uint64
	organizations map[int64]*organization // that hold or wait
	queue         organizationHeap        // that wait
	left          departures
	timer         *time.Timer // runs while somebody waits
}

// New returns a room; a capacity below 1 is 1.
func New(cfg Config) *Room {
	cfg.Capacity = max(cfg.Capacity, 1)
	cfg.Wait = positive(cfg.Wait, defaultWait)
	cfg.RetryAfter = positive(cfg.RetryAfter, defaultRetryAfter)
	cfg.Linger = positive(cfg.Linger, defaultLinger)
	cfg.MaxWaiting = positive(cfg.MaxWaiting, defaultWaiting)
	cfg.MinRate = positive(cfg.MinRate, defaultMinRate)
	return &Room{cfg: cfg, share: max(1, cfg.Capacity/shareOf), organizations: map[int64]*organization{}}
}

func positive[N int | int64 | time.Duration](value, otherwise N) N {
	if value > 0 {
		return value
	}
	return otherwise
}

// Enter waits for a place of the weight, at most the capacity; Place.Leave must follow.
// The error is that of the context, or a *FullError.
func (r *Room) Enter(ctx context.Context, c Caller, weight int64) (*Place, error) {
	weight = min(max(weight, 1), r.cfg.Capacity)
	r.mu.Lock()
	k := r.find(c)
	if r.waiting == 0 && r.fits(k.organization, weight) {
		p := r.place(k, weight)
		r.mu.Unlock()
		return p, nil
	}
	if !r.mayWait(k.organization) {
		r.forget(k)
		r.mu.Unlock()
		r.refused.Add(1)
		return nil, r.full()
	}
	w := r.enqueue(k, weight, nil)
	r.serve()
	r.mu.Unlock()
	if err := r.await(ctx, w); err != nil {
		return nil, err
	}
	return w.place, nil
}

// Try takes a place if there is room for it and nobody waits.
func (r *Room) Try(c Caller, weight int64) (*Place, bool) {
	weight = min(max(weight, 1), r.cfg.Capacity)
	r.mu.Lock()
	defer r.mu.Unlock()
	k := r.find(c)
	if r.waiting > 0 || !r.fits(k.organization, weight) {
		r.forget(k)
		return nil, false
	}
	return r.place(k, weight), true
}

// Contended reports whether somebody waits.
func (r *Room) Contended() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.waiting > 0
}

// Share is the weight that one organization may hold while others are there.
func (r *Room) Share() int64 { return r.share }

func (r *Room) full() *FullError {
	return &FullError{Room: r.cfg.Name, RetryAfter: r.cfg.RetryAfter}
}

// mayWait reports whether one more caller of the organization may wait.
func (r *Room) mayWait(o *organization) bool {
	return r.waiting < r.cfg.MaxWaiting && (o.callers < (r.cfg.MaxWaiting+1)/2 || !r.others(o))
}

// await waits until the waiter has its place, or removes it.
func (r *Room) await(ctx context.Context, w *waiter) error {
	select {
	case <-w.done:
		return w.err
	default:
	}
	timer := time.NewTimer(r.cfg.Wait)
	defer timer.Stop()
	var err error
	select {
	case <-w.done:
		return w.err
	case <-ctx.Done():
		err = ctx.Err()
	case <-timer.C:
		err = r.full()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case <-w.done: // at the last moment
		return w.err
	default:
	}
	r.remove(w)
	r.serve() // it may have stood in front of others
	if ctx.Err() == nil {
		r.refused.Add(1)
	}
	return err
}
