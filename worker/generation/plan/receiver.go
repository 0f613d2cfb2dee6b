package plan

import (
	"context"

	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/method"
)

// receivers ticks or chooses who gets what is sent, where the page has a box or option of the name:
// that it can be read there is no sign that it is chosen.
func (p *planner) receivers(ctx context.Context, g *intent.Goal) error {
	m, err := p.look(ctx)
	if err != nil || g.To == nil || len(g.To.Words) == 0 || g.To.Pronoun || m.Dialog != nil {
		return err
	}
	field := intent.Field{Span: g.To.Span, Value: g.To.Value()}
	slots, ok := p.assigned(m, []intent.Field{field}, p.anywhere(m))
	if !ok || slots[0].Score < find.Enough {
		return nil
	}
	s := &slots[0]
	if s.To.What != find.Option && s.Label == "" && m.Fields[s.To.Index].Kind != "switch" || method.Narrows(m, s.To.Index) {
		return nil
	}
	f := newForm([]intent.Field{field})
	if err := p.fillAll(ctx, f); err != nil {
		return err
	}
	p.useSpan(g.To.NounSpan, "who gets it")
	return nil
}

// receiverKnown returns an error where who gets what is sent is neither chosen nor a thing that the
// page has: a name in a text is none.
func (p *planner) receiverKnown(g *intent.Goal) error {
	if g.To == nil || !givesAway[g.Risk] || len(g.To.Words) == 0 || g.To.Pronoun || p.model == nil || p.model.Dialog != nil ||
		p.covered(g.To.Span) {
		return nil
	}
	f := find.Description(p.model, g.To, p.want(p.model, find.Record, find.Control, find.Option, find.Field, find.Container))
	if len(f.Candidates) > 0 && len(f.Candidates[0].Missing) == 0 {
		return nil
	}
	return p.unresolved(g.To, &f)
}

// givesAway are the risks of goals that send, pay or order: what is gone then cannot be fetched back.
var givesAway = map[string]bool{"send": true, "pay": true, "order": true}

// bracketed returns an error where a goal that sends or pays has something in brackets that the page
// does not know: it may be a condition or a remark, and what was sent is sent.
func (p *planner) bracketed(g *intent.Goal) error {
	if !givesAway[g.Risk] || p.model == nil || p.model.Dialog != nil {
		return nil
	}
	list := append([]intent.Description{}, g.Target...)
	for _, d := range []*intent.Description{g.To, g.From, g.With} {
		if d != nil {
			list = append(list, *d)
		}
	}
	for i := range list {
		for k := range list[i].Also {
			also := &list[i].Also[k]
			if len(also.Words) == 0 {
				continue
			}
			f := find.Description(p.model, also, p.want(p.model))
			if len(f.Candidates) == 0 || len(f.Candidates[0].Missing) > 0 {
				return p.unresolved(also, &f)
			}
		}
	}
	return nil
}
