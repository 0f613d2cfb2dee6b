package generation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/slipway-qa/slipway/storage/authoring"
	store "github.com/slipway-qa/slipway/storage/generation"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/worker/generation/plan"
)

// plan lets the planner add steps to the draft.
func (d *draft) plan(ctx context.Context, cfg plan.Config) error {
	steps, reasoning := len(d.steps), len(d.reasoning)
	before := slices.Clone(d.steps) // what the page needs before those that are written now
	cfg.Page, cfg.Now, cfg.NewID, cfg.Trace = d.live, d.job.Now, d.newID, d.tracer(ctx)
	cfg.OnSteps = func(list []step.Step, why []authoring.Reason) {
		d.steps, d.reasoning = append(d.steps[:steps:steps], list...), append(d.reasoning[:reasoning:reasoning], why...)
		d.show()
	}
	cfg.MaxTime, cfg.Explore = d.maxTime(ctx), d.job.Explore
	if cfg.MaxSteps = d.job.MaxSteps; cfg.MaxSteps > 0 {
		cfg.MaxSteps = max(cfg.MaxSteps-d.planned, 1)
	}
	cfg.Fresh = func(ctx context.Context, some []step.Step) error {
		return d.fresh(ctx, d.live, slices.Concat(before, some))
	}
	cfg.Ask, cfg.AskAlways = d.asked.of(d), d.asked.always()
	outcome, err := plan.Run(ctx, cfg)
	if outcome != nil {
		d.steps = append(d.steps[:steps:steps], outcome.Steps...)
		d.planned += len(outcome.Steps)
		d.reasoning = append(d.reasoning[:reasoning:reasoning], outcome.Reasoning...)
		d.asserted = d.asserted || outcome.Asserted
		d.alternatives = outcome.Alternatives
		d.found(outcome, err)
	}
	return err
}

// found adds to the findings what came of one text.
func (d *draft) found(outcome *plan.Outcome, err error) {
	if d.findings == nil {
		d.findings = &store.Findings{}
	}
	f := d.findings
	f.Trivial = append(f.Trivial, outcome.Trivial...)
	for _, one := range outcome.Decided {
		f.Decided = append(f.Decided, store.Decision{What: one.What, By: one.By})
	}
	var not *plan.NotUnderstoodError
	if !errors.As(err, &not) {
		return
	}
	for _, c := range not.Clauses {
		f.Clauses = append(f.Clauses, store.Clause{Text: c.Text, Done: c.Done, Left: c.Left})
	}
	for _, c := range not.Candidates {
		f.Candidates = append(f.Candidates, store.Candidate{What: c.What, Score: c.Score, Why: c.Why})
	}
}

// maxTime is how long the planner may try: what is set, else half of the time that is left, as
// the test is replayed behind it. 0 is its default.
func (d *draft) maxTime(ctx context.Context) time.Duration {
	end, ok := ctx.Deadline()
	if d.MaxTime > 0 || !ok {
		return d.MaxTime
	}
	return max(time.Until(end)/2, time.Second)
}

// fresh opens the page as a new context would see it, and replays steps on it. Where they do not work
// again, that is a result: another try of the task would do all of it once more.
func (d *draft) fresh(ctx context.Context, on plan.Page, steps []step.Step) error {
	again := []step.Step{
		{Tool: step.Tool{Type: step.HandleDialog, Args: step.Args{Action: "dismiss"}}, Optional: true, TimeoutMS: 100},
		{Tool: step.Tool{Type: step.GoToURL, Args: step.Args{URL: d.job.TestURL}}},
		{Tool: step.Tool{Type: step.ClearState, Args: step.Args{StateArgs: step.StateArgs{All: true}}}},
		{Tool: step.Tool{Type: step.GoToURL, Args: step.Args{URL: d.job.TestURL}}},
	}
	for i, s := range append(again, steps...) {
		if i == 0 {
			if now, err := on.Snapshot(ctx); err != nil || now.Dialog == nil {
				continue
			}
		}
		s.ID = d.newID()
		record, err := on.Do(ctx, s)
		if err != nil {
			return err
		}
		if record.Status != playback.Passed && i > 0 && !s.Optional {
			return &plan.FailedError{Code: CodeStepFailed, Detail: fmt.Sprintf("the page cannot be brought back: %s: %s",
				s.Tool.Type, record.Result.Message)}
		}
	}
	return nil
}

// tracer returns where the planner tells what it tries.
func (d *draft) tracer(ctx context.Context) func(string) {
	if d.Trace != nil {
		return d.Trace
	}
	return func(text string) { d.Log.DebugContext(ctx, "generation tries", "text", text) }
}
