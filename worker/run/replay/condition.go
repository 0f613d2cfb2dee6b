package replay

import (
	"context"
	"errors"
	"time"

	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
)

// conditionTimeout is how long a condition may take to hold, unless it says so itself:
// as long as an optional step waits.
const conditionTimeout = optionalTimeout

// condition is the execution of the condition of a step.
type condition struct{ *stepExecution }

// newCondition returns the execution of the condition of a step, which is one of its
// own: its time is not the step's.
func (t *testExecution) newCondition(i int) condition {
	x := t.newStep(i)
	x.timeout = conditionTimeout
	if ms := t.Steps[i].When.TimeoutMS; ms > 0 {
		x.timeout = time.Duration(ms) * time.Millisecond
	}
	x.deadline = time.Now().Add(x.timeout)
	return condition{x}
}

// holds waits until a condition holds, in the frames and shadow roots of the step's tool.
// The failure describes why it does not. That a page cannot be looked at says nothing of
// the condition, and is an error.
func (x condition) holds(ctx context.Context, when *step.Condition, tool step.Tool) (not *failure, err error) {
	expanded, err := step.ExpandCondition(*when, x.value)
	if err != nil {
		return nil, x.unknown(err)
	}
	check := step.Args{Selector: expanded.Selector, Not: expanded.Not, Matcher: x.move().Matcher(expanded.Matcher)}
	if x.inApp(step.Tool{Type: step.Assert, Args: check}) {
		n := nativeAction(x)
		err = n.limited(ctx, 0, func(ctx context.Context) error { return n.assert(ctx, check) })
	} else {
		err = x.assertWhere(ctx, tool, check)
	}
	switch {
	case !errors.As(err, &not) || not.code != run.CodeAssertionFailed:
		return nil, err
	case not.unseen:
		return nil, stepf("the condition cannot be checked: %s", not.text)
	}
	return not, nil
}

// assertWhere checks an assertion where a tool acts.
func (x condition) assertWhere(ctx context.Context, stored step.Tool, args step.Args) error {
	tool, err := step.ExpandTool(stored, x.value)
	if err != nil {
		return x.unknown(err)
	}
	at, _, _, err := locate(tool, stored)
	if err != nil {
		return err
	}
	if args.Selector != nil {
		at.selector = pageSelectorOf(args.Selector)
	}
	defer x.resetFrame(ctx)
	return x.assert(ctx, at, args)
}
