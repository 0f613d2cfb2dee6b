package plan

import (
	"context"

	"github.com/slipway-qa/slipway/worker/generation/effect"
	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
)

// sort sorts a list by what the text says, until the typed attribute stands in the order.
func (p *planner) sort(ctx context.Context, g *intent.Goal) error {
	m, err := p.look(ctx)
	if err != nil {
		return err
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
	if g.Measure != nil {
		p.useSpan(g.Measure.Span, "sorted by it")
	}
	for i := range g.Target {
		p.useSpan(g.Target[i].Span, "what is sorted")
	}
	return nil
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
