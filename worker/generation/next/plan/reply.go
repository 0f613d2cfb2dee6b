package plan

import (
	"context"

	"github.com/slipway-qa/slipway/worker/generation/next/effect"
	"github.com/slipway-qa/slipway/worker/generation/next/find"
	"github.com/slipway-qa/slipway/worker/generation/next/intent"
	"github.com/slipway-qa/slipway/worker/generation/next/method"
)

// answered returns the thing that a text is added to where the thing itself has a control for it:
// "reply to the post of Bo", "comment on the plan".
func (p *planner) answered(g *intent.Goal) (find.Candidate, bool) {
	if g.To == nil || len(g.Target) > 0 || p.model == nil {
		return find.Candidate{}, false
	}
	f := find.Description(p.model, g.To, p.want(p.model, find.Record))
	if !f.Clear() || f.Plural || len(f.Assumed) > 0 && len(wordsOf(g.To)) == 0 {
		return find.Candidate{}, false
	}
	aim := find.Aim{Effect: g.Effect, Lemma: g.Lemma, Lang: p.text.Lang, Record: f.Candidates[0].Index, Within: -1}
	if len(find.Controls(p.model, aim)) == 0 {
		return find.Candidate{}, false
	}
	p.useFound(g.To, &f)
	return f.Candidates[0], true
}

// replyTo adds what the fields of a goal say to a thing: a control of it opens a form, which is
// handed in. What that makes need be no thing of a list.
func (p *planner) replyTo(ctx context.Context, g *intent.Goal, c *find.Candidate) error {
	start := p.model
	open := *g
	open.Effect, open.To = intent.Open, nil
	if err := p.once(ctx, &open, []find.Candidate{*c}); err != nil {
		return err
	}
	f := newForm(append(titleFields(g), g.Fields...))
	if len(f.fields) == 0 {
		return nil
	}
	if err := p.fill(ctx, f, anywhere); err != nil {
		return err
	}
	if !f.complete() {
		return p.unfilled(f)
	}
	if p.nextSubmits() {
		return nil
	}
	submit := *g
	submit.Effect, submit.To, submit.Fields = intent.Submit, nil, nil
	a := &attempt{goal: &submit, options: func(t *method.Task) []method.Way { return method.HandIn(t, start) }}
	v, err := p.attempt(ctx, a)
	if err != nil {
		return err
	}
	if v.State != effect.Reached {
		return p.failed(a, v)
	}
	return nil
}
