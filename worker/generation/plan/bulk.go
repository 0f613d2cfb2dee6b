package plan

import (
	"context"
	"slices"

	"github.com/slipway-qa/slipway/worker/generation/effect"
	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/method"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// byOneControl does a goal to all of a list by one control that says all: "mark all as read", "clear
// the finished ones"; or to those that were selected before: "select both and archive them".
func (p *planner) byOneControl(ctx context.Context, g *intent.Goal) (bool, error) {
	if len(g.Target) != 1 {
		return false, nil
	}
	m, err := p.look(ctx)
	if err != nil {
		return false, err
	}
	d := g.Target[0]
	marked := p.marked(m, g)
	if !d.All && marked == nil {
		return false, nil
	}
	f := find.Description(m, &d, p.want(m, find.Record))
	t := &method.Task{Model: m, Goal: g, Lang: p.text.Lang, Inside: -1, Near: -1, Marked: marked != nil}
	ways := method.Bulk(t)
	if len(ways) == 0 {
		return false, nil
	}
	a := &attempt{goal: g, bulk: true, only: true}
	if a.target = marked; marked == nil && f.Clear() {
		a.target = f.Candidates
	}
	a.options = func(t *method.Task) []method.Way {
		if t.Depth > 0 {
			return nil
		}
		t.Marked = marked != nil
		return method.Bulk(t)
	}
	v, err := p.attempt(ctx, a)
	switch {
	case err != nil:
		return false, err
	case v.State == effect.Wrong && a.risked:
		return false, p.failed(a, v) // it is not done once more to each
	case v.State != effect.Reached:
		return false, nil
	}
	p.useFound(&d, &f)
	p.useSpan(d.Span, "all of them")
	p.useSlots(g, a, v)
	return true, nil
}

// selects are the effects after which things may be selected for the next goal.
var selects = map[intent.Effect]bool{intent.Select: true, intent.Choose: true, intent.Toggle: true}

// marked returns the things that the goal before selected, where a goal is done to them and they are
// selected still; nil for others.
func (p *planner) marked(m *page.Model, g *intent.Goal) []find.Candidate {
	at := len(p.reading.Goals) - len(p.next) - 1
	if at < 1 || !selects[p.reading.Goals[at-1].Effect] || !g.Target[0].Pronoun || !bare(&g.Target[0]) || len(p.them) < 2 || m.Dialog != nil {
		return nil
	}
	var list []find.Candidate
	for i := range p.them {
		c, ok := p.now(m, &p.them[i])
		r := effect.RecordOf(m, &c)
		if !ok || r < 0 || !slices.ContainsFunc(m.Records[r].States, func(s string) bool { return s == "selected" || s == "checked" }) {
			return nil
		}
		list = append(list, find.Candidate{What: find.Record, Index: r, Node: m.Records[r].Node, Sub: -1, Score: 1})
	}
	return list
}
