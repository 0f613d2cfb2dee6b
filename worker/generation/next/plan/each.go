package plan

import (
	"context"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/next/find"
	"github.com/slipway-qa/slipway/worker/generation/next/intent"
)

// several reports whether a value goes into more than one field: "into both fields".
func several(f *intent.Field) bool {
	return f.Name != nil && !f.Off && !f.Keep && (f.Name.Both || f.Name.All || f.Name.Count > 1)
}

// setSeveral fills each of the fields that one value names, and returns the values that are left.
func (p *planner) setSeveral(ctx context.Context, fields []intent.Field) ([]intent.Field, error) {
	var left []intent.Field
	for i := range fields {
		if !several(&fields[i]) {
			left = append(left, fields[i])
			continue
		}
		if err := p.setAll(ctx, &fields[i]); err != nil {
			return nil, err
		}
	}
	return left, nil
}

func (p *planner) setAll(ctx context.Context, f *intent.Field) error {
	m, err := p.look(ctx)
	if err != nil {
		return err
	}
	found := find.Description(m, f.Name, p.want(m, find.Field))
	if !found.Clear() || !found.Plural {
		return p.unresolved(f.Name, &found)
	}
	var things []thing
	for i := range found.Candidates {
		things = append(things, p.thingOf(m, &found.Candidates[i]))
	}
	for i := range things {
		now, err := p.look(ctx)
		if err != nil {
			return err
		}
		things[i].what = find.Field
		c, ok := p.now(now, &things[i])
		if !ok {
			return p.say("one of the fields is not seen any more")
		}
		if ok, err := p.fillField(ctx, &c, &f.Value, false); err != nil {
			return err
		} else if !ok {
			return p.say("one of the fields does not take " + f.Value.Text)
		}
	}
	p.useFound(f.Name, &found)
	p.useSpan(f.Span, "the fields hold it")
	p.useSpan(f.Value.Span, "the fields hold it")
	p.useSpan(f.Name.Span, "the fields")
	return nil
}

// readValues puts what stands on the page in place of values that say where it stands: "the value
// of Language", "the code that is shown above".
func (p *planner) readValues(ctx context.Context, fields []intent.Field) ([]intent.Field, error) {
	var out []intent.Field
	for _, f := range fields {
		if f.Value.From != nil {
			text, c, err := p.textOf(ctx, f.Value.From)
			if err != nil {
				return nil, err
			}
			if c.What == find.Field && f.Name != nil { // it goes into another field
				name := *f.Name
				name.Other, f.Name = true, &name
				p.remember(p.model, []find.Candidate{c})
			}
			f.Value.Text, f.Value.From, f.Value.Quoted = text, nil, true
		}
		out = append(out, f)
	}
	return out, nil
}

// textOf returns what the thing that a description means holds or shows.
func (p *planner) textOf(ctx context.Context, d *intent.Description) (string, find.Candidate, error) {
	if text, c, ok := p.valueOf(d); ok {
		p.useSpan(d.Span, "read on the page")
		return text, c, nil
	}
	found, err := p.resolve(ctx, d, [][]find.What{{find.Attribute, find.Field}, {find.Line, find.Record}})
	if err != nil {
		return "", find.Candidate{}, err
	}
	c := &found[0]
	text := shownText(p.model, c)
	switch {
	case c.What == find.Field && c.Index < len(p.model.Fields):
		text = p.model.Fields[c.Index].Value
	case c.What == find.Line && c.Index < len(p.model.Lines):
		text = p.model.Lines[c.Index].Text
	}
	if text == "" {
		return "", *c, p.say("it shows nothing that could be read")
	}
	p.useSpan(d.Span, "read on the page")
	return text, *c, nil
}

// valueOf returns what stands beside the name of something in a list of names and values, or what
// its field holds: "the value of Language".
func (p *planner) valueOf(d *intent.Description) (string, find.Candidate, bool) {
	m := p.model
	if m == nil || d.Of == nil || d.Of.Pronoun || d.Kind != intent.Value_ && d.Kind != intent.Text_ || len(d.Words) > 0 {
		return "", find.Candidate{}, false
	}
	if f := find.Description(m, d.Of, p.want(m, find.Record)); f.Clear() && !f.Plural {
		r := &m.Records[f.Candidates[0].Index]
		var texts []string
		for i := range r.Attributes {
			if a := &r.Attributes[i]; a.Text != r.Title && strings.TrimSpace(a.Text) != "" {
				texts = append(texts, a.Text)
			}
		}
		if len(texts) == 1 {
			return texts[0], f.Candidates[0], true
		}
	}
	var held []find.Candidate
	f := find.Description(m, d.Of, p.want(m, find.Field))
	for _, c := range f.Candidates {
		if c.Score >= find.Enough && len(c.Missing) == 0 && m.Fields[c.Index].Value != "" {
			held = append(held, c)
		}
	}
	if len(held) != 1 {
		return "", find.Candidate{}, false
	}
	return m.Fields[held[0].Index].Value, held[0], true
}
