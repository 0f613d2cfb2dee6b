package plan

import (
	"context"

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
			text, err := p.textOf(ctx, f.Value.From)
			if err != nil {
				return nil, err
			}
			f.Value.Text, f.Value.From, f.Value.Quoted = text, nil, true
		}
		out = append(out, f)
	}
	return out, nil
}

// textOf returns what the thing that a description means holds or shows.
func (p *planner) textOf(ctx context.Context, d *intent.Description) (string, error) {
	found, err := p.resolve(ctx, d, [][]find.What{{find.Attribute, find.Field}, {find.Line, find.Container, find.Record}})
	if err != nil {
		return "", err
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
		return "", p.say("it shows nothing that could be read")
	}
	p.useSpan(d.Span, "read on the page")
	return text, nil
}
