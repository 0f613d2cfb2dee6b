package upload

import (
	"context"
	"net/netip"
	"slices"
	"sync"
)

// quota is what unauthenticated uploads have reserved, or may reserve.
type quota struct {
	uploads int
	bytes   int64
}

func (q quota) plus(o quota) quota  { return quota{q.uploads + o.uploads, q.bytes + o.bytes} }
func (q quota) minus(o quota) quota { return quota{q.uploads - o.uploads, q.bytes - o.bytes} }
func (q quota) within(o quota) bool { return q.uploads <= o.uploads && q.bytes <= o.bytes }

const (
	// maxWaiting bounds the uploads that wait for a reservation: each costs a
	// connection and the small buffer of its form.
	maxWaiting = 1024
	// maxWaitingPerAddress is the part of it for one address: a large build farm
	// behind one.
	maxWaitingPerAddress = 64
)

// reservations shares a quota out among the unauthenticated uploads: so much in
// all, and so much for one remote address, lest one sender keeps out all others.
// Those that wait are served in the order in which they came, save that one that
// cannot be served does not hold up those behind it.
type reservations struct {
	total, perAddress quota

	mu       sync.Mutex
	reserved quota
	byFrom   map[netip.Prefix]quota
	waiting  []*waiter
}

type waiter struct {
	from    netip.Prefix
	amount  quota
	granted chan struct{} // closed when amount is reserved
}

func newReservations(total, perAddress quota) *reservations {
	return &reservations{total: total, perAddress: perAddress, byFrom: map[netip.Prefix]quota{}}
}

// reserve waits until ctx ends and reports whether amount is reserved now.
func (r *reservations) reserve(ctx context.Context, from netip.Prefix, amount quota) bool {
	w := r.enqueue(from, amount)
	if w == nil {
		return false
	}
	select {
	case <-w.granted:
		return true
	case <-ctx.Done():
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.Index(r.waiting, w)
	if i < 0 {
		return true // it was granted at the last moment
	}
	r.waiting = slices.Delete(r.waiting, i, i+1)
	return false
}

// enqueue grants the amount or puts it in the queue; nil when that is full.
func (r *reservations) enqueue(from netip.Prefix, amount quota) *waiter {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := &waiter{from, amount, make(chan struct{})}
	if r.grant(w) {
		return w
	}
	same := 0
	for _, other := range r.waiting {
		if other.from == from {
			same++
		}
	}
	if same >= maxWaitingPerAddress || len(r.waiting) >= maxWaiting {
		return nil
	}
	r.waiting = append(r.waiting, w)
	return w
}

// grant reserves what a waiter needs if there is as much. r.mu is held.
func (r *reservations) grant(w *waiter) bool {
	all, same := r.reserved.plus(w.amount), r.byFrom[w.from].plus(w.amount)
	if !all.within(r.total) || !same.within(r.perAddress) {
		return false
	}
	r.reserved, r.byFrom[w.from] = all, same
	close(w.granted)
	return true
}

// release returns back and serves those that wait.
func (r *reservations) release(from netip.Prefix, amount quota) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reserved = r.reserved.minus(amount)
	if r.byFrom[from] = r.byFrom[from].minus(amount); r.byFrom[from] == (quota{}) {
		delete(r.byFrom, from)
	}
	r.waiting = slices.DeleteFunc(r.waiting, r.grant)
}
