// Package remote tells remote addresses apart and limits how often one of them may
// do something: send wrong credentials, ask for a sign-in link.
//
// What counts as one remote is an IPv4 address, or the /64 network that one IPv6
// customer has. A Brake remembers a bounded number of remotes, and forgets the one
// that came longest ago first.
package remote

import (
	"container/list"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// maxRemotes bounds the memory of a brake: some 200 bytes each.
const maxRemotes = 10_000

// Brake limits a rate by remote address. It is safe for concurrent use.
type Brake struct {
	limit rate.Limit
	burst int
	now   func() time.Time

	mu      sync.Mutex
	remotes map[remoteKey]*list.Element
	ordered *list.List // of *remote, most recent first
}

type remote struct {
	key     remoteKey
	limiter *rate.Limiter
}

// remoteKey is an address, and what it asks for where that is counted apart.
type remoteKey struct {
	network netip.Prefix
	what    string
}

// NewBrake lets each remote through perMinute times a minute, all of them at once
// if it likes.
func NewBrake(perMinute int, now func() time.Time) *Brake {
	return &Brake{limit: rate.Limit(float64(perMinute) / 60), burst: perMinute, now: now,
		remotes: map[remoteKey]*list.Element{}, ordered: list.New()}
}

// NewHourlyBrake is NewBrake for perHour times an hour.
func NewHourlyBrake(perHour int, now func() time.Time) *Brake {
	b := NewBrake(perHour, now)
	b.limit /= 60
	return b
}

// Wait notes one more time and gives 0, or how long until the next one is let
// through.
func (b *Brake) Wait(address string) time.Duration { return b.WaitFor(address, "") }

// Blocked reports whether an address would not be let through to what it asks for. It
// notes nothing.
func (b *Brake) Blocked(address, what string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	e, ok := b.remotes[remoteKey{Network(address), what}]
	return ok && e.Value.(*remote).limiter.TokensAt(b.now()) < 1
}

// WaitFor is Wait, counted apart for each thing that the address asks for.
func (b *Brake) WaitFor(address, what string) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	key, now := remoteKey{Network(address), what}, b.now()
	e, ok := b.remotes[key]
	if !ok {
		if b.ordered.Len() >= maxRemotes {
			delete(b.remotes, b.ordered.Remove(b.ordered.Back()).(*remote).key)
		}
		e = b.ordered.PushFront(&remote{key, rate.NewLimiter(b.limit, b.burst)})
		b.remotes[key] = e
	}
	b.ordered.MoveToFront(e)
	limiter := e.Value.(*remote).limiter
	if limiter.AllowN(now, 1) {
		return 0
	}
	missing := 1 - limiter.TokensAt(now)
	return max(time.Second, time.Duration(missing/float64(b.limit)*float64(time.Second)))
}

// Network is what counts as one remote: an IPv4 address, or the /64 that one IPv6
// customer has. What cannot be read counts together.
func Network(address string) netip.Prefix {
	addr, err := netip.ParseAddr(address)
	if err != nil {
		return netip.Prefix{}
	}
	addr = addr.Unmap().WithZone("")
	bits := 32
	if addr.Is6() {
		bits = 64
	}
	p, _ := addr.Prefix(bits) // the number of bits fits the address
	return p
}
