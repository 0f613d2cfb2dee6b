package plan

import (
	"context"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/effect"
	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/lexicon"
	"github.com/slipway-qa/slipway/worker/generation/method"
	"github.com/slipway-qa/slipway/worker/generation/page"
	"github.com/slipway-qa/slipway/worker/generation/word/token"
)

// formed does a deed on things that a page has only as options of a form ("lend the tile cutter to Mia for
// a week"): all that is said is filled in and handed in by a control that says the deed. False where the deed
// is none such.
func (p *planner) formed(ctx context.Context, g *intent.Goal) (bool, error) {
	if g.Effect != intent.Act || g.Risk != "" || len(g.Target) == 0 || len(g.Fields) == 0 && g.To == nil || g.From != nil || g.Become != nil {
		return false, nil
	}
	m, err := p.look(ctx)
	if err != nil || m.Dialog != nil || len(p.saysDeed(m, g)) == 0 {
		return false, err
	}
	for i := range g.Target {
		if f := find.Description(m, &g.Target[i], p.want(m, find.Record, find.Control)); len(f.Candidates) > 0 && len(f.Missing) == 0 {
			return false, nil
		}
	}
	one := *g
	one.Effect, one.To = intent.Add, nil
	if g.To != nil {
		one.Fields = append(slices.Clone(g.Fields), placeValue("to", g.To))
	}
	things := titleFields(&one)
	f := newForm(append(things, one.Fields...))
	if err := p.peek(ctx, f, p.anywhere); err != nil {
		return false, err
	}
	if m, err = p.look(ctx); err != nil || !p.offersAll(m, things) || !p.takesAll(m, f) {
		return false, err
	}
	return p.handInBy(ctx, g, &one, f)
}

// ofAmount does a deed on an amount of money, which is no thing of the page but a value: "pay 20 euros into the kitty"
// by the one button of the kitty that says so, and what it opens. False where the goal is none such.
func (p *planner) ofAmount(ctx context.Context, g *intent.Goal) (bool, error) {
	if g.Effect != intent.Act || len(g.Target) != 1 || len(g.Fields) > 0 || g.In != nil {
		return false, nil
	}
	const digits = "0123456789.,"
	text := p.words(g.Target[0].Span)
	unit := strings.TrimSpace(strings.Trim(text, digits))
	n := token.Values(strings.TrimSpace(strings.Replace(text, unit, "", 1)))
	e := lexicon.Language(p.text.Lang).Entry(unit, lexicon.Unit)
	m, err := p.look(ctx)
	if err != nil || m.Dialog != nil || len(n) != 1 || e == nil || e.Name != "money" {
		return false, err
	}
	one := *g
	one.Target, one.To, one.In = nil, nil, g.To
	one.Fields = []intent.Field{{Span: g.Target[0].Span, Value: intent.Value{Span: g.Target[0].Span, Text: method.NumberText(n[0]),
		Number: &n[0], Unit: unit, UnitClass: e.Name}}}
	p.goal = &one
	defer func() { p.goal = g }()
	place, ok := p.partOf(m)
	ways := slices.DeleteFunc(p.saysDeed(m, g), func(w method.Way) bool { return ok && !m.Inside(place.Node, w.Acts[len(w.Acts)-1].Node) })
	if g.To != nil && !ok || len(ways) != 1 {
		return false, nil
	}
	if err := p.through(ctx, &one, newForm(one.Fields), nil); err != nil {
		return false, err
	}
	if g.To != nil {
		p.use(place.Used...)
		p.useSpan(g.To.Span, "in "+place.Why)
	}
	return true, nil
}

// handInBy fills in a form of the page and hands it in by what says the deed of a goal, and by nothing
// else. Where that does not make anything the page is as before.
func (p *planner) handInBy(ctx context.Context, g, one *intent.Goal, f *form) (bool, error) {
	mark, start := p.mark(), p.model
	if err := p.fill(ctx, f, p.anywhere); err != nil {
		return false, err
	}
	if !f.complete() {
		return false, p.back(ctx, mark, start)
	}
	a := &attempt{goal: one, from: start, only: true}
	a.options = func(t *method.Task) []method.Way {
		if t.Depth > 0 {
			return nil
		}
		return p.saysDeed(t.Model, g)
	}
	v, err := p.attempt(ctx, a)
	if err != nil {
		return false, err
	}
	if v.State != effect.Reached {
		return false, p.back(ctx, mark, start)
	}
	p.useMade(one)
	return true, nil
}

// saysDeed returns the presses of the controls of a page, in no record, that are called by the deed of a goal.
func (p *planner) saysDeed(m *page.Model, g *intent.Goal) []method.Way {
	deed := &intent.Goal{Span: g.Span, Effect: g.Effect, Verb: g.Verb, Lemma: g.Lemma}
	ways := method.Page(&method.Task{Model: m, Goal: deed, Lang: p.text.Lang, Inside: -1})
	return slices.DeleteFunc(ways, func(w method.Way) bool {
		return !says(m, deed, m.ControlAt(w.Acts[len(w.Acts)-1].Node))
	})
}

// offersAll reports whether each value is an option of a field of the page.
func (p *planner) offersAll(m *page.Model, values []intent.Field) bool {
	slots, ok := p.assigned(m, values, p.anywhere(m))
	return ok && len(values) > 0 && !slices.ContainsFunc(slots, func(s find.Slot) bool { return s.Label == "" })
}

// madeIn fills in a form of the page, with the pages that follow, and hands it in. Where that does not make
// anything the page is as before.
func (p *planner) madeIn(ctx context.Context, g *intent.Goal, start *page.Model, f *form) (bool, error) {
	mark := p.mark()
	if err := p.fill(ctx, f, p.anywhere); err != nil {
		return false, err
	}
	if !f.complete() {
		if err := p.onPages(ctx, f); err != nil {
			return false, err
		}
	}
	if f.complete() {
		if err := p.chooseSaid(ctx, p.anywhere); err != nil {
			return false, err
		}
		if done, err := p.handIn(ctx, g, start, f); err != nil || done {
			return done, err
		}
	}
	return false, p.back(ctx, mark, start)
}

// sharesRecord reports whether the card that one value goes into takes another one too: it is a form, and no
// thing of a list with its box.
func sharesRecord(m *page.Model, slots []find.Slot, at int) bool {
	r := m.Fields[slots[at].To.Index].Record
	for i := range slots {
		if f := &m.Fields[slots[i].To.Index]; i != at && f.Record == r && f.Kind != "switch" {
			return true
		}
	}
	return false
}
