package session

import (
	"context"
	"errors"

	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/worker/browser"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
	"github.com/slipway-qa/slipway/worker/run/replay/failure"
)

// errDriverLost is why the context of a test ends whose driver has ended.
var errDriverLost = errors.New("the driver of the browser ended")

// WatchDriver returns a context that ends with the driver of the lease: a step that waits
// for it would wait for as long as it may.
func WatchDriver(ctx context.Context, lease *browser.Lease) (context.Context, func()) {
	if lease.Lost() == nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		select {
		case <-lease.Lost():
			cancel(errDriverLost)
		case <-done:
		}
	}()
	return ctx, func() { close(done); cancel(nil) }
}

// FailureOf returns the failure of an error of any kind.
func (s *Session) FailureOf(ctx context.Context, err error) *failure.Failure {
	var f *failure.Failure
	if errors.Is(context.Cause(ctx), errDriverLost) {
		return &failure.Failure{Code: run.CodeBrowserLost, Text: "the driver of the browser ended", Broken: true}
	}
	if ctx.Err() == nil && errors.As(err, &f) {
		return f
	}
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return &failure.Failure{Code: run.CodeTimeout, Text: "the test took longer than it may", Broken: true}
	case ctx.Err() != nil:
		return &failure.Failure{Code: run.CodeCancelled, Text: "the test was cancelled", Broken: true}
	case s.Lease.Exceeded() != "":
		return &failure.Failure{Code: run.CodeBrowserLost, Text: s.Lease.Exceeded(), Broken: true}
	case failure.Lost(err):
		s.Log.WarnContext(ctx, "browser lost", "error", s.Secrets.Redact(err.Error()))
		text := "the browser or its page crashed"
		if s.Lease.Mobile {
			text = "the device or its driver was lost"
		}
		return &failure.Failure{Code: run.CodeBrowserLost, Text: text, Broken: true}
	case webdriver.Is(err, webdriver.ErrNoSuchWindow):
		return failure.Stepf("the window is closed")
	}
	var e *webdriver.Error
	if errors.As(err, &e) && s.Lease.Mobile {
		return failure.Stepf("the driver says: %s", s.Quote(e.Message, 300))
	}
	if errors.As(err, &e) {
		return failure.Stepf("the browser says: %s", s.Quote(e.Message, 300))
	}
	s.Log.ErrorContext(ctx, "step failed without a reason of the browser", "error", s.Secrets.Redact(err.Error()))
	return &failure.Failure{Code: run.CodeInternal, Text: "the step could not be played", Broken: true}
}
