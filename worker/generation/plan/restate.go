package plan

import (
	"context"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
)

// restate does "repeat the password": a field that is called by the verb and the noun gets the
// value that the text gave for the noun before. False where the goal is none such.
func (p *planner) restate(ctx context.Context, g *intent.Goal) (bool, error) {
	if len(g.Target) != 1 || len(g.Fields) > 0 || g.To != nil || g.Effect != intent.Act && g.Effect != intent.Confirm {
		return false, nil
	}
	v := p.givenFor(g, &g.Target[0])
	m, err := p.look(ctx)
	if v == nil || err != nil || m.Dialog != nil {
		return false, err
	}
	d := g.Target[0]
	d.Words = append([]intent.Word{{Span: g.Verb, Text: p.words(g.Verb), Lemma: g.Lemma}}, d.Words...)
	f := find.Description(m, &d, p.want(m, find.Field))
	if !f.Clear() || f.Plural {
		return false, nil
	}
	ok, err := p.fillField(ctx, &f.Candidates[0], v, false)
	if err != nil || !ok {
		return false, err
	}
	p.useFound(&d, &f)
	return true, nil
}

// givenFor is the value that the goals before one gave for a field of a name; nil without one.
func (p *planner) givenFor(g *intent.Goal, d *intent.Description) *intent.Value {
	want := phraseOf(p, d)
	for i := range p.reading.Goals {
		b := &p.reading.Goals[i]
		if b == g {
			break
		}
		for k := range b.Fields {
			if name := b.Fields[k].Name; name != nil && want != "" && strings.EqualFold(phraseOf(p, name), want) && b.Fields[k].Value.Text != "" {
				return &b.Fields[k].Value
			}
		}
	}
	return nil
}
