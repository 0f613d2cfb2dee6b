package replay

import (
	"context"
	"fmt"
	"time"

	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
	"github.com/slipway-qa/slipway/worker/run/trace"
)

// elementAction is a step that does something to an element.
type elementAction struct {
	*stepExecution
	at *elementLocation
}

// What an action needs the element for.
const (
	wantClick  = "click"
	wantHover  = "hover"
	wantFill   = "fill"
	wantSelect = "select"
	wantFile   = "file"
	wantScroll = "scroll"
	wantFocus  = "focus"
	wantFrame  = "frame"
)

// actQuery is the argument of act.js.
type actQuery struct {
	Want        string         `json:"want"`
	Hosts       []pageSelector `json:"hosts"`
	Selector    pageSelector   `json:"selector"`
	First       bool           `json:"first,omitempty"` // of several matches the first is meant
	Wait        int64          `json:"wait"`            // of this call, ms
	Left        int64          `json:"left"`            // of the step, ms
	Fingerprint bool           `json:"fingerprint,omitempty"`
	Repeated    bool           `json:"repeated,omitempty"` // a call before may have done it
	Hidden      bool           `json:"hidden,omitempty"`
	Text        string         `json:"text"`
	Option      string         `json:"option,omitempty"`
	Files       []pageFile     `json:"files,omitempty"`
	Position    *step.Position `json:"position,omitempty"` // where to point, from the upper left corner
	Direction   string         `json:"direction,omitempty"`
	Watch       string         `json:"watch,omitempty"`   // the name by which arrival.js reports
	Gesture     string         `json:"gesture,omitempty"` // what it watches for
	Trace       bool           `json:"trace,omitempty"`   // where the element is, is returned
	Drags       bool           `json:"-"`                 // the element is one of a drag, which is no hovering
	// Known is what the element is compared with; nil: nothing. Exact means that numbers
	// in its name count. Accepted is how it may contradict that and is acted on. Settle is
	// for how long it must, in ms.
	Known    *step.Fingerprint `json:"known,omitempty"`
	Exact    bool              `json:"exact,omitempty"`
	Accepted *acceptedDrift    `json:"accepted,omitempty"`
	Settle   int64             `json:"settle,omitempty"`
}

type pageFile struct {
	Name    string `json:"name"`
	Type    string `json:"type"`
	Content []byte `json:"content"` // Base64 in JSON
}

// inPage reports whether the script does the action itself.
func (q actQuery) inPage() bool {
	switch q.Want {
	case wantFill, wantSelect, wantFile, wantScroll, wantFocus:
		return true
	}
	return false
}

// The states of an actResult; any other is an element that is not ready.
const (
	stateOK      = "ok"
	stateNone    = "none"    // nothing matches
	stateHidden  = "hidden"  // what matches is invisible
	stateSeveral = "several" // several match, and the step does not say which
	stateInvalid = "invalid" // the selector or the action never works
	stateDrifted = "drifted" // another element than the one that is known
)

// actResult is what act.js returns.
type actResult struct {
	State       string            `json:"state"`
	Why         string            `json:"why"`
	Count       int               `json:"count"`
	Several     *severalMatches   `json:"several"`
	Element     webdriver.Element `json:"element"`
	Href        string            `json:"href"`
	Time        float64           `json:"time"` // of the result, ms on the browser's clock
	Fingerprint *step.Fingerprint `json:"fingerprint"`
	Keys        bool              `json:"keys"`   // the text must be typed
	Held        *string           `json:"held"`   // what a field made of its text
	Offset      []int             `json:"offset"` // of the position from the centre of what is in view
	Wheel       []int             `json:"wheel"`  // by how much to turn it, if the script cannot scroll
	Note        string            `json:"note"`
	Drifted     *foundDrift       `json:"drifted"` // nil: nothing contradicts what is known
	Point       *trace.Point      `json:"point"`   // of the element's centre in the top frame's viewport
}

// act waits until an action can be done to the element, and does it or returns the
// element. The location becomes the healed one when healing was needed.
func (a elementAction) act(ctx context.Context, q actQuery) (actResult, error) {
	if q.inPage() {
		a.screenshotter.wait(ctx) // the page changes from here on
	}
	healing := a.newHealing(q.Want)
	last := actResult{State: stateNone}
	for {
		q.Hosts, q.Selector = orEmpty(a.at.hosts), a.at.selector
		q.First, q.Fingerprint, q.Trace = a.FirstMatch, a.needsFingerprint(), a.tracer != nil
		q.compare(a)
		q.Wait = max(healing.wait(min(maxPageWait, time.Until(a.deadline))), 0).Milliseconds()
		q.Left = max(time.Until(a.deadline), 0).Milliseconds()
		got, err := a.call(ctx, q)
		switch {
		case err != nil:
			return last, err
		case got == nil && q.inPage():
			if a.openedDialog(ctx) {
				return actResult{}, nil
			}
			q.Repeated = true
		case got == nil:
		case got.State == stateOK:
			if err := a.noteSuccess(ctx, q, got); err != nil {
				return last, err
			}
			if q.inPage() {
				a.tracer.acted(got.Point)
			}
			return *got, nil
		case got.State == stateInvalid:
			return last, stepf("%s: %s", a.showSelector(a.at.selector), a.quote(got.Why, 300))
		case q.accepts(a, got.Drifted):
			continue
		default:
			last = *got
		}
		left := time.Until(a.deadline)
		if got != nil && healing.due(last) {
			healed, err := healing.attempt(ctx, q, left <= 0)
			if err != nil {
				return last, err
			}
			if healed {
				// The healed element gets some more time to become ready.
				healing = nil
				a.deadline = later(a.deadline, time.Now().Add(time.Second))
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
func (a elementAction) call(ctx context.Context, q actQuery) (*actResult, error) {
	code := actScripts[q.Want].of(q.Hosts, q.Selector)
	switch {
	case q.Known != nil:
		code = actDriftScripts[q.Want].of(q.Hosts, q.Selector)
	case q.Fingerprint:
		code = actFingerprintScripts[q.Want].of(q.Hosts, q.Selector)
	}
	missing, err := a.enterFrames(ctx, a.at.frames)
	if err != nil {
		return nil, err
	}
	if missing != nil {
		return missing, sleep(ctx, retryPause)
	}
	var got *actResult
	if err := a.execute(ctx, code, &got, q); err != nil {
		return nil, a.interrupted(ctx, err)
	}
	a.unresponsive = false
	return got, nil
}

// needsFingerprint reports whether the step is to learn what its element is.
func (a elementAction) needsFingerprint() bool {
	return a.at.stored != nil && !a.at.target && a.at.stored.Fingerprint.Partial() && a.fingerprint == nil
}

// noteSuccess stores what a call that worked found out.
func (a elementAction) noteSuccess(ctx context.Context, q actQuery, got *actResult) error {
	a.noteFirst(got.Count)
	if got.Drifted != nil && a.driftMode(q, got.Drifted) != step.DriftOff {
		a.noteDrift(got.Drifted, true)
	}
	if got.Held != nil {
		a.note("the field holds %q", a.quote(*got.Held, 100))
	}
	if got.Note != "" {
		a.note("%s", a.quote(got.Note, 300))
	}
	if got.Fingerprint != nil {
		a.fingerprint = a.storable(got.Fingerprint, a.at.frames)
	}
	if len(a.at.frames) == 0 {
		return a.arrived(ctx, got.Href)
	}
	return nil
}

// wanted are the words for what an action needs of its element.
var wanted = map[string]string{wantFill: "to take a text", wantSelect: "to have the option", wantFile: "to take a file", wantHover: "to be pointed at",
	wantScroll: "to be there", wantFocus: "to take the focus", wantFrame: "to be a frame"}

// notReady returns the failure of an action whose time is over, with what it expected.
func (a elementAction) notReady(want string, last actResult, healing *healing) *failure {
	f := a.unready(last, healing)
	needs := wanted[want]
	if needs == "" {
		needs = "to be clickable"
	}
	element := &sought{at: *a.at, want: want}
	actual := "no such element"
	switch {
	case f.code != run.CodeStepFailed || a.unresponsive:
		return f
	case last.State == stateSeveral && last.Several != nil:
		actual = fmt.Sprintf("%d elements match, and the step does not say which", last.Several.Count)
	case last.State == stateHidden:
		actual = "it is not visible"
	case last.State == stateNone && last.Why != "" && last.Why != stateNone:
		actual = last.Why
	case last.State != stateNone:
		actual, element.why = last.Why, a.quote(last.Why, 200)
	}
	return f.expecting(a.showSelector(a.at.selector)+" "+needs, actual, element)
}

// unready returns the failure itself.
func (a elementAction) unready(last actResult, healing *healing) *failure {
	what := a.showSelector(a.at.selector)
	switch {
	case a.unresponsive:
		return stepf("%s: the page does not respond", what)
	case isErrorPage(a.href):
		return failf(run.CodeUnreachable, "%s was not found: the page could not be loaded", what)
	case last.State == stateDrifted && last.Drifted != nil:
		return a.driftFailure(last.Drifted)
	case last.State == stateSeveral && last.Several != nil:
		return a.severalFailure(last.Several)
	case last.State == stateNone && last.Why != "" && last.Why != stateNone:
		return stepf("%s was not found: %s", what, a.quote(last.Why, 300))
	case last.State == stateNone:
		return stepf("%s was not found%s", what, healing.outcome())
	case last.State == stateHidden:
		return stepf("%s is not visible", what)
	}
	return stepf("%s was found, but %s", what, a.quote(last.Why, 300))
}
