package plan

import (
	"context"

	"github.com/slipway-qa/slipway/worker/generation/effect"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/lexicon"
	"github.com/slipway-qa/slipway/worker/generation/method"
	"github.com/slipway-qa/slipway/worker/generation/page"
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
	a := &attempt{goal: g}
	if at := len(p.reading.Goals) - len(p.next) - 1; pending != nil {
		a.asked = pending.goal
	} else if at > 0 && g.Effect == intent.Confirm {
		a.asked = &p.reading.Goals[at-1]
	}
	if by := byName(&method.Task{Model: m, Goal: g, Lang: p.text.Lang, Inside: m.Front, Near: -1}); by != nil {
		a.only, a.options = true, func(t *method.Task) []method.Way {
			t.Inside = t.Model.Front
			return method.Called(t, by)
		}
		p.useSpan(g.Fields[0].Span, "the control")
		p.useSpan(by.Span, "the control")
	} else if len(g.Fields) > 0 {
		f := newForm(g.Fields)
		if err := p.fillAll(ctx, f); err != nil {
			return err
		}
	}
	if _, err := p.achieve(ctx, a); err != nil {
		return err
	}
	for i := range g.Target {
		p.useShown(effect.Between(a.start, p.model), &g.Target[i])
	}
	if pending == nil {
		return nil
	}
	return p.settle(pending, g)
}

// unasked names the control of a way that says yes to more than the goal before it says: "settle it, then
// confirm" deletes nothing, whatever the page asks then; "" where it does not.
func (p *planner) unasked(a *attempt, m *page.Model, w *method.Way) string {
	if a.asked == nil {
		return ""
	}
	switch a.asked.Effect {
	case intent.Submit, intent.Add, intent.Set, intent.Edit, intent.Complete, intent.Toggle, intent.Open, intent.Choose, intent.Select:
		return method.Unsaid(m, w, a.asked, p.words(a.asked.Span)+" "+p.words(a.goal.Span))
	}
	return ""
}

// byName returns what the text calls the control of a question that answers it: "confirm it with
// Delete"; nil where it gives a value to fill in.
func byName(t *method.Task) *intent.Value {
	if t.Inside < 0 || len(t.Goal.Fields) != 1 || t.Goal.Fields[0].Name != nil {
		return nil
	}
	v := &t.Goal.Fields[0].Value
	if len(method.Called(t, v)) != 1 {
		return nil
	}
	return v
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
		if p.mark() > 0 {
			return p.say("what stands before it is done, the page asked nothing, and so there was nothing to confirm")
		}
		return p.say("no question is open, and nothing on the page confirms")
	}
	v, err := p.achieve(ctx, a)
	if err != nil {
		return err
	}
	p.useSlots(g, a, v)
	return nil
}

// pressed judges a goal that waited for its question, where the text says what to press there. What
// declines leaves it undone.
func (p *planner) pressed(ctx context.Context, a *attempt, g *intent.Goal) error {
	if _, err := p.look(ctx); err != nil {
		return err
	}
	if as := p.asAnswer(g); as != nil {
		g = as
	}
	return p.settle(a, g)
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

// asAnswer is the press of what a question of the browser is answered with as that answer: "press
// OK in the dialog"; nil where it presses something else. Its buttons are no elements of the page.
func (p *planner) asAnswer(g *intent.Goal) *intent.Goal {
	if g.Effect != intent.Press || g.How != "" || len(g.Target) != 1 || len(g.Target[0].Words) == 0 {
		return nil
	}
	for _, id := range lexicon.Concept(g.Target[0].Phrase(), "") {
		one := *g
		one.Target = nil
		switch id.Name() {
		case "confirm", "yes":
			one.Effect = intent.Confirm
			return &one
		case "cancel", "no":
			one.Effect = intent.Abandon
			return &one
		}
	}
	return nil
}

// settle judges a goal that waited for the answer to its question.
func (p *planner) settle(a *attempt, g *intent.Goal) error {
	v := p.judge(effect.Between(a.start, p.model), a)
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
