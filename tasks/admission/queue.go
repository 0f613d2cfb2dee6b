package admission

import (
	"container/heap"
	"container/list"
	"time"
)

// organization is there while it holds or waits.
type organization struct {
	id      int64
	held    int64
	wanted  int64 // the weight that its callers wait for
	callers int   // that wait
	keys    map[string]*key
	queue   keyHeap // that wait
	turn    uint64  // when it began to wait, or was served last
	index   int     // in the room's queue; -1: it does not wait
	lost    bool    // it was evicted, and not served since
	leaving int64   // what was evicted of it, while relieve runs
}

// key is there while it holds or waits.
type key struct {
	name         string
	organization *organization
	held         int64
	wanted       int64
	places       *Place    // the first of a list
	waiters      list.List // of *waiter, the first one first
	turn         uint64
	index        int
	lost         bool
	lostAt       time.Time
	leaving      int64
}

// waiter is a caller that waits. Its members are the room's until done is closed.
type waiter struct {
	key     *key
	weight  int64
	since   time.Time
	element *list.Element
	passing *Place        // it has this place, of another caller; nil: it has none
	done    chan struct{} // closed when place or err is set
	place   *Place
	err     error
}

func (k *key) first() *waiter { return k.waiters.Front().Value.(*waiter) }

// find returns the key of a caller; forget or a holding must follow. r.mu is held.
func (r *Room) find(c Caller) *key {
	o := r.organizations[c.Organization]
	if o == nil {
		o = &organization{id: c.Organization, keys: map[string]*key{}, index: -1}
		r.organizations[c.Organization] = o
	}
	k := o.keys[c.Key]
	if k == nil {
		k = &key{name: c.Key, organization: o, index: -1}
		o.keys[c.Key] = k
	}
	return k
}

// forget drops a key, and its organization, that neither holds nor waits. r.mu is held.
func (r *Room) forget(k *key) {
	o := k.organization
	if k.places != nil || k.waiters.Len() > 0 || o.keys[k.name] != k {
		return
	}
	delete(o.keys, k.name)
	if len(o.keys) == 0 {
		delete(r.organizations, o.id)
		r.left.note(o.id, time.Now())
	}
}

// change adds to what a key holds, and restores the order of the queues. r.mu is held.
func (r *Room) change(k *key, by int64) {
	o := k.organization
	k.held += by
	o.held += by
	if k.index >= 0 {
		heap.Fix(&o.queue, k.index)
	}
	if o.index >= 0 {
		heap.Fix(&r.queue, o.index)
	}
}

// enqueue lets a caller wait. r.mu is held.
func (r *Room) enqueue(k *key, weight int64, passing *Place) *waiter {
	o := k.organization
	w := &waiter{key: k, weight: weight, since: time.Now(), passing: passing, done: make(chan struct{})}
	w.element = k.waiters.PushBack(w)
	k.wanted += weight
	o.wanted += weight
	o.callers++
	r.waiting++
	r.sequence++
	if k.index < 0 {
		k.turn = r.sequence
		heap.Push(&o.queue, k)
	}
	if o.index < 0 {
		o.turn = r.sequence
		heap.Push(&r.queue, o)
	}
	if r.timer == nil {
		r.timer = time.AfterFunc(reliefInterval, r.relieve)
	}
	return w
}

// remove ends the waiting of a caller, whether it was served or gave up. r.mu is held.
func (r *Room) remove(w *waiter) {
	k, o := w.key, w.key.organization
	k.waiters.Remove(w.element)
	k.wanted -= w.weight
	o.wanted -= w.weight
	o.callers--
	r.waiting--
	if w.passing != nil {
		w.passing.passing = nil
	}
	if k.waiters.Len() == 0 && k.index >= 0 {
		heap.Remove(&o.queue, k.index)
	}
	if len(o.queue) == 0 && o.index >= 0 {
		heap.Remove(&r.queue, o.index)
	}
	r.forget(k)
}

// lastTurn puts a key that loses a place, and its organization, behind the others that hold
// as little, until it has its next one: what it loses goes to them. r.mu is held.
func (r *Room) lastTurn(k *key) {
	o := k.organization
	k.lost, o.lost = true, true
	if k.index >= 0 {
		heap.Fix(&o.queue, k.index)
	}
	if o.index >= 0 {
		heap.Fix(&r.queue, o.index)
	}
}

// departures remember the last two that left, so that the last one that is not a given
// one is known.
type departures [2]struct {
	who int64
	at  time.Time
}

func (d *departures) note(who int64, at time.Time) {
	if d[0].who != who {
		d[1] = d[0]
	}
	d[0].who, d[0].at = who, at
}

// since reports whether somebody else left after an instant.
func (d *departures) since(who int64, at time.Time) bool {
	last := d[0]
	if last.who == who {
		last = d[1]
	}
	return last.at.After(at)
}

// organizationHeap has the organization on top that holds least, of several the one whose
// turn is the oldest.
type organizationHeap []*organization

func (h organizationHeap) Len() int { return len(h) }
func (h organizationHeap) Less(i, j int) bool {
	return before(rank{h[i].held, h[i].lost, h[i].turn}, rank{h[j].held, h[j].lost, h[j].turn})
}
func (h organizationHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

// Push satisfies heap.Interface.
func (h *organizationHeap) Push(x any) {
	o := x.(*organization)
	o.index = len(*h)
	*h = append(*h, o)
}

// Pop satisfies heap.Interface.
func (h *organizationHeap) Pop() any {
	last := len(*h) - 1
	o := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	o.index = -1
	return o
}

// keyHeap is the same for the keys of an organization.
type keyHeap []*key

func (h keyHeap) Len() int { return len(h) }
func (h keyHeap) Less(i, j int) bool {
	return before(rank{h[i].held, h[i].lost, h[i].turn}, rank{h[j].held, h[j].lost, h[j].turn})
}
func (h keyHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

// Push satisfies heap.Interface.
func (h *keyHeap) Push(x any) {
	k := x.(*key)
	k.index = len(*h)
	*h = append(*h, k)
}

// Pop satisfies heap.Interface.
func (h *keyHeap) Pop() any {
	last := len(*h) - 1
	k := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	k.index = -1
	return k
}

// rank decides who is served first.
type rank struct {
	held int64
	lost bool
	turn uint64
}

func before(a, b rank) bool {
	switch {
	case a.held != b.held:
		return a.held < b.held
	case a.lost != b.lost:
		return b.lost
	}
	return a.turn < b.turn
}
