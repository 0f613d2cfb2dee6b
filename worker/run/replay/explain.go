package replay

import (
	"context"
	"time"

	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/worker/run/replay/action"
	"github.com/slipway-qa/slipway/worker/run/replay/failure"
	"github.com/slipway-qa/slipway/worker/run/replay/session"
)

// explainTimeout bounds the search for the elements that come nearest to one that a step needs.
const explainTimeout = 3 * time.Second

// explain returns what a failed step expected and found.
func (t *testExecution) explain(ctx context.Context, x *session.Execution, f *failure.Failure) *playback.Failure {
	said := func(text string) string { return t.Quote(text, playback.MaxSaid) }
	why := &playback.Failure{Expected: said(f.Expected), Actual: said(f.Actual)}
	if f.Expected == "" {
		why.Expected, why.Actual = said(titleOf(t, x.Index)), said(f.Text)
	}
	if f.Sought == nil || f.Broken || t.Live || t.Lease.Mobile || ctx.Err() != nil || session.IsErrorPage(t.Href) ||
		!(session.View{Execution: x}).Responds(ctx) {
		return why
	}
	ctx, cancel := context.WithTimeout(ctx, explainTimeout)
	defer cancel()
	why.Candidates = action.Action{Execution: x, At: &f.Sought.At}.Nearest(ctx, f.Sought)
	return why
}
