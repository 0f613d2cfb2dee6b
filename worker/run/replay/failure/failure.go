package failure

import (
	"errors"
	"fmt"
	"strings"

	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
	"github.com/slipway-qa/slipway/worker/run/replay/page"
)

// Failure ends a step. Its text is for people; secrets are replaced in it when
// it becomes a message.
type Failure struct {
	Code, Text string
	// Broken: the session cannot be used any more.
	Broken bool
	// Unseen: the page could not be looked at, so that nothing is known of it.
	Unseen bool
	// Expected and actual are the text's two halves, "" where it has none; sought is the element
	// that was needed, nil where none was.
	Expected, Actual string
	Sought           *Sought
}

func (f *Failure) Error() string { return f.Text }

// Newf returns a failure with one of the codes of storage/run.
func Newf(code, format string, args ...any) *Failure {
	return &Failure{Code: code, Text: fmt.Sprintf(format, args...)}
}

// Stepf returns the failure of a step that is no assertion.
func Stepf(format string, args ...any) *Failure {
	return Newf(run.CodeStepFailed, format, args...)
}

// Status returns how the test ends by a failure: what the test found is FAILED, what
// kept it from finding anything is ERROR.
func (f *Failure) Status() run.Status {
	switch f.Code {
	case run.CodeStepFailed, run.CodeDrifted, run.CodeAssertionFailed, run.CodeUnreachable, run.CodeForbidden:
		return run.Failed
	}
	return run.Errored
}

// Skips reports whether a step is skipped by the failure: it is optional, and the
// page is what failed it.
func (f *Failure) Skips(s *step.Step) bool {
	return s.Optional && !f.Broken && (f.Code == run.CodeStepFailed || f.Code == run.CodeUnreachable || f.Code == run.CodeDrifted)
}

// Sought is the element that a step needs and did not find or cannot use.
type Sought struct {
	At   page.Location
	Want string // as of ActQuery; "" for an assertion
	Why  string // what speaks against those that the selector does find
}

// Expecting returns the failure with what was expected and what there was.
func (f *Failure) Expecting(expected, actual string, element *Sought) *Failure {
	f.Expected, f.Actual, f.Sought = expected, actual, element
	return f
}

// Lost reports whether an error means that the browser is gone.
func Lost(err error) bool {
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
	for _, sign := range []string{"tab crashed", "page crash", "session deleted", "disconnected", "not reachable",
		"Unable to receive message from renderer"} {
		if strings.Contains(e.Message, sign) {
			return true
		}
	}
	return false
}

// Retriable reports whether an error is one of the page or the driver, which the
// next attempt may not meet.
func Retriable(err error) bool {
	var e *webdriver.Error
	return errors.As(err, &e)
}

// OfVariable returns the failure of a variable that cannot be expanded.
func OfVariable(err error) *Failure {
	var unknown *step.UnknownVariableError
	if errors.As(err, &unknown) {
		return Newf(run.CodeVariable, "%v", err)
	}
	return Stepf("%v", err)
}
