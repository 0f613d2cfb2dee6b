package plan

import (
	"context"

	"github.com/slipway-qa/slipway/worker/generation/intent"
)

// executor does the instructions of one kind, as steps on the planner's page.
type executor func(ctx context.Context, p *planner, in *intent.Instruction) error

// executorOf returns the executor of a kind; nil without one.
func executorOf(kind intent.Kind) executor {
	switch kind {
	case intent.Click, intent.DoubleClick, intent.RightClick, intent.Hover:
		return use
	case intent.Fill, intent.Append, intent.Clear:
		return fill
	default:
		return widgetExecutorOf(kind)
	}
}

// usesDetails reports whether the executor of a kind does what is said of an activity
// besides: what it does not know must not be left out.
func usesDetails(kind intent.Kind) bool { return kind == intent.Sort }
