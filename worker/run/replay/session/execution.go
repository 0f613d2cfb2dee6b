package session

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/worker/run/replay/failure"
)

// maxNotes bounds what a step notes besides its failure.
const maxNotes = 10

// Execution is the execution of one step. What it learns of the page that
// outlives the step is in the session.
type Execution struct {
	*Session
	Screenshotter *Screenshotter
	Index         int
	Next          string // the tool of the step after it; "" for none
	AssertedNext  bool   // its screenshot can be that of the assertion after it

	Timeout  time.Duration
	Deadline time.Time

	notes        []string
	dialogs      int   // that were dismissed
	Unresponsive bool  // the last call in the page timed out
	missing      error // why the value of a parameter cannot be used; nil: it can

	Fingerprint *step.Fingerprint // of the element, for a step that has none
	Healed      *playback.Healed
	Suggested   *playback.Healed // a healing that was not applied
	Drifted     *playback.Drifted
	Findings    *step.Findings // of the assertion accessible
	Look        *step.Look     // of the assertion looks_like

	Began       time.Time // of the test
	EachTimeout time.Duration
	Iterations  []step.Iteration // of a for_each
}

// Text returns a text of a step that may be left out; "" where it is.
func Text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// Message is the text of a record: the failure, and what else is worth knowing.
func (x *Execution) Message(f *failure.Failure) string {
	var parts []string
	if f != nil {
		parts = append(parts, f.Text)
	}
	parts = append(parts, x.notes...)
	return failure.Bounded(x.Secrets.Redact(strings.Join(parts, "; ")), 2000)
}

// Note adds to the message of the step what is worth knowing, up to maxNotes times.
func (x *Execution) Note(format string, args ...any) {
	if len(x.notes) < maxNotes {
		x.notes = append(x.notes, fmt.Sprintf(format, args...))
	}
}

// Until calls attempt each interval until it is done, it returns an error or the
// step's time is over: then the error is the failure that attempt last returned.
func (x *Execution) Until(ctx context.Context, interval time.Duration, attempt func() (done bool, not *failure.Failure, err error)) error {
	for {
		done, not, err := attempt()
		if done || err != nil {
			return err
		}
		if time.Now().After(x.Deadline) {
			return not
		}
		if err := Sleep(ctx, interval); err != nil {
			return err
		}
	}
}

// Sleep waits for a time or until ctx ends.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Value returns the value of a variable, or of a parameter of the group that the step
// stands in. That a variable in the value of a parameter has none is kept for unknown.
func (x *Execution) Value(r step.Reference) (string, bool) {
	if r.Scope != step.ScopeParam {
		return x.Secrets.Value(r)
	}
	text, ok := x.Place(x.Index).Values[r.Name]
	if !ok {
		return "", false
	}
	text, x.missing = step.Expand(text, x.Secrets.Value)
	return text, x.missing == nil
}

// Unknown is the failure of a text whose variables cannot be replaced.
func (x *Execution) Unknown(err error) *failure.Failure {
	var named *step.UnknownVariableError
	if x.missing != nil && errors.As(err, &named) {
		err = x.missing
	}
	return failure.OfVariable(err)
}
