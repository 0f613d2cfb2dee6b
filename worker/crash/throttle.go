package crash

import (
	"context"
	"time"

	"github.com/slipway-qa/slipway/tasks"
)

// Throttle makes processing give way to a receiver in the same process. A report
// that was accepted can wait; a client that crashes cannot. While some reports
// are being received, one job runs at a time. In a storm a job also rests nine
// times as long as it worked, so that the storm is taken in at full speed and
// the backlog still moves. A storm that goes on does not starve processing: what
// has waited for maxLag is worked on without rests, unless so much comes in that
// the machine can do nothing else. A worker without a receiver beside it has no
// Throttle.
type Throttle struct {
	waiting func() int
	slot    chan struct{}
	pause   time.Duration // after the last job, held with turn
}

const (
	// These are numbers of reports that wait for their commit at once: one job
	// at a time, rests, rests whatever waits. At the usual seven milliseconds
	// from request to answer they stand for about 1,000, 3,500 and 7,000
	// reports a second.
	oneAtATime  = 8
	pauseFrom   = 24
	pauseAlways = 48
	maxLag      = 30 * time.Second
	// maxPause is the longest rest of a job, so that the end of a storm is
	// noticed soon; pausePoll is how often it looks for that end.
	maxPause  = time.Second
	slotWait  = 20 * time.Second
	pausePoll = 20 * time.Millisecond
)

// NewThrottle makes a pace; crowd tells how many reports wait for their commit. It is
// asked often and must be cheap.
func NewThrottle(crowd func() int) *Throttle {
	return &Throttle{waiting: crowd, slot: make(chan struct{}, 1)}
}

// acquire waits for the turn of a job whose oldest report has waited for some time,
// and gives the function that ends it.
func (p *Throttle) acquire(ctx context.Context, waited time.Duration) (end func(), err error) {
	if p == nil || p.waiting() < oneAtATime {
		return func() {}, nil
	}
	select {
	case p.slot <- struct{}{}:
	case <-time.After(slotWait):
		// With many slots the last would wait its task's time away.
		return nil, &tasks.SnoozeError{For: time.Second}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	until := time.Now().Add(p.pause)
	for p.mustPause(waited) && time.Now().Before(until) {
		select {
		case <-ctx.Done():
			<-p.slot
			return nil, ctx.Err()
		case <-time.After(pausePoll):
		}
	}
	start := time.Now()
	return func() {
		p.pause = min(9*time.Since(start), maxPause)
		<-p.slot
	}, nil
}

// mustPause reports whether a job should rest for the receiver's sake.
func (p *Throttle) mustPause(waited time.Duration) bool {
	crowd := p.waiting()
	return crowd >= pauseAlways || crowd >= pauseFrom && waited < maxLag
}
