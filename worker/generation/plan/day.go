package plan

import (
	"context"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/lexicon"
	"github.com/slipway-qa/slipway/worker/generation/method"
	"github.com/slipway-qa/slipway/worker/generation/page"
	"github.com/slipway-qa/slipway/worker/generation/word/token"
)

// asked returns a goal that makes a new thing with the form of what it says of it, and the page. Where
// the page as it stands does not take that, the day in a calendar that it names is pressed first.
func (p *planner) asked(ctx context.Context, g *intent.Goal) (*intent.Goal, *form, *page.Model, error) {
	start, err := p.look(ctx)
	if err != nil {
		return g, nil, nil, err
	}
	g = p.ofOutside(start, g)
	f := newForm(append(append(titleFields(g), g.Fields...), p.placeFields(start, g)...))
	if err = p.peek(ctx, f, p.anywhere); err == nil {
		err = p.split(ctx, f, p.anywhere)
	}
	if err != nil {
		return g, nil, nil, err
	}
	if start, err = p.look(ctx); err != nil || p.takesAll(start, f) {
		return g, f, start, err
	}
	if g, err = p.onDay(ctx, g); err != nil {
		return g, nil, nil, err
	}
	if start, err = p.look(ctx); err != nil {
		return g, nil, nil, err
	}
	titles := titleFields(g)
	if p.madeBy(start, g) {
		titles = nil
	}
	return g, newForm(append(append(titles, g.Fields...), p.placeFields(start, g)...)), start, nil
}

// onDay presses the day in a calendar of the page that something is added on ("on March 4, 2027"), and
// returns the goal without it. The goal as it is, where there is no such day, or nothing to fill in
// comes with it.
func (p *planner) onDay(ctx context.Context, g *intent.Goal) (*intent.Goal, error) {
	at := slices.IndexFunc(g.Fields, func(f intent.Field) bool {
		d := f.Value.Date
		return f.Name == nil && d != nil && d.Year > 0 && d.Month > 0 && d.Day > 0 && d.Hour < 0 && d.To == nil
	})
	start, err := p.look(ctx)
	if at < 0 || err != nil || p.cfg.Explore == ExploreOff {
		return g, err
	}
	mark, before := p.mark(), start
	for range maxPicks {
		t := &method.Task{Model: before, Goal: g, Lang: p.text.Lang, Inside: -1, Near: -1}
		ways := method.DayWays(t, g.Fields[at].Value.Date)
		if len(ways) == 0 || p.spent() || p.isForbidden(before, &ways[0]) {
			break
		}
		now, err := p.step(ctx, &ways[0])
		if err != nil {
			return g, err
		}
		if now != nil && !ways[0].Reveals && fieldsCame(before, now) {
			p.useSpan(g.Fields[at].Span, "the day in the calendar")
			p.useSpan(g.Fields[at].Value.Span, "the day in the calendar")
			rest := *g
			rest.Fields = slices.Delete(slices.Clone(g.Fields), at, at+1)
			return &rest, nil
		}
		if now == nil || !ways[0].Reveals || same(before, now) {
			break
		}
		before = now
	}
	if p.mark() > mark {
		err = p.back(ctx, mark, start)
	}
	return g, err
}

// amounts has the number that a new thing is of be one of its values: "an expense of 12.50 for lunch", "45 of
// taxi". What is of a number is no name where a control of the page says that it adds such things.
func (p *planner) amounts(g *intent.Goal) *intent.Goal {
	if len(g.Target) != 1 || g.Target[0].Quoted || p.model == nil {
		return g
	}
	one := *g
	one.Target, one.Fields = slices.Clone(g.Target), slices.Clone(g.Fields)
	d := &one.Target[0]
	if v := g.Amount; v != nil && v.Number != nil {
		one.Amount, one.Fields = nil, append(one.Fields, intent.Field{Value: *v, Span: v.Span})
	}
	if of := d.Of; of != nil && len(of.Words) > 0 && of.Noun == "" {
		if n := token.Values(strings.Fields(of.Phrase())[0]); len(n) > 0 {
			v := placeValue("of", of)
			v.Value.Number = &n[0]
			d.Of, one.Fields = nil, append(one.Fields, v)
		}
	}
	ofNumber := slices.ContainsFunc(one.Fields, func(f intent.Field) bool {
		return f.Name == nil && f.Value.Number != nil && p.isOf(f.Prep)
	})
	if ofNumber && len(one.Fields) > 1 && len(d.Words) > 0 && p.addedBy(p.model, &one) {
		p.useSpan(d.NounSpan, "what is added")
		one.Target = nil
	}
	return &one
}

// isOf reports whether a word may say what something is of.
func (p *planner) isOf(prep string) bool {
	if prep == "of" {
		return true
	}
	lex := lexicon.Language(p.text.Lang)
	e := lex.Entry(prep, lexicon.Preposition)
	return e != nil && slices.Contains(append([]string{e.Name}, e.Names...), "of")
}

// madeBy reports whether the target of an addition is what a control of the page says that it adds, and
// no name: "an event" beside the button "Add event", where the text says the title by itself.
func (p *planner) madeBy(m *page.Model, g *intent.Goal) bool {
	named := slices.ContainsFunc(g.Fields, func(f intent.Field) bool { return f.Name != nil && f.Value.Quoted })
	if !named || len(g.Target) != 1 || g.Target[0].Quoted || len(g.Target[0].Words) == 0 {
		return false
	}
	return p.addedBy(m, g)
}

// addedBy reports whether a control of the page says that it adds what the target of an addition is called.
func (p *planner) addedBy(m *page.Model, g *intent.Goal) bool {
	words := g.Target[0].Words
	aim := find.Aim{Effect: intent.Add, Lemma: g.Lemma, Words: g.Target, Lang: p.text.Lang, Record: -1, Within: -1}
	for _, k := range find.Controls(m, aim) {
		said := func(w intent.Word) bool {
			return slices.ContainsFunc(k.Used, func(u find.Use) bool { return u.Span == w.Span })
		}
		if k.Score >= leastSaid && !slices.ContainsFunc(words, func(w intent.Word) bool { return !said(w) }) {
			p.use(k.Used...)
			return true
		}
	}
	return false
}

// pickRange presses both ends of a range in a calendar that a field opened.
func (p *planner) pickRange(ctx context.Context, start, now *page.Model, c *find.Candidate, v *intent.Value) (bool, error) {
	for _, day := range []*intent.Date{v.Date, v.Date.To} {
		for turned := 0; ; turned++ {
			t := &method.Task{Model: now, Goal: p.goalFor(v), Lang: p.text.Lang, Inside: opened(start, now), News: newNodes(start, now), Depth: 1}
			ways := method.DayWays(t, day)
			if len(ways) == 0 || turned == maxPicks || p.spent() {
				return false, nil
			}
			then, err := p.step(ctx, &ways[0])
			if err != nil || then == nil {
				return false, err
			}
			if now = then; !ways[0].Reveals {
				break
			}
			p.tries-- // turning a calendar is one try
		}
	}
	return p.holdsNow(start, now, c, v, false), nil
}
