package plan

import (
	"context"

	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/method"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// chosen chooses things that are found by what is said of them: as the option that one is, by the button of a
// choice in each, else as any deed.
func (p *planner) chosen(ctx context.Context, g *intent.Goal) error {
	m, err := p.look(ctx)
	if err != nil || len(g.Target) != 1 {
		return p.deed(ctx, g)
	}
	found, f, ok := p.resolveOn(m, &g.Target[0], [][]find.What{{find.Record}, {find.Option}})
	if !ok || len(found) != 1 {
		return p.deed(ctx, g)
	}
	c := found[0]
	if c.What != find.Option {
		c, ok = optionIn(m, c.Index)
	}
	if !ok {
		return p.deed(ctx, g)
	}
	label := m.Fields[c.Index].Options[c.Sub].Label
	if method.Holds(m, &c, &intent.Value{Text: label}, false) {
		ok = true
	} else if ok, err = p.fillField(ctx, &c, &intent.Value{Text: label}, false); err != nil {
		return err
	}
	if !ok {
		return p.say("it could not be chosen")
	}
	p.remember(m, found)
	p.useFound(&g.Target[0], &f)
	p.use(found[0].Used...)
	return nil
}

// optionIn returns the only option of a choice that stands in a record, where it marks that.
func optionIn(m *page.Model, record int) (find.Candidate, bool) {
	var list []find.Candidate
	for i := range m.Fields {
		for k := range m.Fields[i].Options {
			if at := m.Fields[i].Options[k].Node; m.Fields[i].Kind == "choice" && at >= 0 && m.Inside(m.Records[record].Node, at) {
				list = append(list, find.Candidate{What: find.Option, Index: i, Sub: k, Node: at, Score: 1})
			}
		}
	}
	if len(list) != 1 || !method.Marks(m, record, m.Fields[list[0].Index].Options[list[0].Sub].Label) {
		return find.Candidate{}, false
	}
	return list[0], true
}
