package admission

import (
	"container/heap"
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// check compares what a room counts with what is there.
func (r *Room) check(t *testing.T) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	var held int64
	waiting := 0
	for id, o := range r.organizations {
		var ofKeys, wanted int64
		callers := 0
		for name, k := range o.keys {
			var ofPlaces, wants int64
			for p := k.places; p != nil; p = p.after {
				require.Same(t, k, p.key)
				require.Positive(t, p.weight)
				ofPlaces += p.weight
			}
			for e := k.waiters.Front(); e != nil; e = e.Next() {
				wants += e.Value.(*waiter).weight
				callers++
			}
			require.Equal(t, name, k.name)
			require.Equal(t, ofPlaces, k.held)
			require.Equal(t, wants, k.wanted)
			require.Equal(t, k.waiters.Len() > 0, k.index >= 0, "a key is queued while its callers wait")
			require.False(t, k.places == nil && k.waiters.Len() == 0, "key %d/%s is forgotten", id, name)
			ofKeys += k.held
			wanted += wants
		}
		require.Equal(t, ofKeys, o.held)
		require.Equal(t, wanted, o.wanted)
		require.Equal(t, callers, o.callers)
		require.Equal(t, callers > 0, o.index >= 0)
		for i, k := range o.queue {
			require.Equal(t, i, k.index)
			require.False(t, i > 0 && o.queue.Less(i, (i-1)/2), "the order of keys")
		}
		held += o.held
		waiting += callers
	}
	for i, o := range r.queue {
		require.Equal(t, i, o.index)
		require.False(t, i > 0 && r.queue.Less(i, (i-1)/2), "the order of organizations")
	}
	require.Equal(t, held, r.held)
	require.Equal(t, waiting, r.waiting)
	require.LessOrEqual(t, r.held, r.cfg.Capacity+r.cfg.Headroom)
}

// empty requires that nothing is left of those who came.
func (r *Room) empty(t *testing.T) {
	t.Helper()
	r.check(t)
	r.mu.Lock()
	defer r.mu.Unlock()
	require.Zero(t, r.held)
	require.Zero(t, r.waiting)
	require.Empty(t, r.organizations)
	require.Empty(t, r.queue)
}

func caller(organization int64, key string) Caller { return Caller{organization, key} }

// fill takes n places of weight 1, which must be there.
func (r *Room) fill(t *testing.T, n int, c Caller) []*Place {
	t.Helper()
	var places []*Place
	for i := range n {
		p, ok := r.Try(c, 1)
		require.True(t, ok, "place %d of %d", i, n)
		places = append(places, p)
	}
	return places
}

func leave(places []*Place) {
	for _, p := range places {
		p.Leave()
	}
}

// enter lets a caller wait in a goroutine; the channel returns its place, or nil.
func (r *Room) enter(ctx context.Context, c Caller, weight int64) <-chan *Place {
	done := make(chan *Place, 1)
	go func() {
		p, _ := r.Enter(ctx, c, weight)
		done <- p
	}()
	synctest.Wait()
	return done
}

func TestAloneTakesAll(t *testing.T) {
	t.Parallel()
	r := New(Config{Name: "r", Capacity: 19, Headroom: 3})
	places := r.fill(t, 19, caller(1, "a"))
	_, ok := r.Try(caller(1, "a"), 1)
	require.False(t, ok)
	_, ok = r.Try(caller(1, "b"), 1)
	require.False(t, ok, "the headroom is for others")
	leave(places)
	leave(places)
	leave(append(r.fill(t, 10, caller(1, "a")), r.fill(t, 9, caller(1, "b"))...))
	r.empty(t)
	p, ok := r.Try(caller(1, "a"), 1000)
	require.True(t, ok, "more than there is means all")
	require.EqualValues(t, 19, p.Weight())
	p.Shrink(7)
	p.Shrink(9)
	require.EqualValues(t, 7, p.Weight())
	p.Leave()
	r.empty(t)
}

// With others there a third stays free for newcomers, and a third is what one may have
// when there is no more.
func TestOthersAreThere(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := New(Config{Name: "r", Capacity: 9})
		other := r.fill(t, 1, caller(2, "b"))
		first := r.fill(t, 5, caller(1, "a"))
		_, ok := r.Try(caller(1, "a"), 1)
		require.False(t, ok, "a third stays free")
		second := r.fill(t, 2, caller(2, "b"))
		_, ok = r.Try(caller(2, "b"), 1)
		require.False(t, ok, "a third is held")
		third := r.fill(t, 1, caller(3, "c"))
		leave(other)
		leave(second)
		leave(third)
		_, ok = r.Try(caller(1, "a"), 2)
		require.False(t, ok, "the others have just left")
		time.Sleep(defaultLinger)
		first = append(first, r.fill(t, 4, caller(1, "a"))...)
		leave(first)
		r.empty(t)
	})
}

func TestHeadroom(t *testing.T) {
	t.Parallel()
	r := New(Config{Name: "r", Capacity: 19, Headroom: 3})
	places := r.fill(t, 19, caller(1, "a"))
	places = append(places, r.fill(t, 1, caller(2, "b"))...)
	_, ok := r.Try(caller(2, "b"), 1)
	require.False(t, ok, "a third of the headroom")
	places = append(places, r.fill(t, 1, caller(3, "c"))...)
	places = append(places, r.fill(t, 1, caller(4, "d"))...)
	_, ok = r.Try(caller(5, "e"), 1)
	require.False(t, ok)
	leave(places)
	r.empty(t)
}

// Room that comes free goes to whoever holds least, in turns.
func TestTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := New(Config{Name: "r", Capacity: 6, Wait: time.Hour})
		holding := r.fill(t, 6, caller(1, "flood"))
		order := make(chan string, 100)
		wait := func(c Caller) {
			go func() {
				p, err := r.Enter(t.Context(), c, 1)
				if err != nil {
					return
				}
				order <- strconv.FormatInt(c.Organization, 10) + c.Key
				time.Sleep(time.Second)
				p.Leave()
			}()
			synctest.Wait()
		}
		for range 4 {
			wait(caller(1, "flood"))
		}
		for range 3 {
			wait(caller(2, "x"))
		}
		wait(caller(2, "y"))
		wait(caller(3, "z"))
		var got []string
		for _, p := range holding[:4] {
			p.Leave()
			synctest.Wait()
			r.check(t)
			select {
			case who := <-order:
				got = append(got, who)
			default:
				got = append(got, "-")
			}
		}
		// The last of the four is for nobody: the first two have their third.
		require.Equal(t, []string{"2x", "3z", "2y", "-"}, got)
		leave(holding[4:])
		for range 6 {
			<-order
		}
		synctest.Wait()
		time.Sleep(time.Minute)
		r.empty(t)
	})
}

// A large place is waited for: small ones behind it do not starve it.
func TestLargePlacesComeToo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := New(Config{Name: "r", Capacity: 12})
		first, second, third := r.fill(t, 6, caller(1, "a")), r.fill(t, 4, caller(2, "b")), r.fill(t, 2, caller(3, "c"))
		large := r.enter(t.Context(), caller(4, "d"), 4)
		small := r.enter(t.Context(), caller(5, "e"), 1)
		leave(third)
		synctest.Wait()
		require.Empty(t, small)
		require.Empty(t, large)
		leave(second[:2])
		require.NotNil(t, <-large)
		require.Empty(t, small)
		leave(first[:1])
		require.NotNil(t, <-small)
	})
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := New(Config{Name: "uploads", Capacity: 3, Wait: 2 * time.Second, RetryAfter: 7 * time.Second, MaxWaiting: 4})
		places := r.fill(t, 3, caller(1, "a"))
		start := time.Now()
		require.False(t, r.Contended())
		_, err := r.Enter(t.Context(), caller(2, "b"), 1)
		var full *FullError
		require.ErrorAs(t, err, &full)
		require.Equal(t, &FullError{"uploads", 7 * time.Second}, full)
		require.Equal(t, "no place in uploads came free in time; retry after 7 s", err.Error())
		require.Equal(t, 2*time.Second, time.Since(start))

		ctx, cancel := context.WithCancel(t.Context())
		for range 2 {
			r.enter(ctx, caller(1, "a"), 1)
		}
		require.True(t, r.Contended())
		start = time.Now()
		_, err = r.Enter(t.Context(), caller(1, "a"), 1)
		require.ErrorAs(t, err, &full, "half of those who wait")
		for range 2 {
			r.enter(ctx, caller(2, "b"), 1)
		}
		_, err = r.Enter(t.Context(), caller(3, "c"), 1)
		require.ErrorAs(t, err, &full, "too many wait")
		require.Zero(t, time.Since(start))
		cancel()
		synctest.Wait()
		r.check(t)
		require.False(t, r.Contended())
		_, err = r.Enter(ctx, caller(2, "b"), 1)
		require.ErrorIs(t, err, context.Canceled)
		leave(places)
		r.empty(t)
		s := r.Stats(5)
		require.EqualValues(t, []int64{3, 3, 0}, []int64{s.Admitted, s.Refused, s.Evicted})
	})
}

// Room that comes free in an organization goes to the key that holds least.
func TestKeysOfAnOrganization(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := New(Config{Name: "r", Capacity: 6})
		loud := append(r.fill(t, 5, caller(1, "loud")), r.fill(t, 1, caller(1, "other"))...)
		more := r.enter(t.Context(), caller(1, "loud"), 1)
		other := r.enter(t.Context(), caller(1, "other"), 1)
		quiet := r.enter(t.Context(), caller(1, "quiet"), 1)
		for _, next := range []<-chan *Place{quiet, other, more} {
			require.Empty(t, next)
			leave(loud[:1])
			loud = loud[1:]
			require.NotNil(t, <-next)
		}
	})
}

// TestRandom plays many callers: what a room counts stays true, the bound of the capacity
// and the rule of shares hold at every admission, and everybody gets a place in the end.
func TestRandom(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 1))
			r := New(Config{Name: "r", Capacity: 30, Headroom: int64(seed % 4), Wait: 24 * time.Hour, MaxWaiting: 1 << 20, Linger: 1})
			var longest time.Duration
			served := make(chan time.Duration, 1000)
			for range 1000 {
				c := caller(min(int64(random.ExpFloat64()*2), 9), strconv.Itoa(random.IntN(4)))
				weight, hold, ends := random.Int64N(6)+1, time.Duration(random.IntN(2000))*time.Millisecond, random.IntN(10) == 0
				go func() {
					ctx, cancel := t.Context(), func() {}
					if ends {
						ctx, cancel = context.WithTimeout(t.Context(), hold)
					}
					defer cancel()
					start := time.Now()
					p, err := r.Enter(ctx, c, weight)
					served <- time.Since(start)
					if err != nil {
						return
					}
					time.Sleep(hold / 2)
					p.Shrink(weight / 2)
					time.Sleep(hold / 2)
					p.Leave()
				}()
				time.Sleep(time.Duration(random.IntN(20)) * time.Millisecond)
				r.check(t)
				r.shares(t)
			}
			for range 1000 {
				longest = max(longest, <-served)
			}
			// About 3,500 weights for a second each, over 10 to 30 that run at a time.
			require.Less(t, longest, 10*time.Minute)
			time.Sleep(time.Minute)
			r.empty(t)
		})
	}
}

// shares requires that nobody waits who may be served: of those whose share allows it, the
// one that holds least is waited for.
func (r *Room) shares(t *testing.T) {
	t.Helper()
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	var first *organization
	for _, o := range r.queue {
		if r.may(o, o.queue[0].first().weight, false) &&
			(first == nil || before(rank{o.held, o.lost, o.turn}, rank{first.held, first.lost, first.turn})) {
			first = o
		}
	}
	require.False(t, first != nil && r.hasRoom(first, first.queue[0].first().weight), "there is room for who waits")
}

// TestManyWait: a hundred thousand callers of a thousand organizations are served one by
// one. With steps that grow with their number this would take hours.
func TestManyWait(t *testing.T) {
	t.Parallel()
	const waiters, organizations = 100_000, 1000
	r := New(Config{Name: "r", Capacity: 30, MaxWaiting: waiters})
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.timer.Stop()
	}()
	var holding []*Place
	holding = append(holding, r.fill(t, 30, caller(-1, "a"))...)
	var all []*waiter
	r.mu.Lock()
	for i := range waiters {
		all = append(all, r.enqueue(r.find(caller(int64(i%organizations), strconv.Itoa(i%7))), 1, nil))
	}
	r.serve()
	r.mu.Unlock()
	leave(holding)
	for i := range all {
		w := all[i]
		select {
		case <-w.done:
		default:
			require.FailNow(t, "in the order of turns", "waiter %d", i)
		}
		w.place.Leave()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	require.Zero(t, r.waiting)
	require.Zero(t, r.held)
}

func TestHeaps(t *testing.T) {
	t.Parallel()
	var h organizationHeap
	for _, o := range []*organization{{id: 1, held: 2, turn: 1}, {id: 2, held: 1, turn: 3}, {id: 3, held: 1, turn: 2}} {
		heap.Push(&h, o)
	}
	var order []int64
	for len(h) > 0 {
		o := heap.Pop(&h).(*organization)
		require.Equal(t, -1, o.index)
		order = append(order, o.id)
	}
	require.Equal(t, []int64{3, 2, 1}, order)
}

func TestStats(t *testing.T) {
	t.Parallel()
	r := New(Config{Name: "r", Capacity: 30})
	places := append(r.fill(t, 2, caller(7, "a")), r.fill(t, 3, caller(0, "b"))...)
	places = append(places, r.fill(t, 1, caller(9, "a"))...)
	require.Equal(t, Stats{Name: "r", Capacity: 30, Held: 6, Admitted: 6,
		Organizations: []Usage{{0, 3, 0}, {7, 2, 0}}}, r.Stats(2))
	leave(places)
	require.Empty(t, r.Stats(2).Organizations)
	require.True(t, errors.As(error(r.full()), new(*FullError)))
}
