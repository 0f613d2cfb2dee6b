package plan

import (
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/effect"
	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/lexicon"
	"github.com/slipway-qa/slipway/worker/generation/method"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// writes are the effects that make or change something: what they are given goes into its fields,
// and never into what only narrows, sorts or pages a list.
var writes = map[intent.Effect]bool{intent.Add: true, intent.Submit: true, intent.SignIn: true, intent.Edit: true,
	intent.Append: true, intent.Act: true, intent.Complete: true}

// narrows reports whether a field only narrows what is seen, by its name, where the goal makes or
// changes something: its values belong nowhere else.
func (p *planner) narrows(m *page.Model, c *find.Candidate, f *intent.Field) bool {
	if p.goal == nil || f.Name != nil || c.What != find.Field && c.What != find.Option || c.Index >= len(m.Fields) {
		return false
	}
	if !writes[p.goal.Effect] && !onThing(p.goal) {
		return false
	}
	return method.Narrows(m, c.Index) || p.orders(m, c, f)
}

// onThing reports whether a goal sets something of a thing: "make Ann an admin" is about Ann, and not about
// who is seen.
func onThing(g *intent.Goal) bool { return g.Effect == intent.Set && len(g.Target) > 0 }

// choosesFilter reports whether a way chooses what is seen of a list, where a thing is to become so.
func choosesFilter(m *page.Model, g *intent.Goal, w *method.Way) bool {
	return onThing(g) && slices.ContainsFunc(w.Acts, func(a method.Act) bool {
		f := m.FieldAt(a.Node)
		return a.Tool == step.Select && f >= 0 && m.Fields[f].Record < 0 && method.Narrows(m, f)
	})
}

// orders reports whether a value is what the text orders, which has to be offered, and the field takes
// any text: it is for something else.
func (p *planner) orders(m *page.Model, c *find.Candidate, f *intent.Field) bool {
	g := p.goal
	kind := m.Fields[c.Index].Kind
	if !givesAway[g.Risk] || g.Risk == "send" || kind != "text" && kind != "editor" {
		return false
	}
	if v := &f.Value; !v.Quoted && v.Number == nil && v.Date == nil && !strings.ContainsAny(v.Text, "@0123456789") && !capitalized(v.Text) {
		return true // "with olives on top" is not what to write into a note
	}
	if f.Value.Quoted && asksWhat(m.Fields[c.Index].Label) {
		return false // "reserve 'Dune'" in a form that asks for a title
	}
	return g.Effect == intent.Add && slices.ContainsFunc(g.Target, func(d intent.Description) bool {
		return f.Value.Span.From >= d.Span.From && f.Value.Span.To <= d.Span.To
	})
}

// asksWhat reports whether a field is called as what asks which thing is meant.
func asksWhat(label string) bool {
	return lexicon.Means(label, "", "title", "article", "product", "item")
}

// filtered reports whether a value that a field took only changed what is seen of a list, or its
// order, where the goal makes or changes something: whatever it is called, it is a filter.
func (p *planner) filtered(start, now *page.Model, c *find.Candidate) bool {
	if p.goal == nil || !writes[p.goal.Effect] || c.Index >= len(start.Fields) || p.before == nil || start.Front >= 0 ||
		now.Dialog != nil || start.Dialog != nil {
		return false
	}
	ch := effect.Between(start, now)
	if ch.URL || len(ch.Added) > 0 || len(ch.Opened)+len(ch.Closed) > 0 {
		return false
	}
	field := &start.Fields[c.Index]
	return slices.ContainsFunc(ch.Removed, func(r int) bool {
		g := start.Records[r].Group
		if g < 0 || field.Record >= 0 || len(start.Groups[g].Records) < 2 || start.Index().Contains(start.Groups[g].Node, field.Node) {
			return false
		}
		// What came while the form was filled in, as suggestions do, is no list of the page.
		return slices.ContainsFunc(p.before.Records, func(b page.Record) bool { return b.Title == start.Records[r].Title && b.Title != "" })
	})
}

// filteredTo has the page show only what is as the one word says that no thing of a list shows, and looks for the
// rest of the description among that: "the cheapest vacant room" where a box says "Only vacant rooms". It
// returns nil where the page has no such filter, or nothing goes by it.
func (p *planner) filteredTo(ctx context.Context, d *intent.Description, tiers [][]find.What,
	nearest *find.Found) ([]find.Candidate, error) {
	start := p.model
	if p.goal == nil || p.goal.Effect == intent.Check || p.cfg.Explore == ExploreOff || start == nil || start.Dialog != nil {
		return nil, nil
	}
	missing := slices.DeleteFunc(slices.Clone(nearest.Missing), func(s intent.Span) bool { return d.Extreme != nil && s == d.Extreme.Span })
	if len(missing) != 1 {
		return nil, nil
	}
	rest, word := d.Without(missing[0])
	if word == nil {
		return nil, nil
	}
	c, ok := p.filterFor(start, word)
	if !ok {
		return nil, nil
	}
	mark, goal := p.mark(), p.goal
	p.goal = &intent.Goal{Span: goal.Span, Effect: intent.Filter}
	held, err := p.fillField(ctx, &c, &intent.Value{Span: word.Span, Text: word.Text}, false)
	p.goal = goal
	if err != nil {
		return nil, err
	}
	now, err := p.look(ctx)
	if err != nil {
		return nil, err
	}
	change := effect.Between(start, now)
	p.trace("only what is %q is shown: %d things are gone, %d came", word.Text, len(change.Removed), len(change.Added))
	if held && len(change.Removed) > 0 && len(change.Added) == 0 && now.Dialog == nil {
		if found, _, ok := p.resolveOn(now, rest, tiers); ok {
			p.useSpan(word.Span, "all that is shown is so")
			return found, nil
		}
	}
	if p.mark() > mark {
		err = p.back(ctx, mark, start)
	}
	return nil, err
}

// filterFor returns the one box of a page that shows only what is as a word says ("Only vacant rooms").
func (p *planner) filterFor(m *page.Model, w *intent.Word) (find.Candidate, bool) {
	d := intent.Description{Span: w.Span, Words: []intent.Word{*w}}
	list := slices.DeleteFunc(find.Description(m, &d, p.want(m, find.Field)).Candidates, func(c find.Candidate) bool {
		f := &m.Fields[c.Index]
		return len(c.Missing) > 0 || f.Record >= 0 || f.Kind != "switch" || !method.ShowsOnly(m, c.Index) || m.Nodes[f.Node].Checked == "true"
	})
	if len(list) != 1 {
		return find.Candidate{}, false
	}
	return list[0], true
}

// capitalized reports whether each word of a text begins like a name.
func capitalized(text string) bool {
	return !slices.ContainsFunc(strings.Fields(text), func(w string) bool {
		first, _ := utf8.DecodeRuneInString(w)
		return unicode.IsLower(first)
	})
}

// sided reports whether a description tells of a thing more than what it is called: to take its name
// says nothing of that.
func sided(d *intent.Description) bool {
	return len(d.State)+len(d.Having)+len(d.Lacking)+len(d.Compare)+len(d.Relation) > 0 || d.Extreme != nil
}

// take notes that a field holds a value now. One that makes chips of what is typed is free again.
func (f *form) take(m, now *page.Model, slot *find.Slot) {
	if f.taken == nil {
		f.taken = map[string]bool{}
	}
	if c, ok := fieldNow(m, now, &slot.To); ok && now.Fields[c.Index].Value != "" {
		f.taken[now.Nodes[now.Fields[c.Index].Node].Ref] = true
	}
}

// ofOther reports whether a way presses a control of one of several things of a list, where the goal
// speaks of a thing that was not found: it would be done to another one.
func (p *planner) ofOther(m *page.Model, g *intent.Goal, w *method.Way) bool {
	if len(g.Target) == 0 && g.Effect != intent.Set || g.Effect == intent.Press || g.Effect == intent.Point || g.Effect == intent.Page {
		return false
	}
	for i := range w.Acts {
		c := m.ControlAt(w.Acts[i].Node)
		if c < 0 || m.Controls[c].Record < 0 {
			continue
		}
		r := m.Controls[c].Record
		if at := m.Records[r].Group; at < 0 || len(m.Groups[at].Records) < 2 || m.Records[r].Node == m.Controls[c].Node && entry(m, c, g) {
			continue // an entry of a menu or list is the thing itself
		}
		for k := range g.Target {
			f := find.Description(m, &g.Target[k], p.want(m, find.Record))
			if len(f.Candidates) > 0 && len(f.Missing) == 0 &&
				slices.ContainsFunc(f.Candidates, func(c find.Candidate) bool { return c.Index == r && len(c.Missing) == 0 }) {
				return false
			}
		}
		return true
	}
	return false
}

// entry reports whether a control that is a thing of a list itself may lead to what a goal is done to:
// where nothing says which thing, a card or row is some other one.
func entry(m *page.Model, control int, g *intent.Goal) bool {
	role := m.Nodes[m.Controls[control].Node].Role
	return len(g.Target) > 0 || role != "article" && role != "row"
}

// ticks reports whether a way ends with ticking a box or choosing an option, which hands in nothing
// and gives nothing another text.
func (a *attempt) ticks(m *page.Model, own int, w *method.Way) bool {
	g := a.goal
	switch g.Effect {
	case intent.Submit, intent.Edit, intent.Append, intent.SignIn, intent.SignOut:
	case intent.Add: // what is to be filled in is in no box
		if len(g.Fields) == 0 || a.inTarget(m, own, w) {
			return false
		}
	case intent.Act: // "ask for an appointment for Ann on May 4" is a form and no box
		if len(g.Fields) == 0 {
			return false
		}
	default:
		return false
	}
	if len(w.Acts) == 0 || w.Acts[len(w.Acts)-1].Tool != step.Click {
		return false
	}
	at := w.Acts[len(w.Acts)-1].Node
	return at >= 0 && at < len(m.Nodes) && (m.Nodes[at].Checked != "" && m.Nodes[at].Role != "button" || m.Nodes[at].Role == "option")
}

// handsInUnfilled reports whether a way presses what hands in a form of the page, or one that came, while
// values that the text gives are still to be filled in: they stand in no form that comes by that.
func (a *attempt) handsInUnfilled(m *page.Model, own int, w *method.Way, l level) bool {
	if a.fills == nil || a.holds == nil || a.holds(m) || len(w.Acts) == 0 {
		return false
	}
	if l.depth > 0 && w.Risks && !w.Reveals && m.Dialog == nil {
		return slices.ContainsFunc(m.Fields, func(f page.Field) bool {
			was := a.start.Index().ByRef(m.Nodes[f.Node].Ref)
			return !f.Hidden && (was < 0 || a.start.Nodes[was].Hidden)
		})
	}
	if a.inTarget(m, own, w) {
		return false
	}
	at := w.Acts[len(w.Acts)-1].Node
	if at < 0 || m.Nodes[at].Type != "submit" {
		return false
	}
	return slices.ContainsFunc(m.Fields, func(f page.Field) bool {
		form := m.Index().Around(f.Node, "form")
		return form >= 0 && !f.Hidden && m.Nodes[f.Node].Editable && m.Inside(form, at)
	})
}

// inTarget reports whether a way acts on what a goal is done to, or on a part of it. Where that is no
// entry of a list, all of the page may belong to it.
func (a *attempt) inTarget(m *page.Model, own int, w *method.Way) bool {
	if len(a.target) == 0 || len(w.Acts) == 0 {
		return false
	}
	last := w.Acts[len(w.Acts)-1].Node
	return own < 0 || last < 0 || m.Inside(m.Records[own].Node, last) || m.Records[own].Node == last
}

// ofNeighbour reports whether a way presses a control of another thing of the list that a thing is in:
// what "Book" of the neighbour does is not done to this one.
func ofNeighbour(m *page.Model, own int, w *method.Way) bool {
	if own < 0 || len(w.Acts) == 0 {
		return false
	}
	last := w.Acts[len(w.Acts)-1]
	if last.Tool != step.Click || last.Node < 0 || m.ControlAt(last.Node) < 0 {
		return false
	}
	r := m.RecordAt(last.Node)
	return r >= 0 && r != own && m.Records[r].Group == m.Records[own].Group && m.Records[r].Node != last.Node
}

// behind reports whether a node is behind a modal dialog.
func behind(m *page.Model, node int) bool {
	f := m.Front
	return f >= 0 && f < len(m.Containers) && m.Containers[f].Modal && !m.Holds(f, node)
}
