// Package plan writes the steps of a test by trying and looking: it reads the text into goals,
// finds on the page what each one speaks of, does what may reach it in the ways of package
// method, and looks whether the effect that the goal asks for has come (package effect). What
// did not help is undone, and the next way is tried within a budget. What deletes, pays or sends
// is done on one clear thing only and never a second time.
//
// A text is done when each of its content words was executed or checked. Otherwise Run returns
// what was done and what was not, clause by clause, and a NotUnderstoodError: a likely guess
// that does harm is worse than a refusal.
//
// Texts of a page are data. They are compared with words of the intent and never read for
// instructions.
package plan

import (
	"context"
	"time"

	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// Page is a page in a browser, in which steps are executed one at a time. An error is one of
// the session or of ctx; that a step failed is in its record.
type Page interface {
	// Snapshot returns what the page shows, after it became quiet.
	Snapshot(ctx context.Context) (*snapshot.Snapshot, error)
	// Locate returns how tests find the elements of refs of the last snapshot. The element of a
	// ref that is gone has no selector.
	Locate(ctx context.Context, refs ...string) ([]snapshot.Located, error)
	// Do executes a step as a replay does.
	Do(ctx context.Context, s step.Step) (playback.Record, error)
}

// The values of Config.Explore.
const (
	ExploreOn  = "on"
	ExploreOff = "off" // nothing is tried a second time: the data of the page are real
)

// Config is what a test is written of, and with.
type Config struct {
	Page Page
	// Intent is the text.
	Intent string
	// Text is what was read already, in place of Intent; nil: Intent is read.
	Text *intent.Text
	// MaxSteps bounds the steps that are stored; 0: no bound.
	MaxSteps int
	// Now is the clock for relative dates; nil: time.Now.
	Now func() time.Time
	// NewID returns the id of the next step; nil: s1, s2 and so on.
	NewID func() string
	// OnSteps is told the steps that were executed and kept so far, and why; those of a reading that
	// was given up are no longer among them.
	OnSteps func(steps []step.Step, why []authoring.Reason)
	// Fresh brings the page back to how it was after some steps: as it opens, and these
	// replayed. nil where it cannot.
	Fresh func(ctx context.Context, steps []step.Step) error
	// Explore is ExploreOn or ExploreOff; "" is on.
	Explore string
	// MaxTries bounds how many ways are tried, and MaxTime for how long; 0: the defaults.
	MaxTries int
	MaxTime  time.Duration
	// Trace is called with what was tried and what came of it, for those who look into a refusal;
	// nil: nobody does.
	Trace func(text string)
	// NoSuggestion suggests no assertion where the intent asks for none.
	NoSuggestion bool
	// Ask is asked where the planner is not sure: no reading takes all words, none can be done, or
	// no thing is clearly the one that is meant. Its answers go through the same tries, effects and
	// accounting. nil: nobody is asked.
	Ask func(ctx context.Context, q Question) (Answer, error)
	// AskAlways asks for readings of every text, and tries them first.
	AskAlways bool
}

const (
	// defaultTries is three times what the longest text of the development set needs.
	defaultTries = 90
	defaultTime  = 50 * time.Second
)

// Outcome is what was written.
type Outcome struct {
	Steps     []step.Step
	Reasoning []authoring.Reason
	// Asserted is set when the intent itself asked for an assertion. Otherwise the last step is
	// a suggested one, and Alternatives are others that hold as well, best first.
	Asserted     bool
	Alternatives []step.Step
	// Trivial are claims that held before anything was done.
	Trivial []string
	// Decided is what was decided by whom Config.Ask asks.
	Decided []Decision
}

// Candidate is a thing of the page that may have been meant.
type Candidate struct {
	What  string  // role and name, for people
	Score float64 // 0 to 1
	Why   string
}

// NotUnderstoodError says what an intent asks for that could not be found out: it becomes
// INTENT_NOT_UNDERSTOOD.
type NotUnderstoodError struct {
	Sentence   string
	Understood string // in words
	Reason     string
	Candidates []Candidate
	// Clauses says of each clause whether it was done.
	Clauses []Clause
	// final: no other reading of the text makes it better.
	final bool
}

// Clause is a part of the intent with how far it came.
type Clause struct {
	Text string
	Done bool
	// Left are its words that were neither executed nor checked.
	Left []string
}

// FailedError is a step that was understood and did not work: its code is one of generation's
// (ASSERTION_FAILED, MAX_STEPS_REACHED, STEP_FAILED ...).
type FailedError struct {
	Code, Detail string
}

func (e *FailedError) Error() string { return e.Code + ": " + e.Detail }

// The codes of failures that the planner itself finds.
const (
	codeStepFailed = "STEP_FAILED"
	codeMaxSteps   = "MAX_STEPS_REACHED"
	codeAssertion  = "ASSERTION_FAILED"
)

// maxShownSentence is bytes of a sentence that an error repeats: people find it again in their
// text.
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
	for _, c := range e.Clauses {
		if c.Done {
			text += "; done: " + shorten(c.Text, maxShownSentence)
		} else {
			text += "; not done: " + shorten(c.Text, maxShownSentence)
		}
	}
	return text
}
