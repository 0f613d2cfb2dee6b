package crash

import (
	"context"
	"time"

	"github.com/slipway-qa/slipway/tasks"
)

// Throttle slows processing down while a receiver in the same process is busy. A
// report that was accepted can wait; a client that crashes cannot. While some
// reports are being received, one claim is processed at a time. In a burst it also pauses
// nine times as long as the last one worked, so that the burst is received at full
// speed and the backlog still shrinks. A long burst does not starve processing:
// reports older than maxLag are processed without pauses, unless so many come in
// that the machine can do nothing else. A worker without a receiver beside it has
// no Throttle.
type Throttle struct {
	waiting func() int
	slot    chan struct{}
	pause   time.Duration // after the last claim; guarded by slot
}

const (
	// These are numbers of reports that wait for their commit at the same moment:
	// from the first on, one claim at a time; from the second, with pauses; from the
	// third, with pauses however old the oldest report is. At the usual seven
	// milliseconds from request to response they stand for about 1,000, 3,500 and
	// 7,000 reports a second.
	oneAtATime  = 8
	pauseFrom   = 24
	pauseAlways = 48
	// maxLag is the age from which a report is processed without pauses.
	maxLag = 30 * time.Second
	// maxPause is the longest pause after a claim, so that the end of a burst is noticed
	// soon; pausePoll is how often the pause checks for that end.
	maxPause  = time.Second
	pausePoll = 20 * time.Millisecond
	// slotWait is how long a claim waits for its slot before its task is snoozed.
	slotWait = 20 * time.Second
)

// NewThrottle returns a throttle. waiting returns how many reports wait for their
// commit; it is called often and must be cheap.
func NewThrottle(waiting func() int) *Throttle {
	return &Throttle{waiting: waiting, slot: make(chan struct{}, 1)}
}

// acquire waits until a claim may be processed whose oldest task has waited for age,
// and returns
// the function to call at its end.
func (t *Throttle) acquire(ctx context.Context, age time.Duration) (release func(), err error) {
	if t == nil || t.waiting() < oneAtATime {
		return func() {}, nil
	}
	select {
	case t.slot <- struct{}{}:
	case <-time.After(slotWait):
		// With many workers the last one would spend its task's time here.
		return nil, &tasks.SnoozeError{For: time.Second}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	until := time.Now().Add(t.pause)
	for t.mustPause(age) && time.Now().Before(until) {
		select {
		case <-ctx.Done():
			<-t.slot
			return nil, ctx.Err()
		case <-time.After(pausePoll):
		}
	}
	start := time.Now()
	return func() {
		t.pause = min(9*time.Since(start), maxPause)
		<-t.slot
	}, nil
}

// mustPause reports whether to pause for the receiver's sake.
func (t *Throttle) mustPause(age time.Duration) bool {
	waiting := t.waiting()
	return waiting >= pauseAlways || waiting >= pauseFrom && age < maxLag
}
