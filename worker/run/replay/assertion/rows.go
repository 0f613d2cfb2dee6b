package assertion

import (
	"context"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/run/replay/failure"
	"github.com/slipway-qa/slipway/worker/run/replay/page"
	"github.com/slipway-qa/slipway/worker/run/replay/session"
)

// CountRows waits until there are rows and returns how many.
func (x Check) CountRows(ctx context.Context, at *page.Location, a step.Args) (int, error) {
	rule, err := NewRule(step.Args{Selector: a.Selector, Matcher: &step.Matcher{Name: step.Count,
		Args: step.MatcherArgs{Value: "1", Mode: step.AtLeast}}}, x.Quote)
	if err != nil {
		return 0, err
	}
	most := step.MaxIterations
	if a.Max != nil {
		most = *a.Max
	}
	look := assertion{x.Execution, at, rule}
	q := observeQuery{Want: rule.want(), Hosts: page.OrEmpty(at.Hosts), Selector: at.Selector, First: x.FirstMatch, Max: MaxSeen}
	count := 0
	err = x.Until(ctx, session.RetryPause, func() (bool, *failure.Failure, error) {
		none := failure.Stepf("%s: there is no row", x.ShowSelector(at.Selector))
		got, err := look.observe(ctx, q)
		switch {
		case err != nil || got == nil:
			return false, none, err
		case got.Invalid != "":
			return false, nil, failure.Stepf("%s: %s", x.ShowSelector(at.Selector), x.Quote(got.Invalid, 300))
		case got.Several != nil:
			return false, x.SeveralFailure(got.Several), nil
		case got.Seen == nil || got.Seen.Count == 0:
			return false, none, nil
		case got.Seen.Count > most:
			return false, nil, failure.Stepf("%s: there are %d rows, and the step goes through at most %d",
				x.ShowSelector(at.Selector), got.Seen.Count, most)
		}
		count = got.Seen.Count
		return true, nil, nil
	})
	return count, err
}
