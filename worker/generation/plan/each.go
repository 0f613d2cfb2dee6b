package plan

import (
	"context"

	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
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
	things := thingsOf(m, found.Candidates)
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
