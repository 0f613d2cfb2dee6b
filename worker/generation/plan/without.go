package plan

import (
	"cmp"
	"context"
	"slices"

	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/method"
	"github.com/slipway-qa/slipway/worker/generation/page"
	"github.com/slipway-qa/slipway/worker/generation/word"
	"github.com/slipway-qa/slipway/worker/snapshot"
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

// leaveOut turns off the boxes that an option is chosen without, where boxes of its form, in no thing of the page, are
// called so or stand under what is: "the cheapest pizza without any extras". It returns the goal without them. What a
// thing of the page is chosen without is said of that thing, and not of a box.
func (p *planner) leaveOut(ctx context.Context, g *intent.Goal) (*intent.Goal, error) {
	one := *g
	one.Target = slices.Clone(g.Target)
	for i := range one.Target {
		if len(one.Target[i].Lacking) == 0 {
			continue
		}
		m, err := p.look(ctx)
		if err != nil || m.Dialog != nil {
			return g, err
		}
		option, ok := p.optionOf(m, one.Target[i])
		if !ok {
			continue
		}
		var told []intent.Description
		for k := range one.Target[i].Lacking {
			l := &one.Target[i].Lacking[k]
			done, err := p.turnOff(ctx, l, m.Nodes[option].Ref)
			switch {
			case err != nil:
				return g, err
			case done:
				p.useSpan(l.Span, "left out")
			default:
				told = append(told, *l)
			}
		}
		one.Target[i].Lacking = told
	}
	return &one, nil
}

// optionOf returns the node of the option that a target is, apart from what it is chosen without. False where it is
// a thing of the page that is no option of a form.
func (p *planner) optionOf(m *page.Model, d intent.Description) (int, bool) {
	d.Lacking = nil
	found, _, ok := p.resolveOn(m, &d, [][]find.What{{find.Record}, {find.Option}})
	if !ok || len(found) != 1 {
		return -1, false
	}
	if c := found[0]; c.What == find.Option {
		return c.Node, c.Node >= 0
	}
	c, ok := optionIn(m, found[0].Index)
	return c.Node, ok && inForm(m, c.Node)
}

// turnOff turns off all boxes of the form of an option that are called as a description says or stand under that, and
// reports whether there are any.
func (p *planner) turnOff(ctx context.Context, d *intent.Description, option string) (bool, error) {
	m, err := p.look(ctx)
	if err != nil || m.Dialog != nil {
		return false, err
	}
	at := slices.IndexFunc(m.Nodes, func(n snapshot.Node) bool { return n.Ref == option })
	if at < 0 {
		return false, nil
	}
	text := cmp.Or(d.Phrase(), d.Noun)
	all := intent.Description{Span: d.Span, Words: []intent.Word{{Span: d.Span, Text: text}}, All: true}
	found := find.Description(m, &all, p.want(m, find.Field))
	var boxes []thing
	for i := range m.Fields {
		f := &m.Fields[i]
		called := slices.ContainsFunc(found.Candidates, func(c find.Candidate) bool {
			return c.What == find.Field && c.Index == i && len(c.Missing) == 0
		})
		ofForm := f.Kind == "switch" && !f.Hidden && f.Record < 0 && formOf(m, f.Node) == formOf(m, at) && !method.Narrows(m, i)
		if ofForm && (called || word.Contains(f.Group, text)) {
			boxes = append(boxes, thing{what: find.Field, ref: m.Nodes[f.Node].Ref})
		}
	}
	for i := range boxes {
		now, err := p.look(ctx)
		if err != nil {
			return false, err
		}
		c, ok := p.now(now, &boxes[i])
		if !ok {
			return false, p.say("one of the boxes is not seen any more")
		}
		if method.Holds(now, &c, &intent.Value{}, true) {
			continue
		}
		if ok, err = p.fillField(ctx, &c, &intent.Value{}, true); err != nil || !ok {
			return false, cmp.Or(err, p.say("a box could not be turned off"))
		}
	}
	return len(boxes) > 0, nil
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
