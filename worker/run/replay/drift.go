package replay

import (
	"reflect"
	"time"

	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
)

// driftSettle is for how long a page must show another element than the one that is
// known before the step believes it: lists are sorted, and names are translated, after
// they are shown.
const driftSettle = time.Second

// What contradicts a fingerprint.
const (
	otherName    = "name"
	otherNumber  = "number" // in a name that is the same but for numbers and dates
	otherRole    = "role"   // of an element of which only hints are known
	otherRow     = "row"
	otherHeading = "heading" // of the card that it is in
)

// maxDescribed bounds each text of a drift, in bytes.
const maxDescribed = 200

// foundDrift is what drift.js returns.
type foundDrift struct {
	Other       string            `json:"other"`
	TestID      bool              `json:"testId"` // which only the recorded element had, and this one has
	Expected    step.Described    `json:"expected"`
	Found       step.Described    `json:"found"`
	Fingerprint *step.Fingerprint `json:"fingerprint"` // of what was found
}

// acceptedDrift is a drift that the step acts on: this one, and no other that the
// element comes to show while it is waited for.
type acceptedDrift struct {
	Any    bool           `json:"any,omitempty"` // whatever it is
	Other  string         `json:"other"`
	TestID bool           `json:"testId"`
	Found  step.Described `json:"found"`
}

// accepts reports whether an action acts on a drift, and adds that to the query. After
// its time it does not wait for the next one of a page that keeps changing.
func (q *actQuery) accepts(a elementAction, d *foundDrift) bool {
	if d == nil || a.driftMode(*q, d) == step.DriftFail || (q.Accepted != nil && !time.Now().Before(a.deadline)) {
		return false
	}
	q.Accepted = &acceptedDrift{Any: a.Drift != "", Other: d.Other, TestID: d.TestID, Found: d.Found}
	return true
}

// compare sets what the element is compared with. Where nothing follows from a drift, it
// only keeps the step from learning another element than the one it has hints of.
func (q *actQuery) compare(a elementAction) {
	q.Settle = driftSettle.Milliseconds()
	if q.Known = a.known(); q.Known == nil {
		return
	}
	q.Exact = !q.harmless() && hasRiskyWord(q.Known.Name, q.Known.Text)
	if a.ignoresDrift(q.Want) {
		q.Accepted = &acceptedDrift{Any: true}
		if !q.Fingerprint {
			q.Known = nil
		}
	}
}

// ignoresDrift reports whether nothing follows from a drift: what is scrolled shows what
// it shows.
func (a elementAction) ignoresDrift(want string) bool {
	return a.Drift == step.DriftOff || a.live || want == wantScroll
}

// harmless reports whether an action triggers nothing, whatever its element is.
func (q *actQuery) harmless() bool {
	return q.Want == wantScroll || (q.Want == wantHover && !q.Drags)
}

// known returns the fingerprint that the element of the action is compared with; nil
// for an action of which nothing certain is known. The element of a selector that holds
// variables is another one each time.
func (a elementAction) known() *step.Fingerprint {
	at := a.at
	switch {
	case a.healed != nil, at.fingerprint == nil, at.stored == nil:
	case !reflect.DeepEqual(pageSelectorOf(at.stored), at.selector), !agrees(at.stored, at.fingerprint):
	default:
		return at.fingerprint
	}
	return nil
}

// driftMode returns what follows from a drift. A mode that somebody chose is obeyed.
//
// A test id that only one element has identifies it, unless a name says that it cannot be
// taken back: the part of a page may be the same, and what it does another. Other numbers
// in such a name do not fail: they are as often the sum of a cart as the number of an
// order.
func (a elementAction) driftMode(q actQuery, d *foundDrift) string {
	switch {
	case a.ignoresDrift(q.Want):
		return step.DriftOff
	case a.Drift != "":
		return a.Drift
	case d.Other == otherRow, d.Other == otherHeading:
		return step.DriftFail
	case d.Other == otherNumber, q.harmless():
		return step.DriftReport
	}
	was, is := a.at.fingerprint, d.Fingerprint
	if is == nil {
		is = &step.Fingerprint{Name: d.Found.Name}
	}
	risky := hasRiskyWord(was.Name, was.Text, is.Name, is.Text)
	if risky || (!d.TestID && hasRiskyWord(was.TestID, is.TestID)) {
		return step.DriftFail
	}
	return step.DriftReport
}

// driftReasons says for people what contradicts.
var driftReasons = map[string]string{
	otherName:    "it has another name",
	otherNumber:  "its name has other numbers",
	otherRole:    "it has another role",
	otherRow:     "it is in another row",
	otherHeading: "it is under another heading",
}

// noteDrift stores a drift of the step: the first one that it acted on, or the one that
// keeps it from acting.
func (a elementAction) noteDrift(d *foundDrift, acted bool) {
	if acted && a.drifted != nil {
		return
	}
	drifted := &step.Drifted{Expected: a.described(d.Expected), Found: a.described(d.Found), Acted: acted, From: *a.at.stored, To: *a.at.stored}
	drifted.Reason = driftReasons[d.Other]
	drifted.To.Fingerprint = a.storable(d.Fingerprint, a.at.frames)
	a.stepExecution.drifted = drifted
}

// described returns what may be shown of an element.
func (a elementAction) described(e step.Described) step.Described {
	shown := step.Described{Role: a.quote(e.Role, maxDescribed), Name: a.quote(e.Name, maxDescribed), Row: []string{}}
	for _, text := range e.Row {
		shown.Row = append(shown.Row, a.quote(text, maxDescribed))
	}
	return shown
}

// driftFailure is the failure of a step whose selector finds another element than the
// one that is known.
func (a elementAction) driftFailure(d *foundDrift) *failure {
	a.noteDrift(d, false)
	return failf(run.CodeDrifted, "%s matches another element than the step was recorded with: %s; nothing was done",
		a.showSelector(a.at.selector), a.drifted.Text())
}
