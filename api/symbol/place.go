package symbol

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/slipway-qa/slipway/api/respond"
)

const (
	// unpackSlots members of archives are unpacked at once; each takes a processor, and
	// some MiB.
	unpackSlots = 8
	// unpackShare of them are for one organization: its slow clients leave room for others.
	unpackShare = 3
	// unpackWait is how long one waits for its place.
	unpackWait = 10 * time.Second
)

// places bounds the members of archives on their way out, in all and by organization.
type places struct {
	all  chan struct{}
	wait time.Duration

	mu     sync.Mutex
	shares map[int64]*placeShare
}

// placeShare is there while the organization has or awaits a place.
type placeShare struct {
	users int
	held  chan struct{}
}

func newPlaces(wait time.Duration) *places {
	return &places{all: make(chan struct{}, unpackSlots), wait: wait, shares: map[int64]*placeShare{}}
}

// take waits until another member of the organization may be unpacked: first for a place in
// its share, so that those who wait keep none from others.
func (p *places) take(ctx context.Context, organization int64) (release func(), err error) {
	s := p.enter(organization)
	waiting, cancel := context.WithTimeoutCause(ctx, p.wait, &respond.Problem{Status: http.StatusServiceUnavailable,
		RetryAfter: unpackWait, Text: "too many files are being unpacked: try again later"})
	defer cancel()
	if !put(waiting, s.held) {
		p.leave(organization)
		return nil, context.Cause(waiting)
	}
	if !put(waiting, p.all) {
		<-s.held
		p.leave(organization)
		return nil, context.Cause(waiting)
	}
	return func() {
		<-p.all
		<-s.held
		p.leave(organization)
	}, nil
}

// put waits for room in a channel until ctx ends; where there is room it never fails.
func put(ctx context.Context, to chan struct{}) bool {
	select {
	case to <- struct{}{}:
		return true
	default:
	}
	select {
	case to <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func (p *places) enter(organization int64) *placeShare {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.shares[organization]
	if s == nil {
		s = &placeShare{held: make(chan struct{}, unpackShare)}
		p.shares[organization] = s
	}
	s.users++
	return s
}

func (p *places) leave(organization int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.shares[organization]
	if s.users--; s.users == 0 {
		delete(p.shares, organization)
	}
}
