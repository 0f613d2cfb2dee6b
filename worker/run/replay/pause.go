package replay

import (
	"context"
	"time"

	"github.com/slipway-qa/slipway/storage/step"
)

const (
	// heartbeatEvery is how often a pause looks whether the browser is still there: one
	// command of some milliseconds.
	heartbeatEvery = time.Second
	// heartbeatTimeout is how long that may take. A browser that is only busy is there.
	heartbeatTimeout = 10 * time.Second
)

// pause waits for as long as the step says, or until the browser is lost.
func (x *stepExecution) pause(ctx context.Context, ms *int) error {
	if ms == nil || *ms <= 0 {
		return nil
	}
	end := time.Now().Add(time.Duration(min(*ms, step.MaxWaitMS)) * time.Millisecond)
	for left := time.Until(end); left > 0; left = time.Until(end) {
		if err := sleep(ctx, min(left, heartbeatEvery)); err != nil {
			return err
		}
		if err := x.heartbeat(ctx); err != nil {
			return err
		}
	}
	return nil
}

// heartbeat returns the error of a browser that is lost. The list of its windows is what
// it can be asked for whatever its pages do.
func (s *session) heartbeat(ctx context.Context) error {
	if s.Lease.Mobile {
		return nil
	}
	inner, cancel := context.WithTimeout(ctx, heartbeatTimeout)
	defer cancel()
	_, err := s.driver.Windows(inner)
	if inner.Err() == nil && lost(err) {
		return err
	}
	return ctx.Err()
}
