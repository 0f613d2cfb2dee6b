package plan

import (
	"context"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/effect"
	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/lexicon"
	"github.com/slipway-qa/slipway/worker/generation/method"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// edit gives a target another text: its field, its cell, its name.
func (p *planner) edit(ctx context.Context, g *intent.Goal) error {
	text := g.Text
	if text == nil {
		text = g.Become
	}
	if text == nil && len(g.Fields) == 1 && g.Fields[0].Name == nil {
		text = &g.Fields[0].Value
	}
	if text == nil {
		if len(g.Fields) > 0 {
			set := *g
			set.Effect = intent.Set
			return p.set(ctx, &set)
		}
		if len(g.Target) == 0 || g.Effect != intent.Edit {
			return p.say("it does not say the text")
		}
		open := *g // "edit the member": what follows fills in what it opens
		open.Effect = intent.Open
		return p.eachTarget(ctx, g, func(ctx context.Context, c find.Candidate) error {
			return p.once(ctx, &open, []find.Candidate{c})
		})
	}
	if find.Functional(text, p.text.Lang) {
		return p.say("it does not say the text")
	}
	if len(g.Target) == 0 && g.To != nil {
		one := *g
		one.Target, one.To = []intent.Description{*g.To}, nil
		g = &one
	}
	if len(g.Target) == 0 {
		f := newForm([]intent.Field{{Value: *text, Span: text.Span}})
		return p.fillAll(ctx, f)
	}
	m, err := p.look(ctx)
	if err != nil {
		return err
	}
	if c, ok := p.atFocus(m, &g.Target[0]); ok {
		p.useSpan(g.Target[0].Span, "the field that has the focus")
		return p.editField(ctx, g, &c, text)
	}
	tiers := [][]find.What{{find.Field}, {find.Attribute, find.Record}, {find.Line, find.Container, find.Control, find.Option}}
	found, err := p.written(ctx, m, &g.Target[0])
	if err != nil {
		return err
	}
	if found == nil {
		if found, err = p.resolve(ctx, &g.Target[0], tiers); err != nil {
			return err
		}
	}
	c := found[0]
	m, err = p.look(ctx)
	if err != nil {
		return err
	}
	p.remember(m, found[:1])
	if r := effect.RecordOf(m, &c); c.What == find.Field && m.Fields[c.Index].Kind == "switch" && r >= 0 { // the box of a thing holds no text
		c = find.Candidate{What: find.Record, Index: r, Node: m.Records[r].Node, Sub: -1, Score: c.Score, Used: c.Used}
	}
	if c.What == find.Field {
		return p.editField(ctx, g, &c, text)
	}
	return p.editInPlace(ctx, g, &c, text)
}

// written returns the field for what is written in a thing, once the thing is open: "the text of the note", "the
// code of clamp". It returns nil where a field of the page is called so, or none is there then.
func (p *planner) written(ctx context.Context, m *page.Model, d *intent.Description) ([]find.Candidate, error) {
	said := d.Kind == intent.Text_ && len(d.Words) == 0 || len(d.Words) == 1 && d.Noun == "" && !d.Quoted &&
		lexicon.Means(d.Words[0].Text, p.text.Lang, "text", "code")
	if !said {
		return nil, nil
	}
	field := [][]find.What{{find.Field}}
	if _, _, ok := p.resolveOn(m, d, field); ok {
		return nil, nil
	}
	whose := *d
	if whose.Of == nil && len(whose.Having) == 1 { // de "von clamp"
		whose.Of, whose.Having = &whose.Having[0], nil
	}
	return p.ofOpened(ctx, &whose, field)
}

// atFocus returns the field of text that has the focus, where a description says no more than "the
// text" or "it", and a goal before it went into the field.
func (p *planner) atFocus(m *page.Model, d *intent.Description) (find.Candidate, bool) {
	said := d.Kind == intent.Text_ || d.Kind == intent.Value_ || d.Kind == intent.FieldKind || d.Pronoun
	if !said || !bare(d) || len(p.steps) == 0 {
		return find.Candidate{}, false
	}
	for i := range m.Fields {
		f := &m.Fields[i]
		if n := &m.Nodes[f.Node]; n.Focused && n.Editable && !f.Disabled && !f.ReadOnly {
			return find.Candidate{What: find.Field, Index: i, Node: f.Node, Sub: -1, Score: 1}, true
		}
	}
	return find.Candidate{}, false
}

// editField fills the field of an edit; of Append behind what it holds.
func (p *planner) editField(ctx context.Context, g *intent.Goal, c *find.Candidate, text *intent.Value) error {
	if p.model.Fields[c.Index].Kind == "switch" && !method.SaysYes(text.Text) && !method.SaysNo(text.Text) {
		return p.say("a box does not take " + text.Text)
	}
	value := *text
	if g.Effect == intent.Append {
		held := p.model.Fields[c.Index].Value
		if strings.TrimSpace(held) != "" {
			value.Text = strings.TrimRight(held, " ") + " " + strings.TrimLeft(text.Text, " ")
		}
	}
	ok, err := p.fillField(ctx, c, &value, false)
	if err != nil {
		return err
	}
	if !ok {
		return p.say("the field does not take " + text.Text)
	}
	p.useSpan(text.Span, "the field holds it")
	return nil
}

// editInPlace edits what is no field until it is opened: by a double click, a control of it, its
// menu, its page.
func (p *planner) editInPlace(ctx context.Context, g *intent.Goal, c *find.Candidate, text *intent.Value) error {
	a := &attempt{goal: g, target: []find.Candidate{*c}}
	a.options = func(t *method.Task) []method.Way { return method.InPlace(t) }
	old := shownText(p.model, c)
	a.fills = func(ctx context.Context, _ int) (bool, error) {
		m, err := p.look(ctx)
		if err != nil {
			return false, err
		}
		f := method.Editor(m, a.start, old)
		if f < 0 {
			return false, nil
		}
		at := find.Candidate{What: find.Field, Index: f, Node: m.Fields[f].Node, Sub: -1}
		if ok, err := p.fillField(ctx, &at, text, false); err != nil || !ok {
			return false, err
		}
		return true, p.leaveEditor(ctx, m, f, text)
	}
	a.holds = func(now *page.Model) bool { return showsText(now, text.Text) }
	if _, err := p.achieve(ctx, a); err != nil {
		return err
	}
	p.useSpan(text.Span, "it shows the text")
	return nil
}

// leaveEditor presses Enter in a field of one line that came for the edit alone: in a dialog the
// buttons hand it in.
func (p *planner) leaveEditor(ctx context.Context, m *page.Model, field int, text *intent.Value) error {
	if m.Front >= 0 && m.Containers[m.Front].Kind == "dialog" {
		return nil
	}
	now, err := p.look(ctx)
	if err != nil {
		return err
	}
	ref := m.Nodes[m.Fields[field].Node].Ref
	for i := range now.Nodes {
		n := &now.Nodes[i]
		if n.Ref == ref && n.Editable && n.Tag != "textarea" && n.Role != "text" {
			_, err := p.do(ctx, now, method.Key(i, "Enter"), "takes the text "+shorten(text.Text, 60))
			return err
		}
	}
	return nil
}

// shownText is what a candidate shows.
func shownText(m *page.Model, c *find.Candidate) string {
	switch {
	case c.What == find.Attribute && c.Index < len(m.Records) && c.Sub >= 0 && c.Sub < len(m.Records[c.Index].Attributes):
		return m.Records[c.Index].Attributes[c.Sub].Text
	case c.What == find.Record && c.Index < len(m.Records):
		return m.Records[c.Index].Title
	case c.Node >= 0 && c.Node < len(m.Nodes):
		return m.Nodes[c.Node].Name
	}
	return ""
}

// showsText reports whether a page shows a text, in a field or elsewhere.
func showsText(m *page.Model, text string) bool {
	text = strings.ToLower(strings.Join(strings.Fields(text), " "))
	for i := range m.Nodes {
		n := &m.Nodes[i]
		for _, has := range []string{n.Name, n.Text, n.Value} {
			if strings.Contains(strings.ToLower(strings.Join(strings.Fields(has), " ")), text) {
				return true
			}
		}
	}
	return false
}
