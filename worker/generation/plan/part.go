package plan

import (
	"context"

	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// into goes where a goal says that all of it is done, and opens it where it is not seen: "in the
// Payment frame enter ...", "under Advanced ...".
func (p *planner) into(ctx context.Context, g *intent.Goal) error {
	in := g.In
	if in == nil || g.Effect == intent.Check {
		return nil
	}
	if in.Kind == intent.WindowKind && len(in.Words) == 0 {
		return p.window(ctx, &intent.Goal{Span: in.Span, Effect: intent.Window, Target: []intent.Description{*in}})
	}
	if !tells(in) {
		p.useSpan(in.Span, "the page")
		p.useSpan(in.NounSpan, "the page")
		return nil
	}
	m, err := p.look(ctx)
	if err != nil {
		return err
	}
	if p.usePart(m, in) {
		return nil
	}
	now, err := p.enter(ctx, &intent.Description{Span: in.Span, In: in}, &find.Found{Inside: find.Containers(m, in, p.want(m))})
	if err != nil {
		return err
	}
	if now != nil {
		p.usePart(now, in)
		p.useSpan(in.Span, "opened")
		return nil
	}
	f := find.Description(m, in, p.want(m))
	if len(f.Candidates) == 0 || len(f.Missing) > 0 || !names(m, &f.Candidates[0]) {
		return p.unresolved(in, &f)
	}
	p.useFound(in, &f)
	p.useSpan(in.Span, "what the page has")
	return nil
}

// inDialog reports whether a goal presses something in what has opened: "in the dialog press Delete".
func inDialog(g *intent.Goal) bool {
	in := g.In
	if in == nil && len(g.Target) == 1 {
		in = g.Target[0].In
	}
	return g.Effect == intent.Press && in != nil && in.Kind == intent.Dialog
}

// names reports whether a thing stands for all of what is seen: the heading of the page, the tab or link that is
// open.
func names(m *page.Model, c *find.Candidate) bool {
	switch c.What {
	case find.Container, find.Column:
		return true
	case find.Line:
		return c.Index >= 0 && m.Lines[c.Index].Heading == 1
	case find.Control:
		n := &m.Nodes[c.Node]
		return n.Role == "tab" || m.Controls[c.Index].Role == "tab" || n.Selected == "true" || m.Controls[c.Index].State == "selected"
	}
	return c.What == find.Option && m.Fields[c.Index].Options[c.Sub].Selected
}

// tells reports whether a description of a place says which one, and not only "in the form".
func tells(in *intent.Description) bool {
	return len(in.Words)+len(in.State)+len(in.Having) > 0 || in.Ordinal != 0 || in.Of != nil || in.Extreme != nil
}

func (p *planner) usePart(m *page.Model, in *intent.Description) bool {
	c, ok := p.partOf(m)
	if !ok {
		return false
	}
	p.use(c.Used...)
	p.useSpan(in.Span, "in "+c.Why)
	return true
}

// partOf returns the container or record in which the goal is done; false where it says none, or
// none is seen.
func (p *planner) partOf(m *page.Model) (find.Candidate, bool) {
	if p.goal == nil || p.goal.In == nil || p.goal.Effect == intent.Check || !tells(p.goal.In) || m.Dialog != nil {
		return find.Candidate{}, false
	}
	w := find.Want{Lang: p.text.Lang, Within: -1}
	for _, c := range find.Containers(m, p.goal.In, w) {
		if len(c.Missing) == 0 && c.Score >= find.Enough && c.Node >= 0 && !m.Nodes[c.Node].Hidden {
			return c, true
		}
	}
	w.Kinds = []find.What{find.Record}
	f := find.Description(m, p.goal.In, w)
	if f.Clear() && !f.Plural && (len(f.Assumed) == 0 || len(p.goal.In.Words) > 0 && p.goal.Risk == "") {
		return f.Candidates[0], true // "the user @kim": the name tells which, whatever the list holds
	}
	return find.Candidate{}, false
}

// strayed reports whether the place that the goal says was seen on a page, and is not on a later one: what
// stands there is of something else.
func (p *planner) strayed(from, now *page.Model) bool {
	if now.Front >= 0 || now.Dialog != nil {
		return false
	}
	_, was := p.partOf(from)
	_, is := p.partOf(now)
	return was && !is
}

// anywhere is the node in which a goal is done: what is in front of the page, else the part that
// it says; -1 is the whole page.
func (p *planner) anywhere(m *page.Model) int {
	if m.Front >= 0 && m.Front < len(m.Containers) && m.Containers[m.Front].Modal {
		return m.Containers[m.Front].Node
	}
	if c, ok := p.partOf(m); ok {
		return c.Node
	}
	return -1
}
