package browsing

import (
	"context"
	"errors"

	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/run/network"
	"github.com/slipway-qa/slipway/worker/run/replay/failure"
	"github.com/slipway-qa/slipway/worker/run/replay/session"
)

// Network is a step on requests, downloads or the console.
type Network struct{ *session.Execution }

// Run executes a step on requests, downloads or the console.
func (x Network) Run(ctx context.Context, t step.Tool) error {
	err := x.PastDialogs(ctx, func() error { return x.Network.Run(ctx, t, x.Deadline) })
	var failed *network.Failure
	if !errors.As(err, &failed) {
		return err
	}
	code := run.CodeStepFailed
	if failed.Assertion {
		code = run.CodeAssertionFailed
	}
	return failure.Newf(code, "%s", failed.Text).Expecting(failed.Expected, failed.Actual, nil)
}
