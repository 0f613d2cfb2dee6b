package plan

import (
	"context"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/effect"
	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/lexicon"
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
	if g.To == nil || len(g.To.Words) == 0 || g.To.Pronoun {
		return nil
	}
	// It goes into a part of the page, or to a thing of it that is called so, and not into a field.
	c := find.Description(m, g.To, p.want(m, find.Container, find.Record))
	part := g.To.Noun == "" || c.Clear() && (c.Candidates[0].What == find.Container ||
		word.Contains(m.Records[c.Candidates[0].Index].Title, g.To.Phrase()))
	field := intent.Field{Span: g.To.Span, Value: g.To.Value()}
	if !part {
		field.Name = &intent.Description{Span: g.To.NounSpan, Words: []intent.Word{{Span: g.To.NounSpan, Text: g.To.Noun}}}
	}
	slots, ok := p.assigned(m, []intent.Field{field}, p.anywhere(m))
	if !ok || slots[0].Score < find.Enough {
		return nil
	}
	s := &slots[0]
	if !isOption(s) || method.Narrows(m, s.To.Index) {
		return nil
	}
	if part && (effect.Fold(s.Label) != effect.Fold(field.Value.Text) || !inForm(m, s.To.Node)) {
		return nil // it goes into a part of the page, but where a form has a choice among these parts
	}
	return []intent.Field{field}
}

// inForm reports whether a node stands in a form.
func inForm(m *page.Model, node int) bool { return formOf(m, node) >= 0 }

// formOf returns the form that a node stands in, -1 for none.
func formOf(m *page.Model, node int) int {
	for node >= 0 && m.Nodes[node].Tag != "form" {
		node = m.Nodes[node].Parent
	}
	return node
}

// unticking returns a goal that removes what a ticked box of the page stands for as one that unticks it:
// "take the reminder out". The box of a record stands for no more than the record says.
func (p *planner) unticking(g *intent.Goal, c *find.Candidate) *intent.Goal {
	m := p.model
	if g.Effect != intent.Remove || c.What != find.Field || m.RecordAt(c.Node) >= 0 || !method.Ticked(m, c) {
		return g
	}
	off := *g
	off.Effect, off.On, off.Risk = intent.Toggle, false, ""
	return &off
}

// hideByBoxes hides what ticked boxes of the page show, by unticking them: "hide the rooms Amber and Birch".
// False where not each target is such a box.
func (p *planner) hideByBoxes(ctx context.Context, g *intent.Goal) (bool, error) {
	m, err := p.look(ctx)
	if err != nil || g.Effect != intent.Close || len(g.Target) == 0 || m.Dialog != nil || !p.saysHide(g) {
		return false, err
	}
	var boxes []find.Candidate
	for i := range g.Target {
		f := find.Description(m, &g.Target[i], p.want(m, find.Field, find.Option))
		on := slices.DeleteFunc(f.Candidates, func(c find.Candidate) bool {
			return len(c.Missing) > 0 || c.Score < find.Enough || m.RecordAt(c.Node) >= 0 || !method.Ticked(m, &c) ||
				method.Narrows(m, c.Index) || isToHide(m, c.Node)
		})
		if len(on) != 1 || f.Plural {
			return false, nil
		}
		boxes = append(boxes, on[0])
	}
	off := *g
	off.Effect, off.On = intent.Toggle, false
	for i := range boxes {
		now, err := p.look(ctx)
		if err != nil {
			return false, err
		}
		box, ok := p.mapped(m, now, &boxes[i])
		if !ok {
			return false, p.say("one of the boxes is not seen any more")
		}
		if err := p.once(ctx, &off, []find.Candidate{box}); err != nil {
			return false, err
		}
		p.use(box.Used...)
		p.useSpan(g.Target[i].NounSpan, "what the box shows")
	}
	now, err := p.look(ctx)
	if err != nil {
		return false, err
	}
	if c := effect.Between(m, now); len(c.Removed)+len(c.GoneLines) == 0 {
		return false, p.say("nothing went with the boxes")
	}
	return true, nil
}

// saysHide reports whether the verb of a goal is one for what is not to be seen.
func (p *planner) saysHide(g *intent.Goal) bool { return hides(g.Lemma, p.text.Lang) }

// ceasesToHide reports whether a way unticks a box that hides, where something is to be hidden.
func ceasesToHide(m *page.Model, g *intent.Goal, w *method.Way) bool {
	return g.Effect == intent.Close && slices.ContainsFunc(w.Acts, func(a method.Act) bool {
		return a.Node >= 0 && m.Nodes[a.Node].Checked == "true" && isToHide(m, a.Node)
	})
}

// isToHide reports whether a box is called by what it hides while it is ticked: "Hide archived rooms".
func isToHide(m *page.Model, node int) bool {
	return slices.ContainsFunc(strings.Fields(m.Nodes[node].Name), func(w string) bool {
		return slices.ContainsFunc(lexicon.Codes(), func(lang string) bool { return hides(w, lang) })
	})
}

// hides reports whether a word is a verb for what is not to be seen.
func hides(verb, lang string) bool {
	return lexicon.Means(verb, lang, "hide")
}

// moveInForm has the form that is open for a thing say where that goes, and leaves it to the goal that follows to hand it
// in: "open the interview, move it to room Cedar and save". False where no choice of it is called so.
func (p *planner) moveInForm(ctx context.Context, g *intent.Goal) (bool, error) {
	m, err := p.look(ctx)
	if err != nil || g.Effect != intent.Move || !p.nextSubmits() {
		return false, err
	}
	if m.Front < 0 || len(g.Target) != 1 || !g.Target[0].Pronoun || !bare(&g.Target[0]) {
		return false, err
	}
	f := newForm(p.placeFields(m, g))
	if len(f.fields) == 0 {
		return false, nil
	}
	if err := p.fill(ctx, f, p.inside(m.Front)); err != nil || !f.complete() {
		return false, err
	}
	p.useSpan(g.Target[0].Span, "what is open")
	p.unsent = true
	return true, nil
}
