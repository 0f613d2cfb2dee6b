package admission

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// ErrEvicted says that a place was evicted while it waited to be passed on.
var ErrEvicted = errors.New("the place was evicted for others who wait")

// Place is what a caller holds of a room. Its methods but Leave, Arrived and Evicted are
// for one goroutine at a time.
type Place struct {
	room    *Room
	arrived atomic.Int64 // bytes
	taken   atomic.Bool  // it was evicted

	// Of the room's mutex.
	key     *key
	before  *Place // in the list of its key
	after   *Place
	weight  int64 // 0: it has left
	since   time.Time
	onEvict func()
	sample  sample
	ended   time.Time // when it was evicted
	passing *waiter
}

// place makes a place. r.mu is held.
func (r *Room) place(k *key, weight int64) *Place {
	p := &Place{room: r, weight: weight, since: time.Now()}
	r.hold(p, k)
	r.admitted.Add(1)
	return p
}

// hold adds a place to what a key holds. r.mu is held.
func (r *Room) hold(p *Place, k *key) {
	p.key, p.before, p.after = k, nil, k.places
	if p.after != nil {
		p.after.before = p
	}
	k.places = p
	r.held += p.weight
	r.change(k, p.weight)
}

// drop ends what a place holds of its key. r.mu is held.
func (r *Room) drop(p *Place) {
	k := p.key
	if p.after != nil {
		p.after.before = p.before
	}
	if p.before != nil {
		p.before.after = p.after
	} else {
		k.places = p.after
	}
	r.held -= p.weight
	r.change(k, -p.weight)
	r.forget(k)
}

// Leave returns the place. Further calls, and those on nil, do nothing.
func (p *Place) Leave() {
	if p == nil {
		return
	}
	r := p.room
	r.mu.Lock()
	defer r.mu.Unlock()
	if p.weight == 0 {
		return
	}
	r.drop(p)
	p.weight = 0
	r.serve()
}

// Weight returns what the place takes of the room.
func (p *Place) Weight() int64 {
	p.room.mu.Lock()
	defer p.room.mu.Unlock()
	return p.weight
}

// Shrink returns what of the place is above the weight.
func (p *Place) Shrink(weight int64) {
	r := p.room
	r.mu.Lock()
	defer r.mu.Unlock()
	if weight = max(weight, 1); weight >= p.weight {
		return
	}
	less := p.weight - weight
	p.weight = weight
	r.held -= less
	r.change(p.key, -less)
	r.serve()
}

// Pass moves the place to another caller, when that one may have a place of the weight:
// until then it stays where it is. The error is that of the context, a *FullError, or
// ErrEvicted; the place is still held.
func (p *Place) Pass(ctx context.Context, c Caller) error {
	r := p.room
	r.mu.Lock()
	k := r.find(c)
	switch {
	case p.weight == 0:
		r.forget(k)
		r.mu.Unlock()
		return ErrEvicted
	case k == p.key:
		r.mu.Unlock()
		return nil
	case r.may(k.organization, p.weight, true):
		r.drop(p)
		r.hold(p, r.find(c)) // k is forgotten by now if p was all that the room held
		r.serve()
		r.mu.Unlock()
		return nil
	case !r.mayWait(k.organization):
		r.forget(k)
		r.mu.Unlock()
		r.refused.Add(1)
		return r.full()
	}
	w := r.enqueue(k, p.weight, p)
	p.passing = w
	r.mu.Unlock()
	return r.await(ctx, w)
}

// Arrived notes that bytes came from the sender whom the place waits for.
func (p *Place) Arrived(n int) { p.arrived.Add(int64(n)) }

// OnEvict lets the place be evicted while it waits for its sender: evict is called once,
// from any goroutine, and must not block; it has the sender's connection fail, after
// which the holder leaves. nil ends that: the holder does not wait for a sender any more.
func (p *Place) OnEvict(evict func()) {
	p.room.mu.Lock()
	p.onEvict = evict
	p.room.mu.Unlock()
}

// Evicted reports whether the place was evicted.
func (p *Place) Evicted() bool { return p != nil && p.taken.Load() }
