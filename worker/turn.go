package worker

import (
	"cmp"
	"container/heap"
	"context"
	"sync"
	"time"

	"github.com/slipway-qa/slipway/storage/ledger"
)

// turns chooses whose task of a queue is next: of the organizations that have one due
// the one that has the fewest running, and of these the one served longest ago. So an
// organization that is alone takes all slots, several share what is freed, and the
// length of a backlog does not matter.
//
// Who waits is read from the ledger now and then, for all at once, and learned from
// deliveries; a claim costs as much with ten thousand organizations as with one. What
// other workers run is known as of the last look, what this one runs always.
type turns struct {
	look func(ctx context.Context) ([]ledger.Due, error)

	looking sync.Mutex // held by the one that looks

	mu      sync.Mutex
	waiting waiters
	known   map[int64]bool   // those in waiting
	served  map[int64]uint64 // when an organization was served, counted in turns
	count   uint64
	mine    map[int64]int // claims of this process, also those being made
	others  map[int64]int // claims of other workers, as of the last look
	looked  time.Time
	took    time.Duration // of the last look
}

const (
	// lookAtMost bounds the time spent on looking to a twentieth of one connection's,
	// and lookWithin how long an organization that came by the relay may be overlooked.
	lookShare  = 20
	lookEvery  = 250 * time.Millisecond
	lookWithin = 3 * time.Second
	// forgetAbove is the number of organizations whose last turn is remembered.
	forgetAbove = 50_000
)

// waiter is an organization that has a task due.
type waiter struct {
	organization int64
	served       uint64
}

// waiters is a heap, the one served longest ago first.
type waiters []waiter

func (w waiters) Len() int { return len(w) }
func (w waiters) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(w[i].served, w[j].served), cmp.Compare(w[i].organization, w[j].organization)) < 0
}
func (w waiters) Swap(i, j int) { w[i], w[j] = w[j], w[i] }

// Push is for container/heap.
func (w *waiters) Push(v any) { *w = append(*w, v.(waiter)) }

// Pop is for container/heap.
func (w *waiters) Pop() any {
	last := (*w)[len(*w)-1]
	*w = (*w)[:len(*w)-1]
	return last
}

func newTurns(look func(ctx context.Context) ([]ledger.Due, error)) *turns {
	return &turns{look: look, known: map[int64]bool{}, served: map[int64]uint64{}, mine: map[int64]int{}, others: map[int64]int{}}
}

// add notes that an organization has a task due.
func (t *turns) add(organization int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.addLocked(organization)
}

func (t *turns) addLocked(organization int64) {
	if !t.known[organization] {
		t.known[organization] = true
		heap.Push(&t.waiting, waiter{organization, t.served[organization]})
	}
}

// take chooses an organization and counts a claim of it, which the caller makes and
// ends with done, or gives up with none. With fresh it is one that has nothing running.
// It is false when nobody waits.
func (t *turns) take(fresh bool) (organization int64, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	// Those that have something running were served lately, so few are passed over.
	var passed []waiter
	best := -1
	for t.waiting.Len() > 0 {
		w := heap.Pop(&t.waiting).(waiter)
		passed = append(passed, w)
		if n := t.runningLocked(w.organization); n == 0 {
			best = len(passed) - 1
			break
		} else if !fresh && (best < 0 || n < t.runningLocked(passed[best].organization)) {
			best = len(passed) - 1
		}
	}
	t.count++
	for i, w := range passed {
		if i == best {
			w.served = t.count
			t.served[w.organization] = t.count
		}
		heap.Push(&t.waiting, w)
	}
	if best < 0 {
		return 0, false
	}
	organization = passed[best].organization
	t.mine[organization]++
	return organization, true
}

func (t *turns) runningLocked(organization int64) int {
	return t.mine[organization] + t.others[organization]
}

// done ends a claim.
func (t *turns) done(organization int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.doneLocked(organization)
}

func (t *turns) doneLocked(organization int64) {
	if t.mine[organization]--; t.mine[organization] <= 0 {
		delete(t.mine, organization)
	}
}

// none ends a claim that found nothing: the organization does not wait any more.
func (t *turns) none(organization int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.doneLocked(organization)
	if !t.known[organization] {
		return
	}
	delete(t.known, organization)
	for i := range t.waiting {
		if t.waiting[i].organization == organization {
			heap.Remove(&t.waiting, i)
			break
		}
	}
}

// refresh looks who waits, when the last look is too long ago, or else when nobody is
// known to wait and the caller is not patient. It reports whether it looked.
func (t *turns) refresh(ctx context.Context, now time.Time, patient bool) (bool, error) {
	if !t.outdated(now, patient) {
		return false, nil
	}
	t.looking.Lock()
	defer t.looking.Unlock()
	if !t.outdated(now, patient) {
		return true, nil // somebody has looked meanwhile
	}
	list, err := t.look(ctx)
	if err != nil {
		return false, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.looked, t.took = now, time.Since(now)
	clear(t.others)
	for _, d := range list {
		if d.Running > 0 {
			t.others[d.OrganizationID] = d.Running
		}
		if d.Waits {
			t.addLocked(d.OrganizationID)
		}
	}
	if len(t.served) > forgetAbove {
		for organization := range t.served {
			if !t.known[organization] {
				delete(t.served, organization)
			}
		}
	}
	return true, nil
}

func (t *turns) outdated(now time.Time, patient bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	age := now.Sub(t.looked)
	if t.waiting.Len() == 0 && !patient {
		return age > t.took
	}
	return age > min(max(lookEvery, lookShare*t.took), lookWithin)
}
