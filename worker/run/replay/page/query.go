package page

import (
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
	"github.com/slipway-qa/slipway/worker/run/trace"
)

// What an action needs the element for.
const (
	WantClick  = "click"
	WantHover  = "hover"
	WantFill   = "fill"
	WantSelect = "select"
	WantFile   = "file"
	WantScroll = "scroll"
	WantFocus  = "focus"
	WantFrame  = "frame"
)

// ActQuery is the argument of act.js.
type ActQuery struct {
	Want        string         `json:"want"`
	Hosts       []Selector     `json:"hosts"`
	Selector    Selector       `json:"selector"`
	First       bool           `json:"first,omitempty"` // of several matches the first is meant
	Wait        int64          `json:"wait"`            // of this call, ms
	Left        int64          `json:"left"`            // of the step, ms
	Fingerprint bool           `json:"fingerprint,omitempty"`
	Repeated    bool           `json:"repeated,omitempty"` // a call before may have done it
	Hidden      bool           `json:"hidden,omitempty"`
	Text        string         `json:"text"`
	Option      string         `json:"option,omitempty"`
	Files       []File         `json:"files,omitempty"`
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
	Accepted *AcceptedDrift    `json:"accepted,omitempty"`
	Settle   int64             `json:"settle,omitempty"`
}

// File is what a script puts into a file input.
type File struct {
	Name    string `json:"name"`
	Type    string `json:"type"`
	Content []byte `json:"content"` // Base64 in JSON
}

// InPage reports whether the script does the action itself.
func (q ActQuery) InPage() bool {
	switch q.Want {
	case WantFill, WantSelect, WantFile, WantScroll, WantFocus:
		return true
	}
	return false
}

// The states of an ActResult; any other is an element that is not ready.
const (
	StateOK      = "ok"
	StateNone    = "none"    // nothing matches
	StateHidden  = "hidden"  // what matches is invisible
	StateSeveral = "several" // several match, and the step does not say which
	StateInvalid = "invalid" // the selector or the action never works
	StateDrifted = "drifted" // another element than the one that is known
)

// ActResult is what act.js returns.
type ActResult struct {
	State       string            `json:"state"`
	Why         string            `json:"why"`
	Count       int               `json:"count"`
	Several     *Several          `json:"several"`
	Element     webdriver.Element `json:"element"`
	Href        string            `json:"href"`
	Time        float64           `json:"time"` // of the result, ms on the browser's clock
	Fingerprint *step.Fingerprint `json:"fingerprint"`
	Keys        bool              `json:"keys"`   // the text must be typed
	Held        *string           `json:"held"`   // what a field made of its text
	Offset      []int             `json:"offset"` // of the position from the centre of what is in view
	Wheel       []int             `json:"wheel"`  // by how much to turn it, if the script cannot scroll
	Note        string            `json:"note"`
	Drifted     *FoundDrift       `json:"drifted"` // nil: nothing contradicts what is known
	Point       *trace.Point      `json:"point"`   // of the element's centre in the top frame's viewport
}

// FoundDrift is what drift.js returns.
type FoundDrift struct {
	Other       string             `json:"other"`
	TestID      bool               `json:"testId"` // which only the recorded element had, and this one has
	Expected    playback.Described `json:"expected"`
	Found       playback.Described `json:"found"`
	Fingerprint *step.Fingerprint  `json:"fingerprint"` // of what was found
}

// AcceptedDrift is a drift that the step acts on: this one, and no other that the
// element comes to show while it is waited for.
type AcceptedDrift struct {
	Any    bool               `json:"any,omitempty"` // whatever it is
	Other  string             `json:"other"`
	TestID bool               `json:"testId"`
	Found  playback.Described `json:"found"`
}

// Harmless reports whether an action triggers nothing, whatever its element is.
func (q *ActQuery) Harmless() bool {
	return q.Want == WantScroll || (q.Want == WantHover && !q.Drags)
}
