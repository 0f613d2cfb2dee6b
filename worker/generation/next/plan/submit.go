package plan

import (
	"context"

	"github.com/slipway-qa/slipway/worker/generation/next/effect"
	"github.com/slipway-qa/slipway/worker/generation/next/intent"
	"github.com/slipway-qa/slipway/worker/generation/next/method"
)

// submit fills in what the goal says and hands it in.
func (p *planner) submit(ctx context.Context, g *intent.Goal) error {
	if len(g.Fields) > 0 {
		f := newForm(g.Fields)
		if err := p.fill(ctx, f, anywhere); err != nil {
			return err
		}
		if !f.complete() {
			if err := p.further(ctx, g, f); err != nil {
				return err
			}
		}
	}
	a := &attempt{goal: g}
	if g.Expected {
		a.goal = expected(g)
	}
	v, err := p.attempt(ctx, a)
	if err != nil {
		return err
	}
	if v.State != effect.Reached {
		return p.failed(a, v)
	}
	for i := range g.Target {
		p.useSpan(g.Target[i].NounSpan, "handed in")
		p.useShown(effect.Between(a.start, p.model), &g.Target[i])
	}
	p.useSlots(g, a, v)
	return nil
}

// expected is a goal that must fail: pressing is all that is asked.
func expected(g *intent.Goal) *intent.Goal {
	one := *g
	one.Expected = true
	return &one
}

// answer answers a question that is open, of the browser or the page.
func (p *planner) answer(ctx context.Context, g *intent.Goal) error {
	m, err := p.look(ctx)
	if err != nil {
		return err
	}
	pending := p.pending
	p.pending = nil
	if pending == nil && m.Dialog == nil && m.Front < 0 && len(g.Target) == 0 && g.Effect == intent.Confirm {
		p.useGoal(g, "the question was answered, or none was asked")
		return nil
	}
	if len(g.Fields) > 0 {
		f := newForm(g.Fields)
		if err := p.fill(ctx, f, anywhere); err != nil {
			return err
		}
		if !f.complete() {
			return p.unfilled(f)
		}
	}
	a := &attempt{goal: g}
	v, err := p.attempt(ctx, a)
	if err != nil {
		return err
	}
	if v.State != effect.Reached {
		return p.failed(a, v)
	}
	for i := range g.Target {
		p.useShown(effect.Between(a.start, p.model), &g.Target[i])
	}
	if pending == nil {
		return nil
	}
	return p.settle(pending, g)
}

// settle judges a goal that waited for the answer to its question.
func (p *planner) settle(a *attempt, g *intent.Goal) error {
	v := effect.Judge(effect.Between(a.start, p.model), a.goal, a.target)
	if g.Effect == intent.Abandon {
		if v.State == effect.Reached && len(effect.Between(a.start, p.model).Removed) > 0 {
			return p.say("it was done, and the text says that it shall not")
		}
		return nil
	}
	if v.State != effect.Reached {
		return p.failed(a, v)
	}
	p.useSlots(a.goal, a, v)
	return nil
}

// signIn fills in who and how, and hands it in.
func (p *planner) signIn(ctx context.Context, g *intent.Goal) error {
	f := newForm(g.Fields)
	if err := p.fill(ctx, f, anywhere); err != nil {
		return err
	}
	if !f.complete() {
		if f.filled > 0 {
			return p.unfilled(f)
		}
		return p.through(ctx, g, f, nil)
	}
	if p.nextSubmits() {
		return nil
	}
	a := &attempt{goal: g}
	a.options = func(t *method.Task) []method.Way { return method.HandIn(t, nil) }
	v, err := p.attempt(ctx, a)
	if err != nil {
		return err
	}
	if v.State != effect.Reached {
		return p.failed(a, v)
	}
	return nil
}
