package action

import (
	"reflect"
	"time"

	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/capability"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/worker/run/replay/failure"
	"github.com/slipway-qa/slipway/worker/run/replay/page"
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

// accepts reports whether an action acts on a drift, and adds that to the query. After
// its time it does not wait for the next one of a page that keeps changing.
func (a Action) accepts(q *page.ActQuery, d *page.FoundDrift) bool {
	if d == nil || a.driftMode(*q, d) == capability.DriftFail || (q.Accepted != nil && !time.Now().Before(a.Deadline)) {
		return false
	}
	q.Accepted = &page.AcceptedDrift{Any: a.Drift != "", Other: d.Other, TestID: d.TestID, Found: d.Found}
	return true
}

// compare sets what the element is compared with. Where nothing follows from a drift, it
// only keeps the step from learning another element than the one it has hints of.
func (a Action) compare(q *page.ActQuery) {
	q.Settle = driftSettle.Milliseconds()
	if q.Known = a.known(); q.Known == nil {
		return
	}
	q.Exact = !q.Harmless() && hasRiskyWord(q.Known.Name, q.Known.Text)
	if a.ignoresDrift(q.Want) {
		q.Accepted = &page.AcceptedDrift{Any: true}
		if !q.Fingerprint {
			q.Known = nil
		}
	}
}

// ignoresDrift reports whether nothing follows from a drift: what is scrolled shows what
// it shows.
func (a Action) ignoresDrift(want string) bool {
	return a.Drift == capability.DriftOff || a.Live || want == page.WantScroll
}

// known returns the fingerprint that the element of the action is compared with; nil
// for an action of which nothing certain is known. The element of a selector that holds
// variables is another one each time.
func (a Action) known() *step.Fingerprint {
	at := a.At
	switch {
	case a.Healed != nil, at.Fingerprint == nil, at.Stored == nil:
	case !reflect.DeepEqual(page.SelectorOf(at.Stored), at.Selector), !agrees(at.Stored, at.Fingerprint):
	default:
		return at.Fingerprint
	}
	return nil
}

// driftMode returns what follows from a drift. A mode that somebody chose is obeyed.
//
// A test id that only one element has identifies it, unless a name says that it cannot be
// taken back: the part of a page may be the same, and what it does another. Other numbers
// in such a name do not fail: they are as often the sum of a cart as the number of an
// order.
func (a Action) driftMode(q page.ActQuery, d *page.FoundDrift) string {
	switch {
	case a.ignoresDrift(q.Want):
		return capability.DriftOff
	case a.Drift != "":
		return a.Drift
	case d.Other == otherRow, d.Other == otherHeading:
		return capability.DriftFail
	case d.Other == otherNumber, q.Harmless():
		return capability.DriftReport
	}
	was, is := a.At.Fingerprint, d.Fingerprint
	if is == nil {
		is = &step.Fingerprint{Name: d.Found.Name}
	}
	risky := hasRiskyWord(was.Name, was.Text, is.Name, is.Text)
	if risky || (!d.TestID && hasRiskyWord(was.TestID, is.TestID)) {
		return capability.DriftFail
	}
	return capability.DriftReport
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
func (a Action) noteDrift(d *page.FoundDrift, acted bool) {
	if acted && a.Drifted != nil {
		return
	}
	drifted := &playback.Drifted{Expected: a.described(d.Expected), Found: a.described(d.Found), Acted: acted, From: *a.At.Stored,
		To: *a.At.Stored}
	drifted.Reason = driftReasons[d.Other]
	drifted.To.Fingerprint = a.Storable(d.Fingerprint, a.At.Frames)
	a.Execution.Drifted = drifted
}

// described returns what may be shown of an element.
func (a Action) described(e playback.Described) playback.Described {
	shown := playback.Described{Role: a.Quote(e.Role, maxDescribed), Name: a.Quote(e.Name, maxDescribed), Row: []string{}}
	for _, text := range e.Row {
		shown.Row = append(shown.Row, a.Quote(text, maxDescribed))
	}
	return shown
}

// driftFailure is the failure of a step whose selector finds another element than the
// one that is known.
func (a Action) driftFailure(d *page.FoundDrift) *failure.Failure {
	a.noteDrift(d, false)
	return failure.Newf(run.CodeDrifted, "%s matches another element than the step was recorded with: %s; nothing was done",
		a.ShowSelector(a.At.Selector), a.Drifted.Text())
}
