package admission

import (
	"cmp"
	"container/heap"
	"maps"
	"slices"
	"time"
)

const (
	// reliefInterval is the time between two looks at those who hold too much, while
	// somebody waits.
	reliefInterval = 100 * time.Millisecond
	// forcedAfter is how long somebody below its share waits until places above theirs
	// are taken whose senders are not slow.
	forcedAfter = time.Second
	// leastAge is the age from which on the rate of a sender means something.
	leastAge = time.Second
	// knownAge is the same for a key that lost a place in the time knownFor: its senders are
	// known to be slow.
	knownAge = 2 * reliefInterval
	knownFor = 30 * time.Second
	// sampleAge is how old the sample is that a rate is taken from.
	sampleAge = 500 * time.Millisecond
	// leaveTime is what an evicted place is expected to take until it is left.
	leaveTime = 5 * time.Second
)

// sample is the number of bytes that had arrived at a time.
type sample struct {
	bytes int64
	at    time.Time
	rate  float64 // at that time
}

// relieve runs while somebody waits: it admits those whom time allows to be admitted, and
// evicts places of those above their shares for those below.
func (r *Room) relieve() {
	r.mu.Lock()
	if r.waiting == 0 {
		r.timer = nil
		r.mu.Unlock()
		return
	}
	r.serve()
	f := relief{room: r, now: time.Now()}
	f.countLeaving()
	f.organizations()
	for _, o := range slices.Clone(r.queue) { // an eviction may end the waiting of others
		f.keys(o)
	}
	r.timer = time.AfterFunc(reliefInterval, r.relieve)
	r.mu.Unlock()
	for _, evict := range f.calls {
		evict()
	}
}

// relief is one look at a room, whose mutex is held meanwhile.
type relief struct {
	room  *Room
	now   time.Time
	calls []func() // for the places that were evicted
}

// countLeaving counts the places that were evicted and will be left soon.
func (f *relief) countLeaving() {
	for _, o := range f.room.organizations {
		o.leaving = 0
		for _, k := range o.keys {
			k.leaving = 0
			for p := k.places; p != nil; p = p.after {
				if !p.ended.IsZero() && f.now.Sub(p.ended) < leaveTime {
					k.leaving += p.weight
				}
			}
			o.leaving += k.leaving
		}
	}
}

// party is an organization in the room, or a key in its organization.
type party struct {
	held, leaving, wanted int64
	lost                  bool    // it was evicted, and not served since
	waiting               keyHeap // whose first callers have waited since when it waits
	keys                  []*key  // that hold its places
}

// organizations evicts places of organizations above their share for those below.
func (f *relief) organizations() {
	r := f.room
	var parties []party
	for _, o := range r.organizations {
		parties = append(parties, party{o.held, o.leaving, o.wanted, o.lost, o.queue, slices.Collect(maps.Values(o.keys))})
	}
	f.balance(parties, r.held, r.cfg.Capacity, r.share, true)
}

// keys does the same among the keys of an organization. Quick senders lose their places
// among addresses only, which have shown nothing. A named organization that is above its
// share has nothing to share out.
func (f *relief) keys(o *organization) {
	limit := f.room.limit(o)
	if o.id != 0 && o.held > limit {
		return
	}
	var parties []party
	for _, k := range o.keys {
		q := party{held: k.held, leaving: k.leaving, wanted: k.wanted, lost: k.lost, keys: []*key{k}}
		if k.waiters.Len() > 0 {
			q.waiting = keyHeap{k}
		}
		parties = append(parties, q)
	}
	f.balance(parties, o.held, limit, max(1, limit/shareOf), o.id == 0)
}

// balance evicts places of parties above a share for those below it who wait; force lets
// quick senders be evicted too, after a second. Where the parties are so many that a share
// is more than the part of each, very slow senders above that part go for parties that
// have nothing.
func (f *relief) balance(parties []party, held, limit, share int64, force bool) {
	before := len(f.calls)
	missing, oldest := f.missing(parties, held-limit, share)
	f.evictFrom(parties, missing, share, f.room.cfg.MinRate, force && f.now.Sub(oldest) >= forcedAfter)
	if part := limit / int64(max(1, len(parties))); part < share && len(f.calls) == before {
		missing, _ = f.missing(parties, held-limit, 1)
		f.evictFrom(parties, missing, part, f.room.cfg.MinRate/2, false)
	}
}

// missing returns what the parties below a share wait for and is not free, nor will be,
// and since when. Those that were evicted themselves wait until something is free.
func (f *relief) missing(parties []party, over, share int64) (missing int64, oldest time.Time) {
	oldest, missing = f.now, over
	wanted := false
	for i := range parties {
		q := &parties[i]
		missing -= q.leaving
		if below := min(q.wanted, share-q.held); below > 0 && !q.lost {
			missing += below
			oldest = earliest(oldest, q.waiting)
			wanted = true
		}
	}
	if !wanted {
		return 0, oldest
	}
	return missing, oldest
}

// earliest returns the time since when the first of the keys has waited.
func earliest(than time.Time, keys keyHeap) time.Time {
	for _, k := range keys {
		if w := k.first(); w.since.Before(than) {
			than = w.since
		}
	}
	return than
}

// evictFrom evicts places of the weight that is missing, each of whoever is furthest above
// the share at that time: the slowest below a rate, or the slowest of all when forced.
func (f *relief) evictFrom(parties []party, missing, share, rate int64, forced bool) {
	if missing <= 0 {
		return
	}
	above := &aboveHeap{}
	for i := range parties {
		if q := &parties[i]; q.held-q.leaving > share {
			heap.Push(above, excess{q.held - q.leaving - share, f.slow(q.keys, rate, forced)})
		}
	}
	for missing > 0 && above.Len() > 0 {
		e := heap.Pop(above).(excess)
		if len(e.slow) == 0 {
			continue
		}
		p := e.slow[0].place
		missing -= p.weight
		f.evict(p)
		if e.above -= p.weight; e.above > 0 {
			heap.Push(above, excess{e.above, e.slow[1:]})
		}
	}
}

// slow returns the places of keys that may be evicted, the slowest first: all of them when
// forced, else those below the rate.
func (f *relief) slow(keys []*key, below int64, forced bool) []candidate {
	var slow []candidate
	for _, k := range keys {
		age := leastAge
		if f.now.Sub(k.lostAt) < knownFor {
			age = knownAge
		}
		for p := k.places; p != nil; p = p.after {
			if p.onEvict == nil || !p.ended.IsZero() || f.now.Sub(p.since) < age {
				continue
			}
			if rate := p.rate(f.now); forced || rate < float64(below) {
				slow = append(slow, candidate{p, rate})
			}
		}
	}
	slices.SortFunc(slow, func(a, b candidate) int { return cmp.Compare(a.rate, b.rate) })
	return slow
}

type candidate struct {
	place *Place
	rate  float64
}

// rate returns the bytes a second that arrived lately.
func (p *Place) rate(now time.Time) float64 {
	n := p.arrived.Load()
	if p.sample.at.IsZero() {
		p.sample = sample{n, now, float64(n) / now.Sub(p.since).Seconds()}
	} else if age := now.Sub(p.sample.at); age >= sampleAge {
		p.sample = sample{n, now, float64(n-p.sample.bytes) / age.Seconds()}
	}
	return p.sample.rate
}

// evict takes the place of a sender.
func (f *relief) evict(p *Place) {
	p.ended = f.now
	p.taken.Store(true)
	p.key.leaving += p.weight
	p.key.organization.leaving += p.weight
	f.room.evicted.Add(1)
	f.room.lastTurn(p.key)
	p.key.lostAt = f.now
	f.calls = append(f.calls, p.onEvict)
	if w := p.passing; w != nil {
		w.err = ErrEvicted
		f.room.remove(w)
		close(w.done)
	}
}

// excess is an organization, or a key, that is above its share, with the places that it
// may lose.
type excess struct {
	above int64
	slow  []candidate
}

// aboveHeap has whoever is furthest above its share on top.
type aboveHeap []excess

func (h aboveHeap) Len() int           { return len(h) }
func (h aboveHeap) Less(i, j int) bool { return h[i].above > h[j].above }
func (h aboveHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

// Push satisfies heap.Interface.
func (h *aboveHeap) Push(x any) { *h = append(*h, x.(excess)) }

// Pop satisfies heap.Interface.
func (h *aboveHeap) Pop() any {
	last := len(*h) - 1
	e := (*h)[last]
	*h = (*h)[:last]
	return e
}
