package replay

import (
	"context"
	"errors"
	"strings"

	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/run/network"
)

// openNetwork prepares what the steps on requests, downloads and the console need.
func (p preparation) openNetwork(ctx context.Context) error {
	s := p.session
	s.network = s.newNetwork()
	return p.pastDialogs(ctx, func() error { return s.network.Prepare(ctx, p.Steps) })
}

func (s *session) newNetwork() *network.Network {
	return network.New(network.Config{Session: s.driver, Local: s.Lease.Local, CheckURL: s.checkAddress, Quote: s.quote, Console: s.consoleErrors})
}

// closeNetwork ends it; a browser that may keep something of it is broken.
func (s *session) closeNetwork() (broken bool) { return s.network.Close(context.Background()) }

// useNetwork executes a step on requests, downloads or the console.
func (x *stepExecution) useNetwork(ctx context.Context, t step.Tool) error {
	err := x.pastDialogs(ctx, func() error { return x.network.Run(ctx, t, x.deadline) })
	var failed *network.Failure
	if !errors.As(err, &failed) {
		return err
	}
	code := run.CodeStepFailed
	if failed.Assertion {
		code = run.CodeAssertionFailed
	}
	return failf(code, "%s", failed.Text).expecting(failed.Expected, failed.Actual, nil)
}

// waitForURL waits until the address of the page is the one of a step.
func (x *stepExecution) waitForURL(ctx context.Context, at *elementLocation, a step.Args) error {
	wanted, err := x.urlRule(a)
	if err != nil {
		return err
	}
	err = assertion{x, at, wanted}.wait(ctx)
	var not *failure
	if errors.As(err, &not) && not.code == run.CodeAssertionFailed {
		not.code = run.CodeStepFailed // it claims nothing, and may be optional
	}
	return err
}

// urlRule is what the address must be: a glob, or what a matcher says.
func (x *stepExecution) urlRule(a step.Args) (*rule, error) {
	if a.Matcher != nil {
		return newRule(a, x.quote)
	}
	glob, err := step.ParseGlob(a.URL)
	if err != nil {
		return nil, stepf("the address %v", err)
	}
	return &rule{matcher: step.URLIs, mode: step.Matches, value: a.URL, show: x.quote, pattern: glob}, nil
}

// consoleErrors returns the lines of the console that are errors.
func (s *session) consoleErrors(ctx context.Context) (errors []string, lost, known bool) {
	if s.console == nil {
		return nil, false, false
	}
	lines, lost := s.consoleLines(ctx)
	for _, line := range lines {
		_, rest, _ := strings.Cut(line, " ") // behind the time
		if text, ok := strings.CutPrefix(rest, levels["error"]+" "); ok {
			errors = append(errors, text)
		}
	}
	return errors, lost, true
}
