package replay

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/slipway-qa/slipway/worker/browser/webdriver"
	"github.com/slipway-qa/slipway/worker/run/emulate"
)

const (
	// maxPageWait is how long one call waits in the page. A navigation or a dialog
	// costs no more than what is left of it.
	maxPageWait = 3 * time.Second
	// retryPause is the pause after a call that a navigation ended.
	retryPause = 20 * time.Millisecond
	// maxResult bounds what a script returns: the page decides what that is.
	maxResult = 8 << 20
)

// scriptTimeout ends a call in a page that does not respond; calls wait for at most
// maxPageWait.
func (s *session) scriptTimeout() time.Duration { return maxPageWait + s.Grace }

// execute runs a script in the page, for no longer than what is left of the step
// and a grace, and reads its result into out (nil: it is dropped).
func (x *stepExecution) execute(ctx context.Context, script string, out any, args ...any) error {
	return x.executeFor(ctx, max(time.Until(x.deadline), 0), script, out, args...)
}

// executeFor is execute for a script that may take some time.
func (s *session) executeFor(ctx context.Context, time time.Duration, script string, out any, args ...any) error {
	if s.clock.IsSet() {
		script = emulate.RealTime + script
	}
	var result json.RawMessage
	err := s.withTimeout(ctx, time+s.Grace, func(ctx context.Context) error {
		return s.driver.Execute(ctx, script, &result, args...)
	})
	return readResult(result, err, out)
}

// readResult reads what a script returned into out.
func readResult(result json.RawMessage, err error, out any) error {
	switch {
	case err != nil:
		return err
	case len(result) > maxResult:
		return stepf("the page gave an answer of more than %d MiB", maxResult>>20)
	case out == nil || len(result) == 0:
		return nil
	}
	if json.Unmarshal(result, out) != nil { // the page has replaced what the script uses
		return &webdriver.Error{Code: webdriver.ErrJavaScript, Message: "the script returned an answer of another shape"}
	}
	return nil
}

// interrupted decides what an error of a call in the page means: nil is another
// attempt.
func (x *stepExecution) interrupted(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil || lost(err):
		return err
	case webdriver.Is(err, webdriver.ErrUnexpectedAlert):
		return x.dismiss(ctx, err)
	case webdriver.Is(err, webdriver.ErrNoSuchWindow) && !x.framed:
		return err
	case webdriver.Is(err, webdriver.ErrScriptTimeout, webdriver.ErrTimeout):
		x.unresponsive = true
	}
	if !retriable(err) {
		return err
	}
	if err := sleep(ctx, retryPause); err != nil {
		return err
	}
	return x.leaveFrames(ctx)
}

// retriable reports whether an error is one of the page or the driver, which the
// next attempt may not meet.
func retriable(err error) bool {
	var e *webdriver.Error
	return errors.As(err, &e)
}

// checkLocation looks which page is current, and meets the dialogs that are open.
func (x *stepExecution) checkLocation(ctx context.Context) error {
	var href string
	err := x.pastDialogs(ctx, func() error { return x.execute(ctx, "return location.href", &href) })
	if err != nil {
		if err := x.interrupted(ctx, err); err != nil {
			return err
		}
	}
	return x.arrived(ctx, href)
}
