package plan

import (
	"context"
	"fmt"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
	"github.com/slipway-qa/slipway/worker/generation/word/token"
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
	text := ""
	var nearest find.Found
	for _, kinds := range [][]find.What{{find.Attribute, find.Field}, {find.Line}} {
		found, near, ok := p.resolveOn(m, v.From, [][]find.What{kinds})
		if nearest = near; ok && len(found) == 1 {
			text = textShown(m, &found[0], v.From)
		}
		if text == "" {
			text = p.onlyShown(m, &near, v.From)
		}
		if text != "" {
			break
		}
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
	return nil
}

// onlyShown is what those of the nearest lines show that tell a value and leave no word of the
// description unexplained, where that is one text: labels of the same name tell none.
func (p *planner) onlyShown(m *page.Model, near *find.Found, d *intent.Description) string {
	text := ""
	for i := range near.Candidates {
		c := &near.Candidates[i]
		if c.What != find.Line || len(c.Missing) > 0 {
			continue
		}
		shown := textShown(m, c, d)
		if shown == "" || shown == text {
			continue
		}
		if text != "" {
			return ""
		}
		text = shown
	}
	return text
}

// textShown is what a thing shows; "" where it is nothing that shows one value.
func textShown(m *page.Model, c *find.Candidate, d *intent.Description) string {
	switch c.What {
	case find.Attribute:
		if r := &m.Records[c.Index]; c.Sub >= 0 && c.Sub < len(r.Attributes) {
			return r.Attributes[c.Sub].Text
		}
	case find.Field:
		return m.Fields[c.Index].Value
	case find.Line:
		return valueIn(m.Lines[c.Index].Text, d)
	}
	return ""
}

// valueIn is what a line tells of a noun: what stands behind a colon ("Total: 12"), the first word
// with a digit behind the noun ("Your code is 4817."), the whole of a short one; else "".
func valueIn(text string, d *intent.Description) string {
	if _, value, ok := strings.Cut(text, ":"); ok {
		return strings.TrimSpace(value)
	}
	if n := len(d.Words); n > 0 && !d.Quoted && strings.EqualFold(strings.TrimRight(text, " *"), spoken(d.Words)) {
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

func spoken(words []intent.Word) string {
	var list []string
	for _, w := range words {
		list = append(list, w.Text)
	}
	return strings.Join(list, " ")
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
