package plan

import (
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/effect"
	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/method"
	"github.com/slipway-qa/slipway/worker/generation/page"
	"github.com/slipway-qa/slipway/worker/generation/word"
)

// heldBy reports whether a field holds a value after a way: a text for a list of entries is one of
// them, and a text that was typed into a list to choose from is not chosen by that.
func (p *planner) heldBy(w *method.Way, start, now *page.Model, c *find.Candidate, v *intent.Value, off bool) bool {
	if c.What == find.Field && !off {
		switch f := &start.Fields[c.Index]; {
		case f.Entries:
			return !w.Reveals && entered(start, now, c, v) // an open list shows it too
		case w.Reveals && start.Nodes[f.Node].Editable && (p.goal != nil && p.goal.Effect == intent.Choose || p.suggests(start, now, v)):
			return false // what is offered is to be pressed
		}
	}
	return p.holdsNow(start, now, c, v, off)
}

// offersOptions reports whether a choice that was opened offers several options. One of entries takes
// what it does not offer too.
func offersOptions(start, now *page.Model, c *find.Candidate) bool {
	if f := &start.Fields[c.Index]; f.Kind != "choice" || f.Entries {
		return false
	}
	n := 0
	for _, i := range newNodes(start, now) {
		if now.Nodes[i].Role == "option" && !now.Nodes[i].Hidden {
			n++
		}
	}
	return n > 1
}

// suggests reports whether what came after a text was typed offers that text.
func (p *planner) suggests(start, now *page.Model, v *intent.Value) bool {
	t := &method.Task{Model: now, Goal: p.goalFor(v), Lang: p.text.Lang, Inside: opened(start, now), News: newNodes(start, now), Depth: 1}
	return len(t.News) > 0 && len(method.Offered(t, v)) > 0
}

// entered reports whether a text is seen now beside its field, and no longer in it.
func entered(start, now *page.Model, c *find.Candidate, v *intent.Value) bool {
	at, ok := fieldNow(start, now, c)
	if !ok {
		return false
	}
	n, want := &now.Nodes[at.Node], strings.ToLower(strings.TrimSpace(v.Text))
	return !strings.Contains(strings.ToLower(n.Value), want) && !strings.Contains(strings.ToLower(n.Text), want) && taken(start, now, c, v)
}

// taken reports whether a value is seen now beside its field, as lists of chips have it: a new
// text or control shows it.
func taken(start, now *page.Model, c *find.Candidate, v *intent.Value) bool {
	want := strings.ToLower(strings.TrimSpace(v.Text))
	if want == "" {
		return false
	}
	shows := func(text string) bool { // whole: an "M" is not in "Small"
		return strings.Contains(strings.ToLower(text), want) && word.Contains(text, want)
	}
	ch := effect.Between(start, now)
	if i := ch.Field(c.Index); i >= 0 && shows(now.Fields[i].Value) {
		return true
	}
	for _, pair := range ch.Controls {
		if shows(effect.ControlName(now, pair.After)) {
			return true
		}
	}
	for _, i := range ch.NewLines {
		if shows(now.Lines[i].Text) {
			return true
		}
	}
	return false
}

// holdsNow reports whether the field of a model holds a value on a later one.
func (p *planner) holdsNow(start, now *page.Model, c *find.Candidate, v *intent.Value, off bool) bool {
	if now.Dialog != nil {
		return false
	}
	at, ok := fieldNow(start, now, c)
	if !ok && !off && c.What == find.Option && at.Sub < 0 && now.Fields[at.Index].Kind == "choices" {
		label := intent.Value{Text: start.Fields[c.Index].Options[c.Sub].Label}
		return taken(start, now, c, &label) // a list that offers no more what was chosen, and shows it beside
	}
	return ok && method.Holds(now, &at, v, off)
}

// holdsOffer reports whether a field holds what was pressed for its value, and nothing else: the page may
// call the value otherwise, or in another language. The day of a date, or a number, is a part of many values.
func holdsOffer(start, now *page.Model, c *find.Candidate, v *intent.Value, offer string) bool {
	at, ok := fieldNow(start, now, c)
	if !ok || now.Dialog != nil || v.Date != nil || v.Number != nil {
		return false
	}
	held := effect.Fold(now.Fields[at.Index].Value)
	return held != "" && held == effect.Fold(offer)
}

// fieldNow returns the candidate of a field, or of an option of it, on a later model.
func fieldNow(start, now *page.Model, c *find.Candidate) (find.Candidate, bool) {
	i := effect.Between(start, now).Field(c.Index)
	if i < 0 {
		return find.Candidate{}, false
	}
	at := *c
	at.Index, at.Node = i, now.Fields[i].Node
	if c.What == find.Option && c.Sub >= 0 && c.Sub < len(start.Fields[c.Index].Options) {
		label := start.Fields[c.Index].Options[c.Sub].Label
		at.Sub = slices.IndexFunc(now.Fields[i].Options, func(o page.Option) bool { return o.Label == label })
		if at.Sub < 0 {
			return at, false
		}
		if n := now.Fields[i].Options[at.Sub].Node; n >= 0 {
			at.Node = n
		}
	}
	return at, true
}

const leastTitle = 3 // letters of the name of a thing, which is no number or sign

// holdsThing reports whether a field of text holds what a thing of the page is called, and no step
// typed it: the form is that of this thing, and what is typed there changes it and adds nothing.
func (p *planner) holdsThing(m *page.Model, c *find.Candidate) bool {
	if c.What != find.Field || c.Index >= len(m.Fields) || m.Fields[c.Index].Kind != "text" || m.Fields[c.Index].Record >= 0 {
		return false
	}
	held := strings.TrimSpace(m.Fields[c.Index].Value)
	typed := slices.ContainsFunc(p.steps, func(s step.Step) bool { t := s.Tool.Args.Text; return t != nil && strings.TrimSpace(*t) == held })
	return !typed && slices.ContainsFunc(m.Records, func(r page.Record) bool { return isTitle(r.Title, held) })
}

// isTitle reports whether a text is what a thing is called, which may show more behind it: "Late frost (draft)".
func isTitle(title, text string) bool {
	return len(text) >= leastTitle && (strings.EqualFold(title, text) || strings.HasPrefix(title, text+" "))
}

// keptField is a field that the text says to leave as it is.
type keptField struct {
	ref, label, value string
}

// keepField notes what a field holds: at the end it must hold the same.
func (p *planner) keepField(m *page.Model, c *find.Candidate) {
	f := &m.Fields[c.Index]
	p.kept = append(p.kept, keptField{m.Nodes[f.Node].Ref, f.Label, fieldState(m, f)})
}

// noteFields notes what the fields of a page hold that are new there, as those of a form that opens, as long as none
// of them holds a value of the text: what comes later may have changed with it.
func (p *planner) noteFields(m *page.Model) {
	if p.noted == nil || p.someFilled(m) {
		return
	}
	for i := range m.Fields {
		ref := m.Nodes[m.Fields[i].Node].Ref
		if _, there := p.noted[ref]; !there {
			p.noted[ref] = fieldState(m, &m.Fields[i])
		}
	}
}

// someFilled reports whether a page has a field that the text has filled in.
func (p *planner) someFilled(m *page.Model) bool {
	return slices.ContainsFunc(m.Fields, func(f page.Field) bool { return p.filled[m.Nodes[f.Node].Ref] })
}

// keepOthers notes what all fields hold that the text gives no value, where it says to leave the other ones
// as they are, and reports whether it does. They must hold what they did before anything was done, or when the
// form opened that they are in.
func (p *planner) keepOthers(g *intent.Goal) bool {
	m := p.model
	says := func(f intent.Field) bool {
		d := f.Name
		any := d != nil && (d.Noun == "" || d.Kind == intent.FieldKind || d.Kind == intent.Value_)
		return f.Keep && any && d.Other && len(d.Words)+len(d.State)+len(d.Having) == 0
	}
	if m == nil || m.Dialog != nil || len(g.Target) > 0 || !p.someFilled(m) || len(g.Fields) != 1 || !says(g.Fields[0]) {
		return false
	}
	c, others, known := effect.Between(p.first, m), 0, map[int]bool{}
	for i := range p.first.Fields {
		known[c.Field(i)] = true
	}
	for i := range m.Fields {
		f := &m.Fields[i]
		if f.Hidden || f.Disabled || p.filled[m.Nodes[f.Node].Ref] {
			continue
		}
		if slices.ContainsFunc(c.Fields, func(pair effect.Pair) bool { return pair.After == i }) {
			return false
		}
		if !known[i] {
			if was, ok := p.noted[m.Nodes[f.Node].Ref]; !ok || was != fieldState(m, f) {
				return false
			}
		}
		others++
		p.keepField(m, &find.Candidate{What: find.Field, Index: i})
	}
	if others > 0 {
		p.useGoal(g, "the other fields are as they were")
	}
	return others > 0
}

// keptPart is the claim that what a goal says to leave as it is has not changed, where that is no field:
// a section, an entry. nil for others.
func (p *planner) keptPart(g *intent.Goal) *intent.Goal {
	claim := &intent.Claim{Span: g.Span, Property: intent.Unchanged}
	for i := range g.Fields {
		if !g.Fields[i].Keep || g.Fields[i].Name == nil {
			return nil
		}
		claim.Subject = append(claim.Subject, *g.Fields[i].Name)
	}
	if len(g.Fields) == 0 || len(g.Target) > 0 {
		return nil
	}
	if f := find.Description(p.model, &claim.Subject[0], p.want(p.model, find.Field, find.Option)); f.Clear() {
		return nil
	}
	return &intent.Goal{Span: g.Span, Effect: intent.Check, Verb: g.Verb, Claim: claim}
}

func fieldState(m *page.Model, f *page.Field) string {
	text := f.Value + " " + m.Nodes[f.Node].Checked
	for _, o := range f.Options {
		if o.Selected {
			text += "|" + o.Label
		}
	}
	return text
}
