package model

import (
	"time"

	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/plan"
)

// AgentConfig is what an agent works on: one for each generation.
type AgentConfig struct {
	Client *Client
	Page   plan.Page
	// Intent is the whole text, and TestURL the address that the test began with.
	Intent, TestURL string
	// Budget bounds the calls; nil: nothing does.
	Budget Budget
	// Redact removes the values of secrets from everything that is sent.
	Redact *step.Redactor
	// OnStep is called with each step that was executed and kept, and why; nil: nobody.
	OnStep func(s step.Step, why authoring.Reason)
	Now    func() time.Time
	// NewID returns the id of the next step; nil: the steps have none.
	NewID func() string
	// Recorder keeps what is sent; nil: one of the agent's own.
	Recorder *Recorder
}

// Task is a clause that an agent does.
type Task struct {
	Clause intent.Clause
	// Why is what the planner understood of it and why it could not go on; nil when it
	// was not asked.
	Why *plan.NotUnderstoodError
	// Done are the steps that were executed before.
	Done []step.Step
	// MaxSteps is how many steps may be added; 0: as many as a clause may have.
	MaxSteps int
}

// Result is what an agent did.
type Result struct {
	Steps     []step.Step // executed, in order; none has failed
	Reasoning []authoring.Reason
	// Asserted is set when one of them is an assertion.
	Asserted bool
	// Summary is what the model said that it did.
	Summary string
}

// Agent does clauses by asking a model. It is not safe for concurrent use: it acts on
// one page.
type Agent struct {
	cfg      AgentConfig
	recorder *Recorder
}

// NewAgent returns an agent.
func NewAgent(cfg AgentConfig) *Agent {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Recorder == nil {
		cfg.Recorder = NewRecorder(cfg.Redact)
	}
	return &Agent{cfg: cfg, recorder: cfg.Recorder}
}

// Usage returns what the model was asked so far and what it cost; nil without a call.
func (a *Agent) Usage() *Usage { return a.recorder.Usage() }

// asks reports whether each reading of the clause does something, and whether each
// verifies something. A clause that could not be read asks for neither.
func (t *Task) asks() (acts, asserts bool) {
	acts, asserts = len(t.Clause.Readings) > 0, len(t.Clause.Readings) > 0
	for _, r := range t.Clause.Readings {
		does, verifies := false, false
		for i := range r.Instructions {
			switch r.Instructions[i].Kind {
			case intent.Assert:
				verifies = true
			case intent.Find, intent.WaitFor, intent.Wait:
			default:
				does = true
			}
		}
		acts, asserts = acts && does, asserts && verifies
	}
	return acts, asserts
}
