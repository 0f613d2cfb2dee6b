package plan

import (
	"context"

	"github.com/slipway-qa/slipway/worker/generation/effect"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/method"
)

// answer answers a question that is open, of the browser or the page.
func (p *planner) answer(ctx context.Context, g *intent.Goal) error {
	m, err := p.look(ctx)
	if err != nil {
		return err
	}
	pending := p.pending
	p.pending = nil
	if m.Dialog != nil && p.prompted != nil && g.Effect == intent.Confirm {
		one := *g
		one.Text, p.prompted = p.prompted, nil
		g = &one
	}
	if pending == nil && m.Dialog == nil && m.Front < 0 && len(g.Target) > 0 { // "approve the request of Hans"
		one := *g
		one.Effect = intent.Act
		return p.deed(ctx, &one)
	}
	if pending == nil && m.Dialog == nil && m.Front < 0 && len(g.Target) == 0 && g.Effect == intent.Confirm {
		return p.confirm(ctx, g)
	}
	if len(g.Fields) > 0 {
		f := newForm(g.Fields)
		if err := p.fill(ctx, f, p.anywhere); err != nil {
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

// confirm does "and confirm" where no question is open: it was answered on the way, what was filled
// in is handed in, or a control that is called so is pressed. Else there is nothing to confirm.
func (p *planner) confirm(ctx context.Context, g *intent.Goal) error {
	if p.confirmed {
		p.useGoal(g, "the question was answered")
		return nil
	}
	a := &attempt{goal: g, only: true}
	a.options = method.Confirms
	if p.unsent {
		a.options = func(t *method.Task) []method.Way { return append(method.Confirms(t), method.HandIn(t, p.first)...) }
	}
	m, err := p.look(ctx)
	if err != nil {
		return err
	}
	if len(p.ways(a, m, level{inside: -1})) == 0 {
		return p.say("no question is open, and nothing on the page confirms")
	}
	v, err := p.attempt(ctx, a)
	if err != nil {
		return err
	}
	if v.State != effect.Reached {
		return p.failed(a, v)
	}
	p.useSlots(g, a, v)
	return nil
}

// asAbandon is the closing of the browser's own question as the answer that it is.
func asAbandon(g *intent.Goal) *intent.Goal {
	one := *g
	one.Effect = intent.Abandon
	for i := range g.Target {
		one.Words = append(one.Words, g.Target[i].Span)
	}
	return &one
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
