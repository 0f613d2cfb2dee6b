package agent

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/time/rate"
)

// Pace bounds the calls of one agent.
type Pace struct {
	Concurrent int // calls; others wait
	PerMinute  int // calls; others are refused
}

// StdioPace is what one agent asks in a quick minute, and what a server answers easily.
func StdioPace() Pace { return Pace{Concurrent: 4, PerMinute: 120} }

// pacer keeps a Pace; nil keeps none.
type pacer struct {
	places  chan struct{}
	limiter *rate.Limiter
	perMin  int
}

func newPacer(p Pace) *pacer {
	if p.Concurrent <= 0 || p.PerMinute <= 0 {
		return nil
	}
	return &pacer{places: make(chan struct{}, p.Concurrent), perMin: p.PerMinute,
		limiter: rate.NewLimiter(rate.Every(time.Minute/time.Duration(p.PerMinute)), p.PerMinute)}
}

// enter waits for a place; leave must follow.
func (p *pacer) enter(ctx context.Context) (leave func(), err error) {
	if p == nil {
		return func() {}, nil
	}
	if !p.limiter.Allow() {
		return nil, &callError{refused, fmt.Sprintf("too many calls: %d a minute are let through, wait some seconds", p.perMin)}
	}
	select {
	case p.places <- struct{}{}:
		return func() { <-p.places }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
