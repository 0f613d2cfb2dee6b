package plan

import (
	"context"
	"fmt"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/next/find"
	"github.com/slipway-qa/slipway/worker/generation/next/intent"
	"github.com/slipway-qa/slipway/worker/generation/next/page"
	"github.com/slipway-qa/slipway/worker/generation/next/word/token"
)

// prepareValues takes values from the page that the text only speaks of ("the value of Language"),
// and fills those that go into several fields ("into both fields").
func (p *planner) prepareValues(ctx context.Context, f *form) error {
	for i := range f.fields {
		if f.done[i] {
			continue
		}
		v := &f.fields[i].Value
		if v.From != nil && !v.Quoted && (f.fields[i].Name != nil || intent.Shows(v.From.Kind)) {
			if err := p.shownValue(ctx, v); err != nil {
				return err
			}
		}
		if err := p.fillEach(ctx, f, i); err != nil {
			return err
		}
	}
	return nil
}

// maxShown is how many words a line has that is a value with its label.
const maxShown = 4

// shownValue has a value be what the page shows for its description.
func (p *planner) shownValue(ctx context.Context, v *intent.Value) error {
	m, err := p.look(ctx)
	if err != nil {
		return err
	}
	found, nearest, ok := p.resolveOn(m, v.From, [][]find.What{{find.Attribute, find.Field}, {find.Line}})
	text := ""
	if ok && len(found) == 1 && (found[0].What != find.Line || len(strings.Fields(m.Lines[found[0].Index].Text)) <= maxShown) {
		text = textShown(m, &found[0])
	}
	if text == "" && !intent.Shows(v.From.Kind) {
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
	return nil
}

// textShown is what a thing shows; "" where it is nothing that shows one value.
func textShown(m *page.Model, c *find.Candidate) string {
	switch c.What {
	case find.Attribute:
		if r := &m.Records[c.Index]; c.Sub >= 0 && c.Sub < len(r.Attributes) {
			return r.Attributes[c.Sub].Text
		}
	case find.Field:
		return m.Fields[c.Index].Value
	case find.Line:
		text := m.Lines[c.Index].Text
		if _, value, ok := strings.Cut(text, ":"); ok { // "Total: 12"
			return strings.TrimSpace(value)
		}
		return text
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
