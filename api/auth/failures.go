package auth

import (
	"container/list"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// maxAddresses bounds the memory of failures: some 200 bytes each. The address
// that failed longest ago is forgotten first.
const maxAddresses = 10_000

// failures counts wrong credentials by remote address.
type failures struct {
	limit rate.Limit
	burst int
	now   func() time.Time

	mu      sync.Mutex
	byAddr  map[netip.Prefix]*list.Element
	ordered *list.List // of *failing, most recent first
}

type failing struct {
	addr    netip.Prefix
	limiter *rate.Limiter
}

func newFailures(perMinute int, now func() time.Time) *failures {
	return &failures{limit: rate.Limit(float64(perMinute) / 60), burst: perMinute, now: now,
		byAddr: map[netip.Prefix]*list.Element{}, ordered: list.New()}
}

// count notes a failure and gives 0, or the time until the next one is answered
// normally.
func (f *failures) count(remote string) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	addr, now := network(remote), f.now()
	e, ok := f.byAddr[addr]
	if !ok {
		if f.ordered.Len() >= maxAddresses {
			last := f.ordered.Back()
			delete(f.byAddr, f.ordered.Remove(last).(*failing).addr)
		}
		e = f.ordered.PushFront(&failing{addr, rate.NewLimiter(f.limit, f.burst)})
		f.byAddr[addr] = e
	}
	f.ordered.MoveToFront(e)
	limiter := e.Value.(*failing).limiter
	if limiter.AllowN(now, 1) {
		return 0
	}
	missing := 1 - limiter.TokensAt(now)
	return max(time.Second, time.Duration(missing/float64(f.limit)*float64(time.Second)))
}

// network is what counts as one remote: an IPv4 address, or the /64 that one
// IPv6 customer has. What cannot be read counts together.
func network(remote string) netip.Prefix {
	addr, err := netip.ParseAddr(remote)
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
