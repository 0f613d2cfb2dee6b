package generation

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/slipway-qa/slipway/storage/step"
	next "github.com/slipway-qa/slipway/worker/generation/next/plan"
)

// planNext lets the planner that tries and looks write the draft.
func (d *draft) planNext(ctx context.Context) error {
	limit, _ := time.ParseDuration(os.Getenv("SLIPWAY_GENERATION_NEXT")) // a slow machine needs more than the default
	outcome, err := next.Run(ctx, next.Config{
		Page: d.live, Intent: d.job.Intent, Now: d.job.Now, NewID: d.newID, OnStep: d.add, MaxSteps: d.job.MaxSteps, Fresh: d.fresh,
		MaxTime: limit, Trace: d.trace(ctx),
	})
	if outcome != nil {
		d.steps, d.reasoning, d.planned = outcome.Steps, outcome.Reasoning, len(outcome.Steps)
		d.asserted, d.alternatives = outcome.Asserted, outcome.Alternatives
	}
	return err
}

// fresh opens the page as a new context would see it, and replays steps on it.
func (d *draft) fresh(ctx context.Context, steps []step.Step) error {
	again := []step.Step{
		{Tool: step.Tool{Type: step.HandleDialog, Args: step.Args{Action: "dismiss"}}, Optional: true, TimeoutMS: 100},
		{Tool: step.Tool{Type: step.GoToURL, Args: step.Args{URL: d.job.TestURL}}},
		{Tool: step.Tool{Type: step.ClearState, Args: step.Args{StateArgs: step.StateArgs{All: true}}}},
		{Tool: step.Tool{Type: step.GoToURL, Args: step.Args{URL: d.job.TestURL}}},
	}
	for i, s := range append(again, steps...) {
		if i == 0 {
			if now, err := d.live.Snapshot(ctx); err != nil || now.Dialog == nil {
				continue
			}
		}
		s.ID = d.newID()
		record, err := d.live.Do(ctx, s)
		if err != nil {
			return err
		}
		if record.Status != step.Passed && i > 0 && !s.Optional {
			return fmt.Errorf("the page cannot be brought back: %s: %s", s.Tool.Type, record.Result.Message)
		}
	}
	return nil
}

// trace writes what the planner tries to the log.
func (d *draft) trace(ctx context.Context) func(string) {
	if os.Getenv("SLIPWAY_GENERATION_TRACE") != "" {
		return func(text string) { fmt.Fprintln(os.Stderr, "   try:", text) }
	}
	return func(text string) { d.Log.DebugContext(ctx, "generation tries", "text", text) }
}
