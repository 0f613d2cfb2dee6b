package plan

import (
	"context"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/next/find"
	"github.com/slipway-qa/slipway/worker/generation/next/intent"
	"github.com/slipway-qa/slipway/worker/generation/next/page"
)

// placed returns a goal whose targets carry the place that the goal says before them: "in the row
// of Bo, click Edit", "for the user @kim, press the heart".
func placed(g *intent.Goal) *intent.Goal {
	if g.In == nil || len(g.Target) == 0 {
		return g
	}
	one := *g
	one.Target = nil
	for _, d := range g.Target {
		one.Target = append(one.Target, standingIn(d, g.In))
	}
	return &one
}

// standingIn returns a description that stands in a place: what it stands in itself does.
func standingIn(d intent.Description, in *intent.Description) intent.Description {
	if d.In == nil {
		d.In = in
		return d
	}
	inner := standingIn(*d.In, in)
	d.In = &inner
	return d
}

// goIn goes where a goal without targets says that its fields are, and marks the words of it.
func (p *planner) goIn(ctx context.Context, in *intent.Description) error {
	m, err := p.look(ctx)
	if err != nil {
		return err
	}
	if theFields(in) {
		p.useSpan(in.Span, "the fields")
		return nil
	}
	c, ok := p.region(m, in)
	if !ok || c.What == find.Container && c.Index >= 0 && m.Containers[c.Index].Hidden {
		d := intent.Description{Span: in.Span, In: in}
		f := find.Description(m, &d, p.want(m))
		now, err := p.enter(ctx, &d, &f)
		if err != nil {
			return err
		}
		if now == nil {
			return nil // account says that it was not understood
		}
		p.useSpan(in.Span, "it is open")
		return nil
	}
	p.use(c.Used...)
	p.useSpan(in.Span, "where it is done")
	return nil
}

// theFields reports whether a place says no more than that something goes into fields.
func theFields(in *intent.Description) bool {
	return in.Kind == intent.FieldKind && bare(in)
}

// region returns the container or record that a description of a place means.
func (p *planner) region(m *page.Model, in *intent.Description) (find.Candidate, bool) {
	w := p.want(m)
	list := find.Containers(m, in, w)
	if len(list) > 0 && len(list[0].Missing) == 0 && list[0].Score >= find.Enough {
		return list[0], true
	}
	w.Kinds = []find.What{find.Record}
	if f := find.Description(m, in, w); f.Clear() && !f.Plural && (len(f.Assumed) == 0 || len(in.Words) > 0) {
		return f.Candidates[0], true
	}
	return find.Candidate{}, false
}

// inPlace narrows where fields are looked for to what the goal says.
func (p *planner) inPlace(m *page.Model, node int) int {
	if p.goal == nil || p.goal.In == nil || theFields(p.goal.In) || len(p.goal.Target) > 0 || node != anywhere(m) {
		return node
	}
	if c, ok := p.region(m, p.goal.In); ok && c.Node >= 0 {
		return c.Node
	}
	return node
}

// enterScope keeps the place that a goal says for those that follow in its sentence: "under Work,
// enter the name and click Keep".
func (p *planner) enterScope(g *intent.Goal) {
	if g.In != nil {
		p.scope, p.scopeEnd = g.In, g.Span.To
		return
	}
	if from, to := p.scopeEnd, g.Span.From; p.scope != nil && (from > to || strings.ContainsAny(p.text.Source[from:to], ".!?\n")) {
		p.scope = nil
	}
}

// inScope looks for a thing where the sentence is, when there are several of its kind.
func (p *planner) inScope(m *page.Model, d *intent.Description, f find.Found, kinds []find.What) find.Found {
	if !f.Ambiguous || p.scope == nil || d.In != nil || p.goal == nil || p.goal.In == p.scope {
		return f
	}
	one := *d
	one.In = p.scope
	if there := find.Description(m, &one, p.want(m, kinds...)); there.Clear() && !there.Plural {
		return there
	}
	return f
}
