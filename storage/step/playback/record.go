// Package playback holds what a run found out about each step of a test.
//
// A Record is a step as it was played: its status, how long it took, the step group and the row
// that it stands in, and its picture. It says also which other element an action took or would
// have taken (Healed), that the element was another one than the step was recorded with (Drifted),
// and what a step that failed expected and found (Failure). Records are stored with their job;
// variables in them are not replaced, and texts of pages have passed a redactor before.
package playback

import "github.com/slipway-qa/slipway/storage/step"

// The states of a step in a run.
const (
	Passed  = "PASSED"
	Failed  = "FAILED"
	Skipped = "SKIPPED" // an optional step that failed, or one after the end
)

// Record is the result of a step in a run.
type Record struct {
	StepID string       `json:"id"`
	Tool   step.Tool    `json:"tool"` // as stored: variables are not replaced
	Status string       `json:"status"`
	Result step.Outcome `json:"result"`
	Healed *Healed      `json:"healed,omitempty"`
	// Suggested is the element that a failed step would have been healed with.
	Suggested *Healed `json:"suggested,omitempty"`
	// Drifted is set when the element was another one than the step was recorded with.
	Drifted *Drifted `json:"drifted,omitempty"`
	// Iterations are the rows that a for_each went through.
	Iterations []step.Iteration `json:"iterations,omitempty"`
	// HealingID names what people accept or refuse of one of the three; "" without them
	// and until the job has ended.
	HealingID string `json:"healingId,omitempty"`
	// Phase is where in the test the step stands: "" in its own steps, else SetUp or
	// TearDown.
	Phase string `json:"phase,omitempty"`
	// Group is the step group that the step stands in; nil in none. The record of its
	// run_group stands before those of its steps.
	Group   *step.InGroup `json:"group,omitempty"`
	StartMS int64         `json:"startMs"` // since the start of the job
	TookMS  int64         `json:"tookMs"`
	// ScreenshotID names a stored file; "" without one.
	ScreenshotID string `json:"screenshotId,omitempty"`
	// Findings are what the assertion accessible found; nil for other steps.
	Findings *step.Findings `json:"findings,omitempty"`
	// Look is what the assertion looks_like compared; nil for other steps.
	Look *step.Look `json:"look,omitempty"`
	// Failure is what a step that failed expected and found; nil for others.
	Failure *Failure `json:"failure,omitempty"`
}

// Healed is set when an action found its element by the fingerprint, because the
// selector matched nothing.
type Healed struct {
	From   step.Selector `json:"from"`
	To     step.Selector `json:"to"`
	Score  float64       `json:"score"`  // 0 to 1
	Reason string        `json:"reason"` // what still fits, in words
}
