package plan

import (
	"context"
	"slices"

	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
)

// rate gives a thing of a list its stars, or what the whole page is about: "give it three stars" where
// nothing was spoken of, "rate the jacket" on the page of the jacket. What is written with the stars
// makes a review.
func (p *planner) rate(ctx context.Context, g *intent.Goal) error {
	m, err := p.look(ctx)
	if err != nil {
		return err
	}
	if len(g.Target) != 1 || g.Amount == nil {
		return p.deed(ctx, g)
	}
	d := &g.Target[0]
	if !(d.Pronoun && bare(d) && len(p.them) == 0) {
		if _, _, ok := p.resolveOn(m, d, [][]find.What{{find.Record}, {find.Field, find.Option, find.Control}}); ok {
			return p.deed(ctx, g)
		}
		f, ok := p.headed(d)
		if !ok {
			return p.deed(ctx, g)
		}
		p.useFound(d, &f)
	}
	if len(g.Fields) == 0 && g.Text == nil {
		return p.once(ctx, g, nil)
	}
	one := *g
	one.Effect, one.Target, one.Amount = intent.Add, nil, nil
	one.Fields = append(slices.Clone(g.Fields), intent.Field{Span: g.Amount.Span, Value: *g.Amount})
	return p.make(ctx, &one)
}

// headed finds what a description means among the headings of the page and the parts below them.
func (p *planner) headed(d *intent.Description) (find.Found, bool) {
	f := find.Description(p.model, d, p.want(p.model, find.Container, find.Line))
	if len(f.Candidates) == 0 || len(f.Candidates[0].Missing) > 0 || f.Candidates[0].Score < find.Enough {
		return f, false
	}
	c := f.Candidates[0]
	return f, len(c.Used) > 0 && (c.What != find.Line || p.model.Lines[c.Index].Heading > 0)
}
