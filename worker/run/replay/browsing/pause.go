package browsing

import (
	"context"
	"time"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/run/replay/session"
)

// Pause is a step that waits for a time.
type Pause struct{ *session.Execution }

// Wait waits for as long as the step says, or until the browser is lost.
func (x Pause) Wait(ctx context.Context, ms *int) error {
	if ms == nil || *ms <= 0 {
		return nil
	}
	end := time.Now().Add(time.Duration(min(*ms, step.MaxWaitMS)) * time.Millisecond)
	for left := time.Until(end); left > 0; left = time.Until(end) {
		if err := session.Sleep(ctx, min(left, session.HeartbeatEvery)); err != nil {
			return err
		}
		if err := x.Heartbeat(ctx); err != nil {
			return err
		}
	}
	return nil
}
