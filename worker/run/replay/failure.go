package replay

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/browser"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

// failure ends a step. Its text is for people; secrets are replaced in it when
// it becomes a message.
type failure struct {
	code, text string
	// broken: the session cannot be used any more.
	broken bool
	// unseen: the page could not be looked at, so that nothing is known of it.
	unseen bool
	// expected and actual are the text's two halves, "" where it has none; sought is the element
	// that was needed, nil where none was.
	expected, actual string
	sought           *sought
}

func (f *failure) Error() string { return f.text }

func failf(code, format string, args ...any) *failure {
	return &failure{code: code, text: fmt.Sprintf(format, args...)}
}

// stepf returns the failure of a step that is no assertion.
func stepf(format string, args ...any) *failure {
	return failf(run.CodeStepFailed, format, args...)
}

// status returns how the test ends by a failure: what the test found is FAILED, what
// kept it from finding anything is ERROR.
func (f *failure) status() run.Status {
	switch f.code {
	case run.CodeStepFailed, run.CodeDrifted, run.CodeAssertionFailed, run.CodeUnreachable, run.CodeForbidden:
		return run.Failed
	}
	return run.Errored
}

// lost reports whether an error means that the browser is gone.
func lost(err error) bool {
	var transport *webdriver.TransportError
	if errors.As(err, &transport) {
		return true
	}
	var e *webdriver.Error
	if !errors.As(err, &e) {
		return false
	}
	if e.Code == webdriver.ErrInvalidSession {
		return true
	}
	for _, sign := range []string{"tab crashed", "page crash", "session deleted", "disconnected", "not reachable", "Unable to receive message from renderer"} {
		if strings.Contains(e.Message, sign) {
			return true
		}
	}
	return false
}

// variableFailure returns the failure of a variable that cannot be expanded.
func variableFailure(err error) *failure {
	var unknown *step.UnknownVariableError
	if errors.As(err, &unknown) {
		return failf(run.CodeVariable, "%v", err)
	}
	return stepf("%v", err)
}

// errDriverLost is why the context of a test ends whose driver has ended.
var errDriverLost = errors.New("the driver of the browser ended")

// watchDriver returns a context that ends with the driver of the lease: a step that waits
// for it would wait for as long as it may.
func watchDriver(ctx context.Context, lease *browser.Lease) (context.Context, func()) {
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

// failureOf returns the failure of an error of any kind.
func (s *session) failureOf(ctx context.Context, err error) *failure {
	var f *failure
	if errors.Is(context.Cause(ctx), errDriverLost) {
		return &failure{code: run.CodeBrowserLost, text: "the driver of the browser ended", broken: true}
	}
	if ctx.Err() == nil && errors.As(err, &f) {
		return f
	}
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return &failure{code: run.CodeTimeout, text: "the test took longer than it may", broken: true}
	case ctx.Err() != nil:
		return &failure{code: run.CodeCancelled, text: "the test was cancelled", broken: true}
	case s.Lease.Exceeded() != "":
		return &failure{code: run.CodeBrowserLost, text: s.Lease.Exceeded(), broken: true}
	case lost(err):
		s.Log.WarnContext(ctx, "browser lost", "error", s.secrets.redact(err.Error()))
		text := "the browser or its page crashed"
		if s.Lease.Mobile {
			text = "the device or its driver was lost"
		}
		return &failure{code: run.CodeBrowserLost, text: text, broken: true}
	case webdriver.Is(err, webdriver.ErrNoSuchWindow):
		return stepf("the window is closed")
	}
	var e *webdriver.Error
	if errors.As(err, &e) && s.Lease.Mobile {
		return stepf("the driver says: %s", s.quote(e.Message, 300))
	}
	if errors.As(err, &e) {
		return stepf("the browser says: %s", s.quote(e.Message, 300))
	}
	s.Log.ErrorContext(ctx, "step failed without a reason of the browser", "error", s.secrets.redact(err.Error()))
	return &failure{code: run.CodeInternal, text: "the step could not be played", broken: true}
}

// bounded cuts a text to a number of bytes, between characters.
func bounded(text string, most int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most] + "…"
}
