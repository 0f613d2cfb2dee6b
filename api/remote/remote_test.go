package remote

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestBrakeIsBounded(t *testing.T) {
	t.Parallel()
	f := NewBrake(1, func() time.Time { return time.Unix(0, 0) })
	for i := range maxRemotes + 500 {
		f.Wait(fmt.Sprintf("10.%d.%d.%d", i>>16, i>>8&255, i&255))
	}
	require.Len(t, f.remotes, maxRemotes)
	require.Equal(t, maxRemotes, f.ordered.Len())
	require.Positive(t, f.Wait(fmt.Sprintf("10.0.%d.%d", (maxRemotes+499)>>8&255, (maxRemotes+499)&255)), "a recent one is remembered")
	require.Zero(t, f.Wait("10.0.0.0"), "the oldest was forgotten")
	// One customer's IPv6 addresses count together.
	require.Zero(t, f.Wait("2001:db8::1"))
	require.Positive(t, f.Wait("2001:db8::ffff:2"))
	require.Zero(t, f.Wait("2001:db8:0:1::1"))
	require.Zero(t, f.Wait("not an address"))
	require.Positive(t, f.Wait(""))
	// An IPv4 address that came over IPv6 is the same address.
	require.Zero(t, f.Wait("192.0.2.9"))
	require.Positive(t, f.Wait("::ffff:192.0.2.9"))
}

func TestBrakeLetsThroughAgain(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	b := NewBrake(2, func() time.Time { return now })
	require.Zero(t, b.Wait("192.0.2.1"))
	require.Zero(t, b.Wait("192.0.2.1"))
	require.Equal(t, 30*time.Second, b.Wait("192.0.2.1").Round(time.Second))
	require.Zero(t, b.Wait("192.0.2.2"))
	require.Zero(t, b.Wait("2001:db8::1"))
	require.Zero(t, b.Wait("2001:db8::2"))
	require.NotZero(t, b.Wait("2001:db8::3"), "one customer has a /64")
	require.Zero(t, b.Wait("no address"))
	now = now.Add(30 * time.Second)
	require.Zero(t, b.Wait("192.0.2.1"))
	require.NotZero(t, b.Wait("192.0.2.1"))
}

func TestNetwork(t *testing.T) {
	t.Parallel()
	require.Equal(t, Network("192.0.2.1"), Network("::ffff:192.0.2.1"))
	require.NotEqual(t, Network("192.0.2.1"), Network("192.0.2.2"))
	require.Equal(t, Network("2001:db8::1"), Network("2001:db8::2:0:0:1"))
	require.NotEqual(t, Network("2001:db8::1"), Network("2001:db8:0:1::1"))
	require.Equal(t, Network("fe80::1%eth0"), Network("fe80::1"))
	require.Equal(t, Network(""), Network("nonsense"))
}
