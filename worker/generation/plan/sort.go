package plan

import (
	"context"
	"fmt"
	"slices"

	"github.com/slipway-qa/slipway/worker/generation/effect"
	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// sort sorts a list by what the text says, until the typed attribute stands in the order.
func (p *planner) sort(ctx context.Context, g *intent.Goal) error {
	m, err := p.look(ctx)
	if err != nil {
		return err
	}
	if d := p.notSorted(m, g); d != nil {
		return p.say(fmt.Sprintf("%q is no list that is sorted", p.words(d.Span)))
	}
	a := &attempt{goal: g, directed: saysDirection(g)}
	if g.Measure != nil {
		f := find.Description(m, g.Measure, find.Want{Kinds: []find.What{find.Column}, Lang: p.text.Lang, Within: -1})
		for _, c := range f.Candidates {
			if len(c.Missing) == 0 && c.Score >= find.Enough {
				a.target = append(a.target, c)
				p.use(c.Used...)
				break
			}
		}
	}
	v, err := p.attempt(ctx, a)
	if err != nil {
		return err
	}
	if v.State == effect.Reached && p.otherDirection(g) {
		turned := *g
		turned.Descending = true
		a.goal = &turned
		if v, err = p.attempt(ctx, a); err != nil {
			return err
		}
	}
	if v.State != effect.Reached {
		return p.failed(a, v)
	}
	p.sortedBy = p.sortedAll(a)
	if g.Measure != nil {
		p.useSpan(g.Measure.Span, "sorted by it")
	}
	for i := range g.Target {
		p.useSpan(g.Target[i].Span, "what is sorted")
	}
	return nil
}

// notSorted returns the target of a goal that says no order by which it is not shown that a list is to be sorted: it
// picks things, or its verb may mean another deed ("order 30 of the tea") and it is called as no list or column. It
// is nil where there is none.
func (p *planner) notSorted(m *page.Model, g *intent.Goal) *intent.Description {
	if g.Measure != nil || saysDirection(g) {
		return nil
	}
	other := slices.ContainsFunc(p.text.Readings, func(r intent.Reading) bool {
		return slices.ContainsFunc(r.Goals, func(o intent.Goal) bool { return o.Verb == g.Verb && o.Effect != g.Effect })
	})
	for i := range g.Target {
		d := &g.Target[i]
		for of := d; of != nil; of = of.Of {
			if of.Count > 0 || of.Ordinal != 0 || of.Extreme != nil || len(of.State)+len(of.Having)+len(of.Lacking)+len(of.Compare) > 0 {
				return d
			}
		}
		if !other || d.Kind != "" || d.Pronoun {
			continue
		}
		if f := find.Description(m, d, p.want(m, find.Column)); !f.Clear() {
			return d
		}
	}
	return nil
}

// sortedAll returns the column by which an attempt has sorted all pages of a list, of which the first one is
// seen: things of it are seen now that were not before. It is none where nothing shows that.
func (p *planner) sortedAll(a *attempt) find.Sorted {
	if len(a.target) == 0 || p.model == nil {
		return find.Sorted{}
	}
	c := &a.target[0]
	change := effect.Between(a.start, p.model)
	g := change.Group(c.Index)
	came := func(r int) bool { return p.model.Records[r].Group == g }
	if g < 0 || !p.model.Groups[g].FirstPage || !slices.ContainsFunc(change.Added, came) {
		return find.Sorted{}
	}
	done := p.reading.Goals[:len(p.reading.Goals)-len(p.next)]
	if slices.ContainsFunc(done, func(g intent.Goal) bool { return g.Effect == intent.Page }) {
		return find.Sorted{}
	}
	return find.Sorted{Group: p.model.Groups[g].Key, Column: a.start.Groups[c.Index].Columns[c.Sub].Name}
}

// sorted sorts a list of several pages by the measure of an extreme, so that the thing that is meant stands
// first. It returns nil, and the page as it was, where that does not show which one it is, or the text itself says
// how the list is sorted.
func (p *planner) sorted(ctx context.Context, d *intent.Description, tiers [][]find.What, f *find.Found) ([]find.Candidate, error) {
	ordered := slices.ContainsFunc(p.reading.Goals, func(g intent.Goal) bool { return g.Effect == intent.Sort })
	if d.Extreme == nil || f.Uncertain == "" || f.SortBy == "" || len(f.Missing) > 0 || ordered || p.cfg.Explore == ExploreOff {
		return nil, nil
	}
	start, err := p.look(ctx)
	if err != nil || start.Dialog != nil || start.Front >= 0 {
		return nil, err
	}
	mark, before := p.mark(), p.sortedBy
	column := intent.Description{Span: d.Extreme.Span, Quoted: true, Words: []intent.Word{{Span: d.Extreme.Span, Text: f.SortBy}}}
	err = p.sort(ctx, &intent.Goal{Span: d.Span, Verb: d.Extreme.Span, Words: []intent.Span{d.Extreme.Span}, Effect: intent.Sort,
		Measure: &column, Descending: f.Descending})
	if err != nil && !isNotUnderstood(err) {
		return nil, err
	}
	if err == nil && p.sortedBy != (find.Sorted{}) {
		now, err := p.look(ctx)
		if err != nil {
			return nil, err
		}
		if found, _, ok := p.resolveOn(now, d, tiers); ok {
			return found, nil
		}
	}
	p.sortedBy = before
	if p.mark() == mark {
		return nil, nil
	}
	return nil, p.back(ctx, mark, start)
}

// otherDirection reports whether what the text says of the order, right after it, does not hold in
// the direction in which lists are sorted where no direction is said: what is on another page of the
// list is not seen.
func (p *planner) otherDirection(g *intent.Goal) bool {
	if saysDirection(g) || p.model == nil {
		return false
	}
	for i := range p.next {
		c := p.next[i].Claim
		if p.next[i].Effect != intent.Check || c == nil {
			break
		}
		if c.Property != intent.At && c.Property != intent.Order {
			continue
		}
		if e := find.Claim(p.before, p.model, c, p.want(p.model)); !e.Known || !e.Holds {
			return true
		}
	}
	return false
}

// saysDirection reports whether a goal that sorts says in which direction: "descending", "cheapest first".
func saysDirection(g *intent.Goal) bool {
	return g.Descending || len(g.Words) > 0 || g.Measure != nil && g.Measure.Extreme != nil
}
