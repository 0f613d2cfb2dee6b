package plan

import (
	"slices"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/effect"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/method"
	"github.com/slipway-qa/slipway/worker/generation/page"
	"github.com/slipway-qa/slipway/worker/generation/word"
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
// the browser, and what came since shows it: a question for yes or no takes no value.
func (p *planner) promptTook(f *form, start, now *page.Model) bool {
	left, _ := f.left()
	if len(left) != 1 || len(p.steps) == 0 {
		return false
	}
	last := &p.steps[len(p.steps)-1].Tool
	value := left[0].Value.Text
	if last.Type != step.HandleDialog || last.Args.Text == nil || *last.Args.Text != value {
		return false
	}
	c := effect.Between(start, now)
	return slices.ContainsFunc(c.Added, func(r int) bool { return word.Contains(now.Records[r].Title, value) }) ||
		slices.ContainsFunc(c.NewLines, func(l int) bool { return word.Contains(now.Lines[l].Text, value) })
}

// usePrompted takes the only value that a form has left for done: a question of the browser took it.
func (p *planner) usePrompted(f *form) {
	left, at := f.left()
	f.done[at[0]] = true
	p.useSpan(left[0].Value.Span, "the question was answered with it")
	p.useSpan(left[0].Span, "the question was answered with it")
}
