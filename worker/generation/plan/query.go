package plan

import (
	"context"
	"slices"

	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/method"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// query does a goal whose things the page only has after a search by what the goal says of them:
// "book the cheapest flight from Rome to Oslo on 12 May". The fields are filled in, the search is
// pressed, and the thing is taken out of what came. It is for things that are picked among others
// by an extreme: only a list has one.
func (p *planner) query(ctx context.Context, g *intent.Goal) (bool, error) {
	if len(g.Target) != 1 || !superlative(&g.Target[0]) || g.Target[0].In != nil {
		return false, nil
	}
	f := newForm(queryFields(g))
	f.offers = true
	start, err := p.look(ctx)
	if err != nil || len(f.fields) == 0 || start.Dialog != nil {
		return false, err
	}
	if _, _, ok := p.resolveOn(start, &g.Target[0], tiersOf(g.Effect)); ok {
		return false, nil
	}
	if _, ok := p.assigned(start, f.fields, p.anywhere(start)); !ok {
		return false, nil
	}
	rest := p.searchedFor(start, &g.Target[0])
	if err := p.fillAll(ctx, f); err != nil {
		return false, err
	}
	if err := p.found(ctx, g, start, rest); err != nil {
		return false, err
	}
	for _, d := range []*intent.Description{g.From, g.To} {
		if d != nil {
			p.useSpan(d.Span, "the field holds it")
		}
	}
	one := *g
	one.Target, one.Fields, one.From, one.To = []intent.Description{*rest}, nil, nil, nil
	return true, p.takeEach(ctx, &one)
}

// superlative reports whether a description picks the least or greatest of several.
func superlative(d *intent.Description) bool {
	return d.Extreme != nil || slices.ContainsFunc(d.Having, func(h intent.Description) bool { return h.Extreme != nil })
}

// queryFields are what a goal says of what is searched for, as values of fields: where from and
// where to are fields of these names.
func queryFields(g *intent.Goal) []intent.Field {
	list := append([]intent.Field{}, g.Fields...)
	for name, d := range map[string]*intent.Description{"from": g.From, "to": g.To} {
		if d == nil || d.Pronoun || len(d.Words) == 0 {
			continue
		}
		list = append(list, intent.Field{Span: d.Span, Prep: name, Name: &intent.Description{Words: []intent.Word{{Text: name}}},
			Value: d.Value()})
	}
	return list
}

// searchedFor returns a description without the words that say what the page searches for, by its
// headings: all that comes is that.
func (p *planner) searchedFor(m *page.Model, d *intent.Description) *intent.Description {
	rest := *d
	rest.Extreme, rest.Noun, rest.NounSpan, rest.Kind = nil, "", intent.Span{}, ""
	if d.Noun != "" {
		rest.Words = append([]intent.Word{{Span: d.NounSpan, Text: d.Noun}}, rest.Words...)
	}
	said := map[intent.Span]bool{}
	w := p.want(m, find.Container, find.Line)
	for _, c := range find.Description(m, &rest, w).Candidates {
		if c.What == find.Line && m.Lines[c.Index].Heading == 0 {
			continue
		}
		for _, u := range c.Used {
			said[u.Span] = true
		}
		p.use(c.Used...)
	}
	rest = *d
	rest.Words = nil
	for _, word := range d.Words {
		if !said[word.Span] {
			rest.Words = append(rest.Words, word)
		}
	}
	if said[d.NounSpan] {
		rest.Noun, rest.NounSpan = "", intent.Span{}
	}
	return &rest
}

// found presses what searches by the fields that were filled in, until what is looked for is seen.
func (p *planner) found(ctx context.Context, g *intent.Goal, start *page.Model, rest *intent.Description) error {
	m, err := p.look(ctx)
	if err != nil {
		return err
	}
	mark := p.mark()
	t := &method.Task{Model: m, Goal: g, Lang: p.text.Lang, Inside: -1, Near: p.nearOn(m)}
	var nearest find.Found
	for n, w := range method.Query(t, start) {
		if n == maxWays || p.spent() || n > 0 && p.cfg.Explore == ExploreOff {
			break
		}
		now, err := p.step(ctx, &w)
		if err != nil {
			return err
		}
		if now != nil {
			_, f, ok := p.resolveOn(now, rest, [][]find.What{{find.Record}})
			if ok {
				return nil
			}
			nearest = f
		}
		if ok, err := p.undo(ctx, mark, m); err != nil || !ok {
			return p.unresolved(rest, &nearest)
		}
	}
	return p.unresolved(rest, &nearest)
}

// takeOffer chooses the suggestion that a field made for the value that was typed into it. Several
// that fit equally well are not guessed among.
func (p *planner) takeOffer(ctx context.Context, before *page.Model, v *intent.Value) error {
	now, err := p.look(ctx)
	if err != nil {
		return err
	}
	news := newNodes(before, now)
	if len(news) == 0 || v.Date != nil {
		return nil
	}
	t := &method.Task{Model: now, Goal: p.goalFor(v), Lang: p.text.Lang, Inside: opened(before, now), News: news, Depth: 1}
	list := method.Offered(t, v)
	if len(list) == 0 {
		return nil
	}
	if len(list) > 1 && list[0].Acts[0].Node != list[1].Acts[0].Node && list[1].Cost-list[0].Cost < find.Margin {
		return p.say("several suggestions fit \"" + v.Text + "\"")
	}
	_, err = p.step(ctx, &list[0])
	return err
}
