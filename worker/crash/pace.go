package crash

import (
	"context"
	"time"

	"github.com/slipway-qa/slipway/tasks"
)

// Pace makes processing give way to a receiver in the same process. A report
// that was accepted can wait; a client that crashes cannot. While some reports
// are being received, one claim runs at a time. In a storm a claim also rests nine
// times as long as it worked, so that the storm is taken in at full speed and
// the backlog still moves. A storm that goes on does not starve processing: what
// has waited for paceLag is worked on without rests, unless so much comes in that
// the machine can do nothing else. A worker without a receiver beside it has no
// Pace.
type Pace struct {
	crowd func() int
	turn  chan struct{}
	rest  time.Duration // after the last claim, held with turn
}

const (
	// These are numbers of reports that wait for their commit at once: one claim
	// at a time, rests, rests whatever waits. At the usual seven milliseconds
	// from request to answer they stand for about 1,000, 3,500 and 7,000
	// reports a second.
	paceTurns = 8
	paceStorm = 24
	paceFlood = 48
	paceLag   = 30 * time.Second
	// paceRest is the longest rest of a claim, so that the end of a storm is
	// noticed soon; paceLook is how often it looks for that end.
	paceRest = time.Second
	paceWait = 20 * time.Second
	paceLook = 20 * time.Millisecond
)

// NewPace makes a pace; crowd tells how many reports wait for their commit. It is
// asked often and must be cheap.
func NewPace(crowd func() int) *Pace { return &Pace{crowd: crowd, turn: make(chan struct{}, 1)} }

// begin waits for the turn of a claim whose oldest report has waited for some time,
// and gives the function that ends it.
func (p *Pace) begin(ctx context.Context, waited time.Duration) (end func(), err error) {
	if p == nil || p.crowd() < paceTurns {
		return func() {}, nil
	}
	select {
	case p.turn <- struct{}{}:
	case <-time.After(paceWait):
		// With many slots the last would wait its task's time away.
		return nil, &tasks.SnoozeError{For: time.Second}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	until := time.Now().Add(p.rest)
	for p.rests(waited) && time.Now().Before(until) {
		select {
		case <-ctx.Done():
			<-p.turn
			return nil, ctx.Err()
		case <-time.After(paceLook):
		}
	}
	start := time.Now()
	return func() {
		p.rest = min(9*time.Since(start), paceRest)
		<-p.turn
	}, nil
}

// rests reports whether a claim should rest for the receiver's sake.
func (p *Pace) rests(waited time.Duration) bool {
	crowd := p.crowd()
	return crowd >= paceFlood || crowd >= paceStorm && waited < paceLag
}
