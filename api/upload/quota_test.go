package upload

import (
	"context"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/remote"
)

// TestReservations: one address never has it all, and who cannot be served does
// not hold up the others.
func TestReservations(t *testing.T) {
	t.Parallel()
	a, b, c := remote.Network("192.0.2.1"), remote.Network("192.0.2.2"), remote.Network("192.0.2.3")
	r := newReservations(quota{4, 100}, quota{3, 60})
	now, cancel := context.WithCancel(t.Context())
	cancel()
	at := func(from netip.Prefix, uploads int, bytes int64) bool {
		return r.reserve(now, from, quota{uploads, bytes})
	}
	for range 3 {
		require.True(t, at(a, 1, 10))
	}
	require.False(t, at(a, 1, 10), "three uploads for one address")
	require.True(t, at(b, 1, 10))
	require.False(t, at(c, 1, 10), "four uploads in all")
	require.True(t, at(a, 0, 30))
	require.False(t, at(a, 0, 10), "60 bytes for one address")
	require.False(t, at(b, 0, 40), "100 bytes in all")
	require.True(t, at(b, 0, 30))
	require.Empty(t, r.waiting)

	// The first of the queue needs more than comes free.
	took := make(chan string, 3)
	wait := func(name string, from netip.Prefix, amount quota, position int) {
		go func() {
			if r.reserve(t.Context(), from, amount) {
				took <- name
			}
		}()
		require.Eventually(t, func() bool {
			r.mu.Lock()
			defer r.mu.Unlock()
			return len(r.waiting) == position
		}, waitFor, tick)
	}
	wait("large", a, quota{bytes: 40}, 1)
	wait("own quota used", a, quota{bytes: 10}, 2)
	wait("small", c, quota{1, 10}, 3)
	r.release(b, quota{1, 10})
	require.Equal(t, "small", <-took)
	r.release(a, quota{1, 10})
	require.Equal(t, "own quota used", <-took)
	r.release(a, quota{2, 60})
	require.Equal(t, "large", <-took)
	r.release(a, quota{bytes: 40})
	r.release(b, quota{bytes: 30})
	r.release(c, quota{1, 10})
	require.Equal(t, quota{}, r.reserved)
	require.Empty(t, r.byFrom)
	require.Empty(t, r.waiting)
}

// TestQueueIsBounded: those that wait cost something too.
func TestQueueIsBounded(t *testing.T) {
	t.Parallel()
	r := newReservations(quota{1, 1}, quota{1, 1})
	from := remote.Network("192.0.2.1")
	require.NotNil(t, r.enqueue(from, quota{1, 1}))
	for range maxWaitingPerAddress {
		require.NotNil(t, r.enqueue(from, quota{1, 1}))
	}
	require.Nil(t, r.enqueue(from, quota{1, 1}))
	for i := range maxWaiting - maxWaitingPerAddress {
		require.NotNil(t, r.enqueue(netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}), 32), quota{1, 1}))
	}
	require.Nil(t, r.enqueue(remote.Network("192.0.2.2"), quota{1, 1}))
}
