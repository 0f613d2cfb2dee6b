package plan

import (
	"context"
	"slices"

	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/method"
	"github.com/slipway-qa/slipway/worker/generation/page"
	"github.com/slipway-qa/slipway/worker/generation/word"
)

// tickSaid does "attach the statutes" by the only box that is called so: its name has the verb and
// all words of the target.
func (p *planner) tickSaid(ctx context.Context, g *intent.Goal) (bool, error) {
	m, err := p.look(ctx)
	if err != nil || m.Dialog != nil || len(g.Target) != 1 || len(g.Target[0].Words) == 0 || g.Target[0].Quoted ||
		g.Text != nil || len(g.Fields) > 0 {
		return false, err
	}
	c, ok := p.boxSaid(m, g)
	if !ok {
		return false, nil
	}
	tick := *g
	tick.Effect, tick.On = intent.Toggle, true
	p.use(c.Used...)
	p.useSpan(g.Target[0].NounSpan, "the box")
	return true, p.once(ctx, &tick, []find.Candidate{c})
}

// boxSaid returns the box that is called by the verb and the target of a goal.
func (p *planner) boxSaid(m *page.Model, g *intent.Goal) (find.Candidate, bool) {
	aim := find.Aim{Effect: g.Effect, Lemma: g.Lemma, Words: g.Target, Lang: p.text.Lang, Record: -1, Within: -1}
	var list []find.Candidate
	for _, c := range find.Controls(m, aim) {
		k := &m.Controls[c.Index]
		if c.Score < sureName || k.Record >= 0 || k.Hidden || k.Role != "checkbox" && k.Role != "switch" {
			continue
		}
		if f := m.FieldAt(k.Node); f >= 0 && method.Narrows(m, f) {
			continue
		}
		all := !slices.ContainsFunc(wordsOf(&g.Target[0]), func(s intent.Span) bool {
			return !slices.ContainsFunc(c.Used, func(u find.Use) bool { return u.Span == s })
		})
		if all {
			list = append(list, c)
		}
	}
	if len(list) != 1 {
		return find.Candidate{}, false
	}
	return list[0], true
}

// placeFields are where an addition goes as values of choices: "in the section Plants", where the
// page has a choice Section with an option Plants.
func (p *planner) placeFields(m *page.Model, g *intent.Goal) []intent.Field {
	if g.To == nil || len(g.To.Words) == 0 || g.To.Noun == "" || g.To.Pronoun {
		return nil
	}
	if c := find.Description(m, g.To, p.want(m, find.Container, find.Record)); c.Clear() && (c.Candidates[0].What == find.Container ||
		word.Contains(m.Records[c.Candidates[0].Index].Title, phraseWords(g.To))) {
		return nil // it goes into a part of the page, or to a thing of it that is called so, and not into a field
	}
	first, last := g.To.Words[0].Span, g.To.Words[len(g.To.Words)-1].Span
	field := intent.Field{Span: g.To.Span, Value: intent.Value{Span: intent.Span{From: first.From, To: last.To},
		Text: phraseWords(g.To), Quoted: g.To.Quoted},
		Name: &intent.Description{Span: g.To.NounSpan, Words: []intent.Word{{Span: g.To.NounSpan, Text: g.To.Noun}}}}
	as := find.Assign(m, []intent.Field{field}, p.wantIn(m, p.anywhere(m)))
	if len(as.Slots) != 1 || len(as.Missing)+len(as.Ambiguous) > 0 || as.Slots[0].Score < find.Enough {
		return nil
	}
	s := &as.Slots[0]
	if !isOption(s) || method.Narrows(m, s.To.Index) {
		return nil
	}
	return []intent.Field{field}
}

// unticking returns a goal that removes what a ticked box of the page stands for as one that unticks it:
// "take the reminder out". The box of a record stands for no more than the record says.
func (p *planner) unticking(g *intent.Goal, c *find.Candidate) *intent.Goal {
	m := p.model
	if g.Effect != intent.Remove || c.What != find.Field || c.Index >= len(m.Fields) || m.Fields[c.Index].Kind != "switch" {
		return g
	}
	if m.RecordAt(c.Node) >= 0 || !method.Holds(m, c, &intent.Value{}, false) {
		return g
	}
	off := *g
	off.Effect, off.On, off.Risk = intent.Toggle, false, ""
	return &off
}
