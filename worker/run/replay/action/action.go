package action

import (
	"context"
	"fmt"
	"time"

	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/capability"
	"github.com/slipway-qa/slipway/worker/run/replay/failure"
	"github.com/slipway-qa/slipway/worker/run/replay/page"
	"github.com/slipway-qa/slipway/worker/run/replay/session"
)

// Action is a step that does something to an element.
type Action struct {
	*session.Execution
	At *page.Location
}

// Act waits until an action can be done to the element, and does it or returns the
// element. The location becomes the healed one when healing was needed.
func (a Action) Act(ctx context.Context, q page.ActQuery) (page.ActResult, error) {
	if q.InPage() {
		a.Screenshotter.Wait(ctx) // the page changes from here on
	}
	healing := a.newHealing(q.Want)
	last := page.ActResult{State: page.StateNone}
	for {
		q.Hosts, q.Selector = page.OrEmpty(a.At.Hosts), a.At.Selector
		q.First, q.Fingerprint, q.Trace = a.FirstMatch, a.needsFingerprint(), a.Tracer != nil
		a.compare(&q)
		q.Wait = max(healing.wait(min(session.MaxPageWait, time.Until(a.Deadline))), 0).Milliseconds()
		q.Left = max(time.Until(a.Deadline), 0).Milliseconds()
		got, err := a.call(ctx, q)
		switch {
		case err != nil:
			return last, err
		case got == nil && q.InPage():
			if a.OpenedDialog(ctx) {
				return page.ActResult{}, nil
			}
			q.Repeated = true
		case got == nil:
		case got.State == page.StateOK:
			if err := a.noteSuccess(ctx, q, got); err != nil {
				return last, err
			}
			if q.InPage() {
				a.Tracer.Acted(got.Point)
			}
			return *got, nil
		case got.State == page.StateInvalid:
			return last, failure.Stepf("%s: %s", a.ShowSelector(a.At.Selector), a.Quote(got.Why, 300))
		case a.accepts(&q, got.Drifted):
			continue
		default:
			last = *got
		}
		left := time.Until(a.Deadline)
		if got != nil && healing.due(last) {
			healed, err := healing.attempt(ctx, q, left <= 0)
			if err != nil {
				return last, err
			}
			if healed {
				// The healed element gets some more time to become ready.
				healing = nil
				a.Deadline = later(a.Deadline, time.Now().Add(time.Second))
				continue
			}
		}
		if left <= 0 {
			return last, a.notReady(q.Want, last, healing)
		}
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// call makes one call of act.js in the frame of the location. The result is nil when a
// navigation, a dialog or a frame that is not there yet came between.
func (a Action) call(ctx context.Context, q page.ActQuery) (*page.ActResult, error) {
	code := page.ActScripts[q.Want].Of(q.Hosts, q.Selector)
	switch {
	case q.Known != nil:
		code = page.ActDriftScripts[q.Want].Of(q.Hosts, q.Selector)
	case q.Fingerprint:
		code = page.ActFingerprintScripts[q.Want].Of(q.Hosts, q.Selector)
	}
	missing, err := a.EnterFrames(ctx, a.At.Frames)
	if err != nil {
		return nil, err
	}
	if missing != nil {
		return missing, session.Sleep(ctx, session.RetryPause)
	}
	var got *page.ActResult
	if err := a.Execute(ctx, code, &got, q); err != nil {
		return nil, a.Interrupted(ctx, err)
	}
	a.Unresponsive = false
	return got, nil
}

// needsFingerprint reports whether the step is to learn what its element is.
func (a Action) needsFingerprint() bool {
	return a.At.Stored != nil && !a.At.Target && a.At.Stored.Fingerprint.Partial() && a.Fingerprint == nil
}

// noteSuccess stores what a call that worked found out.
func (a Action) noteSuccess(ctx context.Context, q page.ActQuery, got *page.ActResult) error {
	a.NoteFirst(got.Count)
	if got.Drifted != nil && a.driftMode(q, got.Drifted) != capability.DriftOff {
		a.noteDrift(got.Drifted, true)
	}
	if got.Held != nil {
		a.Note("the field holds %q", a.Quote(*got.Held, 100))
	}
	if got.Note != "" {
		a.Note("%s", a.Quote(got.Note, 300))
	}
	if got.Fingerprint != nil {
		a.Fingerprint = a.Storable(got.Fingerprint, a.At.Frames)
	}
	if len(a.At.Frames) == 0 {
		return a.Arrived(ctx, got.Href)
	}
	return nil
}

// wanted are the words for what an action needs of its element.
var wanted = map[string]string{page.WantFill: "to take a text", page.WantSelect: "to have the option",
	page.WantFile: "to take a file", page.WantHover: "to be pointed at",
	page.WantScroll: "to be there", page.WantFocus: "to take the focus", page.WantFrame: "to be a frame"}

// notReady returns the failure of an action whose time is over, with what it expected.
func (a Action) notReady(want string, last page.ActResult, healing *healing) *failure.Failure {
	f := a.unready(last, healing)
	needs := wanted[want]
	if needs == "" {
		needs = "to be clickable"
	}
	element := &failure.Sought{At: *a.At, Want: want}
	actual := "no such element"
	switch {
	case f.Code != run.CodeStepFailed || a.Unresponsive:
		return f
	case last.State == page.StateSeveral && last.Several != nil:
		actual = fmt.Sprintf("%d elements match, and the step does not say which", last.Several.Count)
	case last.State == page.StateHidden:
		actual = "it is not visible"
	case last.State == page.StateNone && last.Why != "" && last.Why != page.StateNone:
		actual = last.Why
	case last.State != page.StateNone:
		actual, element.Why = last.Why, a.Quote(last.Why, 200)
	}
	return f.Expecting(a.ShowSelector(a.At.Selector)+" "+needs, actual, element)
}

// unready returns the failure itself.
func (a Action) unready(last page.ActResult, healing *healing) *failure.Failure {
	what := a.ShowSelector(a.At.Selector)
	switch {
	case a.Unresponsive:
		return failure.Stepf("%s: the page does not respond", what)
	case session.IsErrorPage(a.Href):
		return failure.Newf(run.CodeUnreachable, "%s was not found: the page could not be loaded", what)
	case last.State == page.StateDrifted && last.Drifted != nil:
		return a.driftFailure(last.Drifted)
	case last.State == page.StateSeveral && last.Several != nil:
		return a.SeveralFailure(last.Several)
	case last.State == page.StateNone && last.Why != "" && last.Why != page.StateNone:
		return failure.Stepf("%s was not found: %s", what, a.Quote(last.Why, 300))
	case last.State == page.StateNone:
		return failure.Stepf("%s was not found%s", what, healing.outcome())
	case last.State == page.StateHidden:
		return failure.Stepf("%s is not visible", what)
	}
	return failure.Stepf("%s was found, but %s", what, a.Quote(last.Why, 300))
}

// NeedsSelector reports whether a tool does nothing without an element.
func NeedsSelector(t step.Tool) bool {
	switch t.Type {
	case step.Click, step.DoubleClick, step.RightClick, step.InputText, step.Select, step.Hover, step.Drag, step.ScrollElement, step.ForEach:
		return true
	}
	return false
}
