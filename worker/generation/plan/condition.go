package plan

import (
	"context"

	"github.com/slipway-qa/slipway/worker/generation/intent"
)

// conditional reports whether an instruction is to be done now, and lets its steps
// have its condition. Steps that are not done now cannot be found out: they are left
// out of the test, and the reasoning says so.
func conditional(ctx context.Context, p *planner, in *intent.Instruction) (bool, error) {
	p.optional, p.when = in.Optional, nil
	if in.If == nil {
		return true, nil
	}
	condition, holds, err := conditionOf(ctx, asserter{p}, in.If)
	if isNotUnderstood(err) { // what it asks about is not there
		holds, err = false, nil
	}
	if err != nil {
		return false, err
	}
	if holds == in.Else {
		p.optional = false
		p.note(describe(in), "Skipped: "+conditionText(in)+" now. What is not done when a test is written is not in it.")
		return false, nil
	}
	if condition == nil { // it holds, and no selector can say so
		p.optional = true
	} else {
		c := *condition
		if in.Else {
			c.Not = !c.Not
		}
		p.when = &c
	}
	return true, nil
}

// conditionText says how the condition of a skipped instruction stands.
func conditionText(in *intent.Instruction) string {
	text := in.If.Text
	if text == "" {
		text = "its condition"
	}
	if in.Else {
		return text + " holds"
	}
	return text + " does not hold"
}
