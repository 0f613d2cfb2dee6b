package api

import (
	"log/slog"
	"net/netip"
	"sync"
	"time"

	"github.com/slipway-qa/slipway/api/remote"
)

const (
	// refusalPeriod is the time in which refusals of a kind have one line.
	refusalPeriod = time.Minute
	// refusalKinds bounds the kinds that are told apart, some 100 bytes each; further
	// addresses count together.
	refusalKinds = 5000
)

// refusal is what refused requests without a caller have in common.
type refusal struct {
	from   netip.Prefix
	route  string
	status int
}

// refusals bound the log of refused requests whose caller nobody knows: anyone can send as
// many as the network carries. The first of a kind in a minute has its line as all requests
// have; those that follow are counted, and the count has one line at the end.
type refusals struct {
	log *slog.Logger

	mu    sync.Mutex
	kinds map[refusal]*repeats
	timer *time.Timer // runs while there are kinds
}

type repeats struct {
	since time.Time
	n     int
}

func newRefusals(log *slog.Logger) *refusals {
	return &refusals{log: log, kinds: map[refusal]*repeats{}}
}

// first reports whether a refusal is the first of its kind, and is to be logged.
func (r *refusals) first(address, route string, status int) bool {
	k := refusal{remote.Network(address), route, status}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.kinds) >= refusalKinds && r.kinds[k] == nil {
		k.from = netip.Prefix{}
	}
	if seen := r.kinds[k]; seen != nil {
		seen.n++
		return false
	}
	r.kinds[k] = &repeats{since: time.Now()}
	if r.timer == nil {
		r.timer = time.AfterFunc(refusalPeriod, r.flush)
	}
	return true
}

// flush writes the counts of kinds whose time is over.
func (r *refusals) flush() {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	for k, seen := range r.kinds {
		if now.Sub(seen.since) < refusalPeriod {
			continue
		}
		delete(r.kinds, k)
		if seen.n == 0 {
			continue
		}
		from := "others"
		if k.from.IsValid() {
			from = k.from.String()
		}
		r.log.Info("requests refused", "count", seen.n, "status", k.status, "route", k.route, "remote", from,
			"since", seen.since.UTC().Format(time.RFC3339), "routine", true)
	}
	r.timer = nil
	if len(r.kinds) > 0 {
		r.timer = time.AfterFunc(refusalPeriod/4, r.flush)
	}
}
