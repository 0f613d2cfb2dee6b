// Package refine decides what a further sentence changes in a test that exists: "also
// verify that the total is 12", "use bob@example.com as the email instead", "before
// submitting, check Express", "skip the newsletter step".
//
// New returns a plan: which steps of the base stay, which of these are edited, which
// go, and where texts are to be written. It looks at no page. Whoever executes the plan
// replays the segments in order: the steps of Keep as they are, and the texts of Write
// as the planner does.
//
// The commands of a refinement (before, after, instead, skip ...) are phrases of the
// lexicon, in the language of the sentence; everything else in it is read by the reader
// of intents. A sentence that speaks of a step is compared with the names and values of
// the steps, and with the part of the base's intent that they came from. A change,
// removal or place that fits no step, or several alike, is a *plan.NotUnderstoodError:
// nothing is guessed.
//
// Everything is bounded by the number of steps and the length of the texts.
package refine

import (
	"slices"

	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/intent"
)

// Request is a revision and what shall become different.
type Request struct {
	Steps  []step.Step
	Intent string // of the base
	// Sentence is the further one.
	Sentence string
}

// Plan is how the new revision is made from the base.
type Plan struct {
	// Steps are those of the base, with the edits of the sentence: a value that is
	// another one, the name of what is clicked. An edited step has no fingerprint where
	// the old one would describe another element.
	Steps []step.Step
	// Edited are the indices of steps that differ from the base's. Where an edited
	// assertion does not hold, the base's may still.
	Edited []int
	// Removed are the indices of base steps that are in no segment.
	Removed []int
	// Segments are executed in order.
	Segments []Segment
	// Suggested is the index of a kept assertion that was only suggested: where it
	// fails it may be dropped, and another suggested. -1 without one.
	Suggested int
	// Asserted is set when an assertion that was asked for stays, so that none has to be
	// suggested. What the texts assert is not in it.
	Asserted bool
	// Reasoning says what was decided, one entry for each command of the sentence.
	Reasoning []authoring.Reason
}

// Segment is a run of steps that are kept, or a place where a text is written.
type Segment struct {
	// Keep are indices in Plan.Steps.
	Keep []int
	// Write is the text to write here; nil for Keep.
	Write *intent.Text
	// Replaces are the base steps that Write stands in for: its steps are changes of
	// these (see Segment.Identify).
	Replaces []int
}

// New decides what a sentence changes. Its error is a *plan.NotUnderstoodError.
func New(r Request) (*Plan, error) {
	d := newDraft(r)
	p := &parser{lang: d.lang, read: d.read, located: d.located}
	for _, c := range p.parse(r.Sentence) {
		if err := d.apply(c); err != nil {
			return nil, err
		}
	}
	if len(d.reasoning) == 0 {
		return nil, notUnderstood(r.Sentence, "it asks for nothing that is known")
	}
	return d.plan(), nil
}

// Identify sets the ids of the steps that were written for a segment: a step that
// stands in for one of the base keeps its id. Steps of the same tool belong together,
// from the last on, because what opens a list comes before what is chosen in it.
func (s Segment) Identify(written, base []step.Step) {
	at := len(written) - 1
	for _, old := range slices.Backward(s.Replaces) {
		for i := at; i >= 0; i-- {
			if written[i].ID == "" && tool(written[i]).Type == tool(base[old]).Type {
				written[i].ID, at = base[old].ID, i-1
				break
			}
		}
	}
	// A test whose step was replaced by one of another tool has changed there too.
	if n := len(written); n > 0 && len(s.Replaces) > 0 && !slices.ContainsFunc(written, func(w step.Step) bool { return w.ID != "" }) {
		written[n-1].ID = base[s.Replaces[len(s.Replaces)-1]].ID
	}
}

// tool returns what a step does inside of its frames and shadow roots.
func tool(s step.Step) *step.Tool { return step.Inner(&s.Tool) }
