package upload

import (
	"context"
	"net/netip"
	"slices"
	"sync"
)

// share is what uploads without a key hold, or may hold.
type share struct {
	places int
	bytes  int64
}

func (s share) plus(o share) share  { return share{s.places + o.places, s.bytes + o.bytes} }
func (s share) minus(o share) share { return share{s.places - o.places, s.bytes - o.bytes} }
func (s share) within(o share) bool { return s.places <= o.places && s.bytes <= o.bytes }

const (
	// maxWaiting bounds who waits for a place or for bytes: each costs a
	// connection and the small buffer of its form.
	maxWaiting = 1024
	// maxWaitingEach is the part of it for one address: a large build farm
	// behind one.
	maxWaitingEach = 64
)

// strangers shares places and bytes out among the uploads without a key: so many
// in all, and so many of one remote address, lest one sender shuts the door for
// all others. Those that wait are served in the order in which they came, save
// that one whose wish cannot be met does not hold up the ones behind it.
type strangers struct {
	all, each share

	mu      sync.Mutex
	taken   share
	by      map[netip.Prefix]share
	waiting []*waiter
}

type waiter struct {
	from  netip.Prefix
	want  share
	ready chan struct{} // closed when want is held
}

func newStrangers(all, each share) *strangers {
	return &strangers{all: all, each: each, by: map[netip.Prefix]share{}}
}

// take waits until ctx ends and reports whether want is held now.
func (s *strangers) take(ctx context.Context, from netip.Prefix, want share) bool {
	w := s.ask(from, want)
	if w == nil {
		return false
	}
	select {
	case <-w.ready:
		return true
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(s.waiting, w)
	if i < 0 {
		return true // it was served at the last moment
	}
	s.waiting = slices.Delete(s.waiting, i, i+1)
	return false
}

// ask serves a wish or puts it in the queue; nil when that is full.
func (s *strangers) ask(from netip.Prefix, want share) *waiter {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := &waiter{from, want, make(chan struct{})}
	if s.serve(w) {
		return w
	}
	same := 0
	for _, other := range s.waiting {
		if other.from == from {
			same++
		}
	}
	if same >= maxWaitingEach || len(s.waiting) >= maxWaiting {
		return nil
	}
	s.waiting = append(s.waiting, w)
	return w
}

// serve gives a waiter what it wants if there is as much.
func (s *strangers) serve(w *waiter) bool {
	all, own := s.taken.plus(w.want), s.by[w.from].plus(w.want)
	if !all.within(s.all) || !own.within(s.each) {
		return false
	}
	s.taken, s.by[w.from] = all, own
	close(w.ready)
	return true
}

// release gives back and serves those that wait.
func (s *strangers) release(from netip.Prefix, held share) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken = s.taken.minus(held)
	if s.by[from] = s.by[from].minus(held); s.by[from] == (share{}) {
		delete(s.by, from)
	}
	s.waiting = slices.DeleteFunc(s.waiting, s.serve)
}
