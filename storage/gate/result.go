package gate

import (
	"fmt"
	"time"

	"github.com/slipway-qa/slipway/storage"
)

// State is what a gate, or one of its conditions, says.
type State string

// The states.
const (
	Pass    State = "pass"
	Fail    State = "fail"
	Unknown State = "unknown" // something was not measured
)

// Evidence leads to what a condition was measured by.
type Evidence struct {
	Kind  EvidenceKind `json:"kind"`
	ID    string       `json:"id"`
	Title string       `json:"title"`
	// SuiteID is that of a suite run.
	SuiteID string `json:"suite_id,omitempty"`
}

// EvidenceKind is what Evidence leads to.
type EvidenceKind string

// The kinds of evidence.
const (
	OfSuiteRun   EvidenceKind = "suite_run"
	OfCrashGroup EvidenceKind = "crash_group"
	OfFeedback   EvidenceKind = "feedback"
	OfBuild      EvidenceKind = "build"
	OfInstalls   EvidenceKind = "installs" // of the build
	OfSymbols    EvidenceKind = "symbols"  // that are missing
	OfVersion    EvidenceKind = "version"  // of a crash project
)

// maxEvidence bounds the evidence of a condition: the worst of what there is.
const maxEvidence = 10

// Result is what became of a condition.
type Result struct {
	Name     string     `json:"name"`
	Type     Type       `json:"type"`
	State    State      `json:"state"`
	Wanted   string     `json:"wanted"`   // what it asks for
	Measured string     `json:"measured"` // what there is; "" for nothing
	Reason   string     `json:"reason"`   // why it is no pass; "" for a pass
	Evidence []Evidence `json:"evidence"`

	parts int       // of the reason; those above maxEvidence are not in it
	next  time.Time // when time alone may change it; zero: never
}

// say sets the state with its reason.
func (r *Result) say(s State, reason string, args ...any) {
	r.State, r.Reason, r.parts = s, fmt.Sprintf(reason, args...), 1
}

func (r *Result) show(kind EvidenceKind, id, title string) {
	if len(r.Evidence) < maxEvidence {
		r.Evidence = append(r.Evidence, Evidence{Kind: kind, ID: id, Title: title})
	}
}

// part joins what several parts of a condition say: one that fails fails it, and one that is
// unknown keeps it from passing.
func (r *Result) part(s State, reason string, args ...any) {
	text := fmt.Sprintf(reason, args...)
	switch {
	case r.State == "" || r.State == Pass || r.State == Unknown && s == Fail:
		r.State, r.Reason, r.parts = s, text, 1
	case s == r.State && s != Pass && text != "":
		if r.parts++; r.parts <= maxEvidence {
			r.Reason += "; " + text
		}
	}
}

// bound ends a reason that has more parts than it names, and cuts it.
func (r *Result) bound() {
	if r.parts > maxEvidence {
		r.Reason += fmt.Sprintf("; and %d more", r.parts-maxEvidence)
	}
	r.Reason = storage.Cut(r.Reason, maxReasonOfCondition)
}

// maxReasonOfCondition bounds the reason of a condition, in characters.
const maxReasonOfCondition = 4000

// together is the state of all conditions.
func together(list []Result) State {
	state := Pass
	for i := range list {
		switch list[i].State {
		case Fail:
			return Fail
		case Unknown:
			state = Unknown
		}
	}
	if len(list) == 0 {
		return Unknown
	}
	return state
}
