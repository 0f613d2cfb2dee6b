package assertion

import (
	"context"
	"errors"

	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/run/replay/failure"
	"github.com/slipway-qa/slipway/worker/run/replay/page"
)

// WaitForURL waits until the address of the page is the one of a step.
func (x Check) WaitForURL(ctx context.Context, at *page.Location, a step.Args) error {
	wanted, err := x.urlRule(a)
	if err != nil {
		return err
	}
	err = assertion{x.Execution, at, wanted}.wait(ctx)
	var not *failure.Failure
	if errors.As(err, &not) && not.Code == run.CodeAssertionFailed {
		not.Code = run.CodeStepFailed // it claims nothing, and may be optional
	}
	return err
}

// urlRule is what the address must be: a glob, or what a matcher says.
func (x Check) urlRule(a step.Args) (*Rule, error) {
	if a.Matcher != nil {
		return NewRule(a, x.Quote)
	}
	glob, err := step.ParseGlob(a.URL)
	if err != nil {
		return nil, failure.Stepf("the address %v", err)
	}
	return &Rule{Matcher: step.URLIs, mode: step.Matches, value: a.URL, show: x.Quote, pattern: glob}, nil
}
