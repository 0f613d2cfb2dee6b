package admission

import (
	"container/heap"
	"time"
)

// others reports whether other organizations are there. r.mu is held.
func (r *Room) others(o *organization) bool {
	return len(r.organizations) > 1 || r.left.since(o.id, time.Now().Add(-r.cfg.Linger))
}

// limit is what the keys of an organization share out. r.mu is held.
func (r *Room) limit(o *organization) int64 {
	if r.others(o) {
		return r.share
	}
	return r.cfg.Capacity
}

// may reports whether the organization's share allows it a place of the weight; inside: the
// weight is part of what the room holds already. r.mu is held.
func (r *Room) may(o *organization, weight int64, inside bool) bool {
	sum := r.held
	if inside {
		sum -= weight
	}
	return o.held == 0 || o.held+weight <= r.share || r.cfg.Capacity-sum-weight >= r.share || !r.others(o)
}

// fits reports whether an organization may have a place of the weight now. r.mu is held.
func (r *Room) fits(o *organization, weight int64) bool {
	return r.hasRoom(o, weight) && r.may(o, weight, false)
}

// hasRoom reports whether the room has so much for the organization. One that holds next
// to nothing may use the headroom, a third of it unless it has nothing at all. r.mu is
// held.
func (r *Room) hasRoom(o *organization, weight int64) bool {
	if r.held+weight <= r.cfg.Capacity {
		return true
	}
	return r.held+weight <= r.cfg.Capacity+r.cfg.Headroom && r.others(o) && (o.held == 0 || o.held+weight <= r.cfg.Headroom/shareOf)
}

// serve admits those who wait, as long as there is room for the next one. An organization
// that has its share is skipped; the first of the others is waited for, so that large
// places come too. r.mu is held.
func (r *Room) serve() {
	var skipped []*organization
	for len(r.queue) > 0 {
		o := r.queue[0]
		w := o.queue[0].first()
		if !r.may(o, w.weight, w.passing != nil) {
			skipped = append(skipped, heap.Pop(&r.queue).(*organization))
			continue
		}
		if w.passing == nil && !r.hasRoom(o, w.weight) {
			break
		}
		r.admit(w)
	}
	for _, o := range skipped {
		heap.Push(&r.queue, o)
	}
}

// admit gives a waiter its place. r.mu is held.
func (r *Room) admit(w *waiter) {
	k, o := w.key, w.key.organization
	r.sequence++
	k.turn, o.turn, k.lost, o.lost = r.sequence, r.sequence, false, false
	if from := w.passing; from != nil {
		w.place = from
		r.drop(from)
		r.hold(from, k)
	} else {
		w.place = r.place(k, w.weight)
	}
	r.remove(w) // after the holding: the key stays
	close(w.done)
}
