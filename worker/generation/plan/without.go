package plan

import (
	"context"
	"slices"

	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// without checks what a press is done without, "press Next without a name": the field of that name
// holds nothing. It returns the goal without what was checked so.
func (p *planner) without(ctx context.Context, g *intent.Goal) (*intent.Goal, error) {
	lacks := func(d intent.Description) bool { return len(d.Lacking) > 0 }
	presses := g.Effect == intent.Press || g.Effect == intent.Submit || g.Effect == intent.Confirm
	if !presses || !slices.ContainsFunc(g.Target, lacks) {
		return g, nil
	}
	m, err := p.look(ctx)
	if err != nil || m.Dialog != nil {
		return g, err
	}
	one := *g
	one.Target = slices.Clone(g.Target)
	for i := range one.Target {
		d := &one.Target[i]
		d.Lacking = slices.DeleteFunc(slices.Clone(d.Lacking), func(l intent.Description) bool { return p.isEmpty(m, &l) })
	}
	return &one, nil
}

// isEmpty reports whether a description clearly names a field that holds nothing, and marks its words
// as checked then.
func (p *planner) isEmpty(m *page.Model, d *intent.Description) bool {
	f := find.Description(m, d, p.want(m, find.Field))
	if !f.Clear() || f.Plural || m.Fields[f.Candidates[0].Index].Value != "" || m.Nodes[f.Candidates[0].Node].Checked == "true" {
		return false
	}
	p.useFound(d, &f)
	p.useSpan(d.Span, "it is empty")
	return true
}
