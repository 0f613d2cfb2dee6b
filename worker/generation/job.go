package generation

import (
	"context"
	"time"

	"github.com/slipway-qa/slipway/storage/authoring"
	store "github.com/slipway-qa/slipway/storage/generation"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/redaction"
	"github.com/slipway-qa/slipway/worker/browser"
	"github.com/slipway-qa/slipway/worker/generation/model"
	"github.com/slipway-qa/slipway/worker/run/replay"
)

// Job is a test that an Author writes. The context that comes with it ends when the
// task's timeout is over, counted from its acceptance.
type Job struct {
	Intent   string
	TestURL  string
	MaxSteps int
	// Explore is plan.ExploreOn or plan.ExploreOff; "" is on.
	Explore string
	// Base is set when a case is refined: Intent is the further sentence.
	Base *Base
	// Organization is whose test it is: what a model costs is counted for it.
	Organization int64
	// Redactor knows the secrets that nothing may contain that leaves the service or is
	// kept; nil when there are none.
	Redactor *redaction.Redactor
	// Lookup returns the value of a variable and whether it is a secret.
	Lookup func(step.Reference) (value string, secret, ok bool)
	// Acquire returns a fresh session on the job's target; the author releases it.
	Acquire func(ctx context.Context) (*browser.Lease, error)
	Release func(ctx context.Context, lease *browser.Lease, broken bool)
	// Capture stores an artifact of a step, and returns the file's id.
	Capture func(ctx context.Context, a replay.Artifact) string
	// Progress is called with what there is so far; it must be quick.
	Progress func(steps []step.Step, reasoning []authoring.Reason)
	Now      func() time.Time
}

// Base is the revision that a refinement starts from.
type Base struct {
	Intent string
	Steps  []step.Step
}

// Result is how a generation ended. Code is "" when the test was written.
type Result struct {
	Code, Detail string
	Steps        []step.Step
	Reasoning    []authoring.Reason
	// Description is the test in plain words; DiscoveredIntent is how the intent was
	// understood.
	Description, DiscoveredIntent string
	// Changes says of a refinement what became of the steps.
	Changes *Changes
	// Findings say how the text was taken; nil where it was not read.
	Findings *store.Findings
	// Model is what a model was sent and what it cost; nil without one.
	Model *ModelUsage
}

// Changes are the steps of a refinement, by id: the base's that were kept, changed and
// removed, and the new ones.
type Changes struct {
	Kept    []string `json:"kept"`
	Changed []string `json:"changed"`
	Added   []string `json:"added"`
	Removed []string `json:"removed"`
}

// ModelUsage is what a model was asked during a generation. Nothing secret is in it.
type ModelUsage = model.Usage

// Author writes tests.
type Author interface {
	// Write writes the test of a job. Its error is one of the service, or of ctx.
	Write(ctx context.Context, j Job) (Result, error)
}

// The codes of failed generations.
const (
	CodeTimeout       = "TIMEOUT"
	CodeMaxSteps      = "MAX_STEPS_REACHED"
	CodeNoSession     = "SESSION_NOT_CREATED"
	CodeUnreachable   = "TARGET_UNREACHABLE"
	CodeNotUnderstood = "INTENT_NOT_UNDERSTOOD"
	CodeAssertion     = "ASSERTION_FAILED"
	CodeStepFailed    = "STEP_FAILED"
	CodeNotReplayed   = "REPLAY_FAILED" // what was written does not pass again
	CodeProvider      = "PROVIDER_ERROR"
	CodeCancelled     = "CANCELLED"
	CodeWorkerLost    = "WORKER_LOST"
	CodeInternal      = "INTERNAL"
)
