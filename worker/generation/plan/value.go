package plan

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
	"github.com/slipway-qa/slipway/worker/generation/word/token"
)

// prepareValues takes values from the page that the text only speaks of ("the value of Language", or
// "it" of "copy the code and paste it"), and fills those that go into several fields ("into both
// fields").
func (p *planner) prepareValues(ctx context.Context, f *form) error {
	for i := range f.fields {
		if f.done[i] {
			continue
		}
		v := &f.fields[i].Value
		if p.copied != nil && p.refers(v) {
			span := v.Span
			*v = *p.copied
			v.Span = span
		}
		if v.From != nil && v.From.Pronoun && p.refers(v) {
			return p.say("it does not say what goes into the field")
		}
		if v.From != nil && !v.Quoted && (f.fields[i].Name != nil || intent.Shows(v.From.Kind)) {
			if err := p.shownValue(ctx, v, f.fields[i].Name); err != nil {
				return err
			}
		}
		if err := p.fillEach(ctx, f, i); err != nil {
			return err
		}
	}
	return nil
}

// refers reports whether a value is nothing but a word for what was spoken of: "it".
func (p *planner) refers(v *intent.Value) bool {
	return v.From != nil && v.From.Pronoun && len(v.From.Words) == 0 || find.Functional(v, p.text.Lang)
}

// shownValue has a value be what the page shows for its description, and not in the field that it
// goes into. A step of the test reads it there, so that a replay takes what is shown then.
func (p *planner) shownValue(ctx context.Context, v *intent.Value, into *intent.Description) error {
	m, err := p.look(ctx)
	if err != nil {
		return err
	}
	but := -1
	if into != nil {
		if f := find.Description(m, into, p.want(m, find.Field)); f.Clear() && !f.Plural && !m.Fields[f.Candidates[0].Index].ReadOnly {
			but = f.Candidates[0].Node
		}
	}
	c, text, nearest := p.showing(m, v.From, but)
	if text == "" && but >= 0 { // what takes it may be called so for a word of the other
		c, text, nearest = p.showing(m, v.From, -1)
	}
	if text == "" && !intent.Shows(v.From.Kind) && len(v.From.Flags) == 0 {
		return nil // words to type, as far as the page knows
	}
	if text == "" {
		return p.unresolved(v.From, &nearest)
	}
	from := v.Span
	*v = intent.Value{Span: from, Text: text}
	if values := token.Values(text); len(values) > 0 {
		v.Number = &values[0]
	}
	p.useSpan(from, "it is shown")
	if c.Node >= 0 {
		p.sources = append(p.sources, m.Nodes[c.Node].Ref)
	}
	v.Saved, err = p.save(ctx, m, &c, text)
	return err
}

// showing returns what shows the text that a description speaks of, and this text; "" with the
// nearest where it is not one. But is a node that it is not.
func (p *planner) showing(m *page.Model, d *intent.Description, but int) (find.Candidate, string, find.Found) {
	var nearest find.Found
	for i, kinds := range [][]find.What{{find.Attribute, find.Field}, {find.Record}, {find.Line}} {
		for _, of := range ownersOf(d) {
			near := find.Description(m, of, p.want(m, kinds...))
			if i == 0 || better(&near, &nearest) {
				nearest = near
			}
			if c, text := onlyShown(m, &near, of, but); text != "" {
				near.Candidates, near.Plural = []find.Candidate{c}, false
				p.useFound(of, &near)
				p.useSpan(of.Span, "it is shown")
				return c, text, near
			}
		}
	}
	return find.Candidate{Node: -1}, "", nearest
}

// ownersOf returns a description, and the thing whose text it is where it says no more of it: "the
// text in the second box".
func ownersOf(d *intent.Description) []*intent.Description {
	list := []*intent.Description{d}
	if !intent.Shows(d.Kind) || len(d.Words) > 0 {
		return list
	}
	switch {
	case d.Of != nil:
		list = append(list, d.Of)
	case d.In != nil:
		list = append(list, d.In)
	case len(d.Having) == 1:
		list = append(list, &d.Having[0])
	}
	return list
}

// nearShown is how far below the best what shows another text is no rival.
const nearShown = 0.1

// onlyShown is what of the things that were found shows a text and leaves no word of the
// description unexplained, where that is one text: labels of the same name show none.
func onlyShown(m *page.Model, found *find.Found, d *intent.Description, but int) (find.Candidate, string) {
	var best find.Candidate
	text := ""
	for i := range found.Candidates {
		c := found.Candidates[i]
		if len(c.Missing) > 0 || c.Score < find.Enough || c.Node == but && but >= 0 {
			continue
		}
		shown := textShown(m, &c, d)
		if shown == "" || shown == text || text != "" && best.Score-c.Score > nearShown {
			continue
		}
		if text != "" {
			return best, ""
		}
		best, text = c, shown
	}
	return best, text
}

// textShown is what a thing shows; "" where it is nothing that shows one value.
func textShown(m *page.Model, c *find.Candidate, d *intent.Description) string {
	switch c.What {
	case find.Attribute:
		if r := &m.Records[c.Index]; c.Sub >= 0 && c.Sub < len(r.Attributes) {
			return r.Attributes[c.Sub].Text
		}
	case find.Record:
		if a := labelled(&m.Records[c.Index], d); a != nil {
			c.Node = a.Node
			return a.Text
		}
	case find.Field:
		return m.Fields[c.Index].Value
	case find.Line:
		if label := m.Lines[c.Index].Text; slices.ContainsFunc(m.Fields,
			func(f page.Field) bool { return f.Label == strings.TrimRight(label, " :*") }) {
			return "" // it says what goes into a field
		}
		return valueIn(m.Lines[c.Index].Text, d)
	}
	return ""
}

// labelled is the value of a row of a label and a value, of which a description is the label; nil
// where it is none.
func labelled(r *page.Record, d *intent.Description) *page.Attribute {
	if len(r.Attributes) != 2 || r.Attributes[0].Text != r.Title || r.Attributes[1].Name != "" {
		return nil
	}
	for _, w := range d.Words {
		if strings.Contains(strings.ToLower(r.Attributes[1].Text), strings.ToLower(w.Text)) {
			return nil
		}
	}
	return &r.Attributes[1]
}

// maxShown is how many words a line has that is a value with its label.
const maxShown = 4

// valueIn is what a line tells of a noun: what stands behind a colon ("Total: 12"), the first word
// with a digit behind the noun ("Your code is 4817."), the whole of a short one; else "".
func valueIn(text string, d *intent.Description) string {
	if _, value, ok := strings.Cut(text, ":"); ok {
		return strings.TrimSpace(value)
	}
	if n := len(d.Words); n > 0 && !d.Quoted && strings.EqualFold(strings.TrimRight(text, " *"), d.Phrase()) {
		return "" // a label
	}
	if len(strings.Fields(text)) <= maxShown && !strings.HasSuffix(text, ".") {
		return text
	}
	noun := d.Noun
	if n := len(d.Words); n > 0 {
		noun = d.Words[n-1].Text
	}
	at := strings.Index(strings.ToLower(text), strings.ToLower(noun))
	if noun == "" || at < 0 {
		return ""
	}
	for _, w := range strings.Fields(text[at+len(noun):]) {
		if strings.ContainsAny(w, "0123456789") {
			return strings.Trim(w, ".,;:!?()")
		}
	}
	return ""
}

// fillEach puts a value into each of several fields that its name means: "both text fields".
func (p *planner) fillEach(ctx context.Context, f *form, i int) error {
	field := &f.fields[i]
	if field.Name == nil || field.Keep || !field.Name.Both && !field.Name.All && field.Name.Count < 2 {
		return nil
	}
	start, err := p.look(ctx)
	if err != nil {
		return err
	}
	found := find.Description(start, field.Name, p.want(start, find.Field))
	if !found.Plural || !found.Clear() {
		return p.unresolved(field.Name, &found)
	}
	for k := range found.Candidates {
		m, err := p.look(ctx)
		if err != nil {
			return err
		}
		c, ok := fieldNow(start, m, &found.Candidates[k])
		if !ok {
			return p.say(fmt.Sprintf("%q is not seen any more", p.words(field.Name.Span)))
		}
		filled, err := p.fillOne(ctx, m, field, &find.Slot{To: c, Text: field.Value.Text})
		if err != nil {
			return err
		}
		if !filled {
			return nil
		}
	}
	p.useFound(field.Name, &found)
	f.done[i] = true
	f.filled++
	p.useField(field, &find.Slot{To: found.Candidates[0]})
	return nil
}
