package plan

import (
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/method"
)

// prompted returns the answer to a question of the browser with the only value that a form has left: a
// page that asks "Name of the folder" for a new one.
func prompted(t *method.Task, f *form) []method.Way {
	left, _ := f.left()
	if t.Model.Dialog == nil || t.Goal.Effect != intent.Add || len(left) != 1 || left[0].Name != nil || left[0].Off {
		return nil
	}
	return []method.Way{method.Prompt(t, &left[0].Value)}
}

// promptTook reports whether the last step gave the only value that a form has left to a question of
// the browser, and takes it for done.
func (p *planner) promptTook(f *form) bool {
	left, at := f.left()
	if len(left) != 1 || len(p.steps) == 0 {
		return false
	}
	last := &p.steps[len(p.steps)-1].Tool
	if last.Type != step.HandleDialog || last.Args.Text == nil || *last.Args.Text != left[0].Value.Text {
		return false
	}
	f.done[at[0]] = true
	p.useSpan(left[0].Value.Span, "the question was answered with it")
	p.useSpan(left[0].Span, "the question was answered with it")
	return true
}
