// Package plan turns instructions into steps that were seen to work, without a model.
//
// Before each instruction it looks at the page, ranks the elements that the
// instruction may mean by name, kind, state and place, and executes the step for the
// best one as a replay would. A page is searched for what is not visible: tabs,
// closed sections, trees, menus, further pages, scrolling lists. Where nothing is
// clearly meant it stops with INTENT_NOT_UNDERSTOOD, what it understood, and the
// nearest candidates: a wrong guess is worse than none.
//
// The text of a page is compared with words of the intent and is never read for
// instructions.
package plan

import (
	"context"
	"time"

	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// Page is a page in a browser, in which steps are executed one at a time. An error is
// one of the session or of ctx; that a step failed is in its record.
type Page interface {
	// Snapshot returns what the page shows, after it became quiet.
	Snapshot(ctx context.Context) (*snapshot.Snapshot, error)
	// Locate returns how tests find the elements of refs of the last snapshot. The
	// element of a ref that is gone has no selector.
	Locate(ctx context.Context, refs ...string) ([]snapshot.Located, error)
	// Do executes a step as a replay does.
	Do(ctx context.Context, s step.Step) (step.Record, error)
}

// Config is what a planner works on.
type Config struct {
	Page Page
	// Intent is the text; Clauses replace it when they are set (a refinement).
	Intent  string
	Clauses []intent.Clause
	// MaxSteps bounds the steps that are stored.
	MaxSteps int
	// Now is the clock for relative dates.
	Now func() time.Time
	// NewID returns the id of the next step; nil: s1, s2 and so on.
	NewID func() string
	// OnStep is called with each step that was executed and kept, and why.
	OnStep func(s step.Step, why authoring.Reason)
	// Ask does a clause that the planner cannot do; nil: nobody can. done are the steps
	// of the test so far. The steps that it returns were executed on Page.
	Ask func(ctx context.Context, c intent.Clause, why *NotUnderstoodError, done []step.Step) ([]step.Step, error)
	// AskAlways leaves every clause to Ask.
	AskAlways bool
	// NoSuggestion suggests no assertion where the intent asks for none.
	NoSuggestion bool
}

// Outcome is what a planner wrote.
type Outcome struct {
	Steps     []step.Step
	Reasoning []authoring.Reason
	// Asserted is set when the intent itself asked for an assertion. Otherwise the last
	// step is a suggested one, and Alternatives are others that hold as well, best first.
	Asserted     bool
	Alternatives []step.Step
}

// Candidate is an element that may have been meant.
type Candidate struct {
	What  string  // role and name, for people
	Score float64 // 0 to 1
	Why   string
}

// NotUnderstoodError says what an intent asks for that could not be found out: it
// becomes INTENT_NOT_UNDERSTOOD.
type NotUnderstoodError struct {
	Sentence   string
	Understood string // in words
	Reason     string
	Candidates []Candidate
}

// FailedError is a step that was understood and did not work: its code is one of
// generation's (ASSERTION_FAILED, MAX_STEPS_REACHED, TARGET_UNREACHABLE ...).
type FailedError struct {
	Code, Detail string
}

func (e *FailedError) Error() string { return e.Code + ": " + e.Detail }

// maxShownSentence is characters of a sentence that an error repeats: people find it
// again in their text.
const maxShownSentence = 300

func (e *NotUnderstoodError) Error() string {
	text := "not understood: " + shorten(e.Sentence, maxShownSentence)
	if e.Understood != "" {
		text += "; understood: " + e.Understood
	}
	text += "; " + e.Reason
	for i, c := range e.Candidates {
		if i == 0 {
			text += "; the nearest: "
		} else {
			text += ", "
		}
		text += c.What
		if c.Why != "" {
			text += " (" + c.Why + ")"
		}
	}
	return text
}
