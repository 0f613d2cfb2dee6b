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
	if len(g.Target) != 1 || len(g.Fields) > 0 {
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
	if marked == nil && (len(wordsOf(&d)) > 0 && !f.Clear() || g.From != nil && !p.holdsThings(m, g.From)) {
		return false, nil // "all from Zoe", and nothing is: all there are are others
	}
	some := marked == nil && leavesOut(m, &f)
	t := &method.Task{Model: m, Goal: g, Lang: p.text.Lang, Inside: -1, Near: -1, Marked: marked != nil, Some: some}
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
		t.Marked, t.Some = marked != nil, some
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
	if len(wordsOf(&d)) == 0 {
		p.useSpan(d.Span, "all of them")
	}
	p.useSlots(g, a, v)
	return true, nil
}

// holdsThings reports whether a description is a part of the page, out of which things are taken.
func (p *planner) holdsThings(m *page.Model, d *intent.Description) bool {
	parts := find.Containers(m, d, p.want(m))
	return len(parts) > 0 && len(parts[0].Missing) == 0 && parts[0].Score >= find.Enough
}

// forAll reports whether a way to do something to one record presses what does it to all.
func forAll(m *page.Model, record int, w *method.Way) bool {
	return record >= 0 && len(w.Acts) > 0 && method.ForAll(m, w.Acts[len(w.Acts)-1].Node)
}

// leavesOut reports whether a list has more than the things that were found in it.
func leavesOut(m *page.Model, f *find.Found) bool {
	found := map[int]bool{}
	for i := range f.Candidates {
		found[effect.RecordOf(m, &f.Candidates[i])] = true
	}
	return slices.ContainsFunc(m.Groups, func(g page.Group) bool {
		is := func(r int) bool { return found[r] }
		return slices.ContainsFunc(g.Records, is) && slices.ContainsFunc(g.Records, func(r int) bool { return !is(r) })
	})
}

// allChanged reports whether what changed of a list changed of all of it: what did not shows nothing of
// what the others showed before.
func allChanged(c *effect.Change) bool {
	changed, groups, lost := map[int]bool{}, map[int]bool{}, map[string]bool{}
	for _, pair := range c.Changed {
		changed[pair.Before], groups[c.Before.Records[pair.Before].Group] = true, true
		is := marksOf(c.After, pair.After)
		for text := range marksOf(c.Before, pair.Before) {
			lost[text] = lost[text] || !is[text]
		}
	}
	for r := range c.Before.Records {
		if changed[r] || !groups[c.Before.Records[r].Group] {
			continue
		}
		for text := range marksOf(c.Before, r) {
			if lost[text] {
				return false
			}
		}
	}
	return true
}

// marksOf are the texts, states and names of controls of a record.
func marksOf(m *page.Model, r int) map[string]bool {
	list := map[string]bool{}
	for _, a := range m.Records[r].Attributes {
		list[effect.Fold(a.Text)] = true
	}
	for _, s := range m.Records[r].States {
		list[s] = true
	}
	for _, k := range m.Records[r].Controls {
		list[effect.Fold(effect.ControlName(m, k))+" "+m.Controls[k].State] = true
	}
	return list
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
