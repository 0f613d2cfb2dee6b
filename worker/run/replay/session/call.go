package session

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/slipway-qa/slipway/worker/browser/webdriver"
	"github.com/slipway-qa/slipway/worker/run/emulate"
	"github.com/slipway-qa/slipway/worker/run/replay/failure"
)

const (
	// MaxPageWait is how long one call waits in the page. A navigation or a dialog
	// costs no more than what is left of it.
	MaxPageWait = 3 * time.Second
	// RetryPause is the pause after a call that a navigation ended.
	RetryPause = 20 * time.Millisecond
	// maxResult bounds what a script returns: the page decides what that is.
	maxResult = 8 << 20
)

// ScriptTimeout ends a call in a page that does not respond; calls wait for at most
// MaxPageWait.
func (s *Session) ScriptTimeout() time.Duration { return MaxPageWait + s.Grace }

// Execute runs a script in the page, for no longer than what is left of the step
// and a grace, and reads its result into out (nil: it is dropped).
func (x *Execution) Execute(ctx context.Context, script string, out any, args ...any) error {
	return x.ExecuteFor(ctx, max(time.Until(x.Deadline), 0), script, out, args...)
}

// ExecuteFor is execute for a script that may take some time.
func (s *Session) ExecuteFor(ctx context.Context, time time.Duration, script string, out any, args ...any) error {
	if s.Clock.IsSet() {
		script = emulate.RealTime + script
	}
	var result json.RawMessage
	err := s.WithTimeout(ctx, time+s.Grace, func(ctx context.Context) error {
		return s.Driver.Execute(ctx, script, &result, args...)
	})
	return ReadResult(result, err, out)
}

// ReadResult reads what a script returned into out.
func ReadResult(result json.RawMessage, err error, out any) error {
	switch {
	case err != nil:
		return err
	case len(result) > maxResult:
		return failure.Stepf("the page gave an answer of more than %d MiB", maxResult>>20)
	case out == nil || len(result) == 0:
		return nil
	}
	if json.Unmarshal(result, out) != nil { // the page has replaced what the script uses
		return &webdriver.Error{Code: webdriver.ErrJavaScript, Message: "the script returned an answer of another shape"}
	}
	return nil
}

// Interrupted decides what an error of a call in the page means: nil is another
// attempt.
func (x *Execution) Interrupted(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil || failure.Lost(err):
		return err
	case webdriver.Is(err, webdriver.ErrUnexpectedAlert):
		return x.Dismiss(ctx, err)
	case webdriver.Is(err, webdriver.ErrNoSuchWindow) && !x.Framed:
		return err
	case webdriver.Is(err, webdriver.ErrScriptTimeout, webdriver.ErrTimeout):
		x.Unresponsive = true
	}
	if !failure.Retriable(err) {
		return err
	}
	if err := Sleep(ctx, RetryPause); err != nil {
		return err
	}
	return x.LeaveFrames(ctx)
}

// CheckLocation looks which page is current, and meets the dialogs that are open.
func (x *Execution) CheckLocation(ctx context.Context) error {
	var href string
	err := x.PastDialogs(ctx, func() error { return x.Execute(ctx, "return location.href", &href) })
	if err != nil {
		if err := x.Interrupted(ctx, err); err != nil {
			return err
		}
	}
	return x.Arrived(ctx, href)
}

// AfterInput judges the error of an input: that it opened a dialog, loaded another
// page or closed its window is no failure.
func (x *Execution) AfterInput(ctx context.Context, err error) error {
	switch {
	case x.HandledByNextStep(err):
		return nil
	case webdriver.Is(err, webdriver.ErrUnexpectedAlert):
		return x.Dismiss(ctx, err)
	case webdriver.Is(err, webdriver.ErrNavigated):
		return nil
	case webdriver.Is(err, webdriver.ErrNoSuchWindow):
		x.Framed = false
		return nil
	case webdriver.Is(err, webdriver.ErrTimeout):
		return failure.Stepf("the page that this opened did not load within %s", x.PageTimeout)
	}
	return err
}

const (
	// HeartbeatEvery is how often a pause looks whether the browser is still there: one
	// command of some milliseconds.
	HeartbeatEvery = time.Second
	// heartbeatTimeout is how long that may take. A browser that is only busy is there.
	heartbeatTimeout = 10 * time.Second
)

// Heartbeat returns the error of a browser that is lost. The list of its windows is what
// it can be asked for whatever its pages do.
func (s *Session) Heartbeat(ctx context.Context) error {
	if s.Lease.Mobile {
		return nil
	}
	inner, cancel := context.WithTimeout(ctx, heartbeatTimeout)
	defer cancel()
	_, err := s.Driver.Windows(inner)
	if inner.Err() == nil && failure.Lost(err) {
		return err
	}
	return ctx.Err()
}

// SetTimeouts sets those of the session unless it has them.
func (x *Execution) SetTimeouts(ctx context.Context) error {
	has, _ := x.Driver.Capabilities["timeouts"].(map[string]any)
	page, _ := has["pageLoad"].(float64)
	script, _ := has["script"].(float64)
	if page == float64(x.PageTimeout.Milliseconds()) && script == float64(x.ScriptTimeout().Milliseconds()) {
		return nil
	}
	return x.PastDialogs(ctx, func() error {
		return x.Driver.SetTimeouts(ctx, webdriver.Timeouts{PageLoad: x.PageTimeout, Script: x.ScriptTimeout()})
	})
}

// commanded judges the error of a command that the step consists of.
func (x *Execution) commanded(ctx context.Context, err error) error {
	var unsupported *emulate.UnsupportedError
	var reported *webdriver.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &unsupported), errors.Is(err, emulate.ErrNoClock):
		return failure.Stepf("%s", err)
	case errors.As(err, &reported) && !failure.Lost(err):
		return failure.Stepf("the browser says: %s", x.Quote(reported.Message, 300))
	}
	return err
}

// Timed runs commands for no longer than what is left of the step and a grace.
func (x *Execution) Timed(ctx context.Context, commands func(context.Context) error) error {
	return x.commanded(ctx, x.WithTimeout(ctx, max(time.Until(x.Deadline), 0)+x.Grace, commands))
}
