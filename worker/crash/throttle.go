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
// speed and the backlog still shrinks. A long burst does not starve processing: once
// reports are older than maxLag the pauses are half as long as the work, and from twice that
// on there are none, unless so many come in that the machine can do nothing else. A worker
// without a receiver beside it has no Throttle.
type Throttle struct {
	waiting func() int
	slot    chan struct{}
	worked  time.Duration // on the last claim; guarded by slot
}

const (
	// These are numbers of reports that wait for their commit at the same moment:
	// from the first on, one claim at a time; from the second, with pauses; from the
	// third, with pauses however old the oldest report is. At the usual seven
	// milliseconds from request to response they stand for about 1,000, 3,500 and
	// 7,500 reports a second; on a machine of half the speed for half of that. The third
	// is far above the second: what is processed slows responses down, so more requests
	// wait, and reports of a rate that can be held would wait for seconds.
	oneAtATime  = 8
	pauseFrom   = 24
	pauseAlways = 52
	// maxLag is the age from which a report is processed with short pauses: at a rate that
	// can be held for long, the oldest one waits about as long and not more. At lateLag the
	// pauses end: what is processed late goes on until it is no longer late.
	maxLag  = 300 * time.Millisecond
	lateLag = 2 * maxLag
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

// claimWeight returns the weight of a claim: a fourth of the most beside a receiver that
// works, a sixteenth in a flood, since its slowest responses wait for a claim to end. Small
// claims cost more for each report, since each has its statements: with sixteenths at four
// tenths of a burst, reports waited for five seconds where they waited for one and a half.
func (t *Throttle) claimWeight(most int) int {
	if t == nil {
		return most
	}
	switch waiting := t.waiting(); {
	case waiting < oneAtATime:
		return most
	case waiting < pauseAlways:
		return max(most/4, 1)
	}
	return max(most/16, 1)
}

// acquire waits until a part of a claim may be processed whose oldest report has waited for
// age, and returns the function to call at its end. The report goes on ageing meanwhile.
func (t *Throttle) acquire(ctx context.Context, age time.Duration) (release func(), err error) {
	if t == nil || t.waiting() < oneAtATime {
		return func() {}, nil
	}
	asked := time.Now()
	select {
	case t.slot <- struct{}{}:
	case <-time.After(slotWait):
		// With many workers the last one would spend its task's time here.
		return nil, &tasks.SnoozeError{For: time.Second}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	for began := time.Now(); time.Since(began) < t.pauseFor(age+time.Since(asked)); {
		select {
		case <-ctx.Done():
			<-t.slot
			return nil, ctx.Err()
		case <-time.After(pausePoll):
		}
	}
	start := time.Now()
	return func() {
		t.worked = time.Since(start)
		<-t.slot
	}, nil
}

// pauseFor returns how long to pause for the receiver's sake: nine times as long as the
// last claim took, half as long once the oldest report has waited for maxLag, and not at all
// once it has waited for lateLag.
func (t *Throttle) pauseFor(age time.Duration) time.Duration {
	waiting := t.waiting()
	switch {
	case waiting < pauseFrom:
		return 0
	case waiting < pauseAlways && age >= lateLag:
		return 0
	case waiting < pauseAlways && age >= maxLag:
		return min(t.worked/2, maxPause)
	}
	return min(9*t.worked, maxPause)
}
