package admission

import (
	"context"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// sender holds a place while its bytes come, and leaves when it is evicted.
func (r *Room) sender(t *testing.T, c Caller, rate int) *Place {
	t.Helper()
	p, ok := r.Try(c, 1)
	require.True(t, ok)
	go p.send(t.Context(), rate)
	return p
}

func (p *Place) send(ctx context.Context, rate int) {
	over := make(chan struct{})
	p.OnEvict(func() { close(over) })
	defer p.Leave()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-over:
			return
		case <-ctx.Done():
			return
		case <-tick.C:
			p.Arrived(rate / 10)
		}
	}
}

// Slow senders of one organization fill the room; another's uploads do not wait for them.
func TestSlowSendersAreEvicted(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		rate int
		most time.Duration
	}{
		"slow":     {8 << 10, reliefInterval},
		"quick":    {10 << 20, forcedAfter + reliefInterval},
		"all idle": {0, reliefInterval},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := New(Config{Name: "r", Capacity: 19})
			ctx, cancel := context.WithCancel(t.Context())
			for i := range 190 {
				go func() {
					p, err := r.Enter(ctx, caller(1, strconv.Itoa(i%3)), 1)
					if err == nil {
						p.send(ctx, tc.rate)
					}
				}()
			}
			time.Sleep(3 * time.Second)
			require.EqualValues(t, 19, r.Stats(1).Held)
			for i := range 5 {
				start := time.Now()
				p, err := r.Enter(t.Context(), caller(2, "b"), 1)
				require.NoError(t, err, name)
				took := time.Since(start)
				require.LessOrEqual(t, took, tc.most, name)
				if i > 0 {
					require.Zero(t, took, "room stays for those who were there")
				}
				time.Sleep(time.Second)
				p.Leave()
			}
			// The organization keeps what nobody else wants.
			require.GreaterOrEqual(t, r.Stats(1).Held, int64(17), name)
			cancel()
			time.Sleep(time.Minute)
			r.empty(t)
		})
	}
}

// Somebody who sends and is within its share loses nothing.
func TestShareIsKept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := New(Config{Name: "r", Capacity: 9})
		ctx, cancel := context.WithCancel(t.Context())
		var places []*Place
		for organization := range int64(3) {
			for range 3 {
				p, err := r.Enter(ctx, caller(organization, "a"), 1)
				require.NoError(t, err)
				places = append(places, p)
				go p.send(ctx, 1<<20)
			}
		}
		_, err := r.Enter(ctx, caller(5, "a"), 1)
		require.Error(t, err)
		for _, p := range places {
			require.False(t, p.Evicted())
		}
		require.Zero(t, r.Stats(0).Evicted)
		cancel()
		synctest.Wait()
		r.empty(t)
	})
}

// The slowest go first, and none that does not wait for its sender.
func TestSlowestGoFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := New(Config{Name: "r", Capacity: 4})
		stored, ok := r.Try(caller(1, "a"), 1)
		require.True(t, ok)
		stored.OnEvict(func() { panic("it waits for nobody") })
		stored.OnEvict(nil)
		fast := r.sender(t, caller(1, "a"), 1<<20)
		slow := r.sender(t, caller(1, "a"), 20<<10)
		// What came long ago does not count.
		burst := r.sender(t, caller(1, "a"), 100)
		burst.Arrived(1 << 30)
		time.Sleep(10 * time.Second)
		p, err := r.Enter(t.Context(), caller(2, "b"), 1)
		require.NoError(t, err)
		require.True(t, slow.Evicted())
		p2, err := r.Enter(t.Context(), caller(3, "c"), 1)
		require.NoError(t, err)
		require.True(t, burst.Evicted())
		require.False(t, fast.Evicted())
		p3, err := r.Enter(t.Context(), caller(4, "d"), 1)
		require.NoError(t, err)
		require.True(t, fast.Evicted())
		require.False(t, stored.Evicted())
		leave([]*Place{p, p2, p3, stored})
		r.empty(t)
	})
}

// Two addresses without a key hold all places: a third one gets its place, and an
// organization too.
func TestAddressesWithoutKey(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := New(Config{Name: "r", Capacity: 19})
		ctx, cancel := context.WithCancel(t.Context())
		for i := range 60 {
			go func() {
				if p, err := r.Enter(ctx, caller(0, strconv.Itoa(i%2)), 1); err == nil {
					p.send(ctx, 1<<20)
				}
			}()
		}
		time.Sleep(3 * time.Second)
		require.EqualValues(t, 19, r.Stats(1).Held)
		start := time.Now()
		p, err := r.Enter(ctx, caller(0, "other"), 1)
		require.NoError(t, err)
		require.LessOrEqual(t, time.Since(start), 2*time.Second)
		start = time.Now()
		// Its key comes: the organization of the key has the place now.
		require.NoError(t, p.Pass(ctx, caller(3, "key")))
		require.NoError(t, p.Pass(ctx, caller(3, "key")))
		r.check(t)
		q, err := r.Enter(ctx, caller(2, "b"), 1)
		require.NoError(t, err)
		require.LessOrEqual(t, time.Since(start), 2*time.Second)
		r.check(t)
		p.Leave()
		q.Leave()
		cancel()
		time.Sleep(time.Minute)
		r.empty(t)
	})
}

// A place passes to an organization when that may have it: many keys in forms are no way
// around the share.
func TestPass(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := New(Config{Name: "r", Capacity: 9, Wait: 5 * time.Second})
		others := append(r.fill(t, 3, caller(2, "b")), r.fill(t, 3, caller(1, "a"))...)
		p := r.fill(t, 1, caller(0, "x"))[0]
		var full *FullError
		require.ErrorAs(t, p.Pass(t.Context(), caller(1, "a")), &full)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- p.Pass(ctx, caller(1, "a")) }()
		synctest.Wait()
		r.check(t)
		cancel()
		require.ErrorIs(t, <-done, context.Canceled)
		go func() { done <- p.Pass(t.Context(), caller(1, "a")) }()
		synctest.Wait()
		others[5].Leave()
		require.NoError(t, <-done)
		r.check(t)
		require.Equal(t, []Usage{{1, 3, 0}, {2, 3, 0}}, r.Stats(9).Organizations)
		leave(others)
		p.Leave()
		require.ErrorIs(t, p.Pass(t.Context(), caller(1, "a")), ErrEvicted)
		r.empty(t)

		// A place that waits to be passed on can be evicted.
		r = New(Config{Name: "r", Capacity: 3})
		p = r.fill(t, 1, caller(0, "x"))[0]
		q := r.fill(t, 1, caller(0, "x"))[0]
		q.OnEvict(func() {})
		own := r.fill(t, 1, caller(1, "a"))
		go func() { done <- q.Pass(t.Context(), caller(1, "a")) }()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		r.check(t)
		got := r.enter(t.Context(), caller(3, "c"), 1)
		require.ErrorIs(t, <-done, ErrEvicted)
		q.Leave()
		require.NotNil(t, <-got)
		p.Leave()
		leave(own)
	})
}

// Within an organization slow senders of one key lose places to another key, quick ones do
// not.
func TestKeysAboveTheirShare(t *testing.T) {
	t.Parallel()
	for rate, evicted := range map[int]int64{10 << 10: 1, 10 << 20: 0} {
		synctest.Test(t, func(t *testing.T) {
			r := New(Config{Name: "r", Capacity: 9, Wait: 3 * time.Second})
			ctx, cancel := context.WithCancel(t.Context())
			for range 9 {
				p, err := r.Enter(ctx, caller(1, "loud"), 1)
				require.NoError(t, err)
				go p.send(ctx, rate)
			}
			time.Sleep(2 * time.Second)
			p, err := r.Enter(ctx, caller(1, "quiet"), 1)
			require.Equal(t, evicted == 1, err == nil)
			require.Equal(t, evicted, r.Stats(0).Evicted)
			p.Leave()
			cancel()
			synctest.Wait()
			r.empty(t)
		})
	}
}

// Who was kept out by others that left is served when they count as gone.
func TestLingerEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := New(Config{Name: "r", Capacity: 3, Linger: 2 * time.Second})
		leave(r.fill(t, 1, caller(2, "b")))
		places := r.fill(t, 2, caller(1, "a"))
		start := time.Now()
		p, err := r.Enter(t.Context(), caller(1, "a"), 1)
		require.NoError(t, err)
		require.InDelta(t, 2, time.Since(start).Seconds(), 0.3)
		leave(append(places, p))
		r.empty(t)
	})
}

// Slow senders from so many addresses, or organizations, that none of them is above a share.
func TestManyParties(t *testing.T) {
	t.Parallel()
	for name, who := range map[string]func(i int) Caller{
		"addresses":     func(i int) Caller { return caller(0, strconv.Itoa(i%20)) },
		"organizations": func(i int) Caller { return caller(int64(i%7+1), "a") },
	} {
		for rate, evicted := range map[int]bool{8 << 10: true, 100 << 10: false} {
			synctest.Test(t, func(t *testing.T) {
				r := New(Config{Name: "r", Capacity: 19, Headroom: 1, Wait: 5 * time.Second})
				ctx, cancel := context.WithCancel(t.Context())
				for i := range 160 {
					go func() {
						for ctx.Err() == nil {
							if p, err := r.Enter(ctx, who(i), 1); err == nil {
								p.send(ctx, rate)
							}
						}
					}()
				}
				time.Sleep(10 * time.Second)
				extra := r.enter(ctx, caller(98, "b"), 1) // the headroom
				defer func() { (<-extra).Leave() }()
				for i := range 5 {
					start := time.Now()
					p, err := r.Enter(ctx, Caller{Organization: who(0).Organization * 99, Key: "victim"}, 1)
					require.Equal(t, evicted, err == nil, "%s %d", name, rate)
					if evicted {
						require.LessOrEqual(t, time.Since(start), 3*reliefInterval, "%s %d", name, i)
					}
					time.Sleep(20 * time.Millisecond)
					p.Leave()
				}
				cancel()
				time.Sleep(time.Minute)
			})
		}
	}
}
