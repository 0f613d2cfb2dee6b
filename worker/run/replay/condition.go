package replay

import (
	"context"
	"errors"
	"time"

	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/run/replay/app"
	"github.com/slipway-qa/slipway/worker/run/replay/assertion"
	"github.com/slipway-qa/slipway/worker/run/replay/failure"
	"github.com/slipway-qa/slipway/worker/run/replay/page"
	"github.com/slipway-qa/slipway/worker/run/replay/session"
)

// conditionTimeout is how long a condition may take to hold, unless it says so itself:
// as long as an optional step waits.
const conditionTimeout = optionalTimeout

// condition is the execution of the condition of a step.
type condition struct{ *session.Execution }

// newCondition returns the execution of the condition of a step, which is one of its
// own: its time is not the step's.
func (t *testExecution) newCondition(i int) condition {
	x := t.newStep(i)
	x.Timeout = conditionTimeout
	if ms := t.Steps[i].When.TimeoutMS; ms > 0 {
		x.Timeout = time.Duration(ms) * time.Millisecond
	}
	x.Deadline = time.Now().Add(x.Timeout)
	return condition{x}
}

// holds waits until a condition holds, in the frames and shadow roots of the step's tool.
// The failure describes why it does not. That a page cannot be looked at says nothing of
// the condition, and is an error.
func (x condition) holds(ctx context.Context, when *step.Condition, tool step.Tool) (not *failure.Failure, err error) {
	expanded, err := step.ExpandCondition(*when, x.Value)
	if err != nil {
		return nil, x.Unknown(err)
	}
	check := step.Args{Selector: expanded.Selector, Not: expanded.Not, Matcher: x.Move().Matcher(expanded.Matcher)}
	if x.InApp(step.Tool{Type: step.Assert, Args: check}) {
		n := app.Action{Execution: x.Execution}
		err = n.Limited(ctx, 0, func(ctx context.Context) error { return n.Assert(ctx, check) })
	} else {
		err = x.assertWhere(ctx, tool, check)
	}
	switch {
	case !errors.As(err, &not) || not.Code != run.CodeAssertionFailed:
		return nil, err
	case not.Unseen:
		return nil, failure.Stepf("the condition cannot be checked: %s", not.Text)
	}
	return not, nil
}

// assertWhere checks an assertion where a tool acts.
func (x condition) assertWhere(ctx context.Context, stored step.Tool, args step.Args) error {
	tool, err := step.ExpandTool(stored, x.Value)
	if err != nil {
		return x.Unknown(err)
	}
	at, _, _, err := locate(tool, stored)
	if err != nil {
		return err
	}
	if args.Selector != nil {
		at.Selector = page.SelectorOf(args.Selector)
	}
	defer x.ResetFrame(ctx)
	return assertion.Check{Execution: x.Execution}.Assert(ctx, at, args)
}
