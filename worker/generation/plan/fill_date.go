package plan

import (
	"context"
	"slices"

	"github.com/slipway-qa/slipway/worker/generation/intent"
)

// dateTypes are the types of fields that hold dates and times in a form of their own,
// whatever they show.
var dateTypes = []string{"date", "time", "datetime-local", "month", "week"}

// fillDate fills a field with a date or time as that field takes it. It reports whether it
// did: a field that shows no form of its own takes what the text says.
func fillDate(ctx context.Context, p *planner, in *intent.Instruction, m match) (bool, error) {
	if in.Kind != intent.Fill || len(in.Values) == 0 || in.Values[0].Date == nil {
		return false, nil
	}
	value := &in.Values[0]
	d := dateChooser{p, in}
	if slices.Contains(dateTypes, m.node.Type) || m.node.ReadOnly {
		return true, d.choose(ctx, m.ref, value)
	}
	v, err := p.look(ctx)
	if err != nil || value.Quoted && value.Date.Relative == "" {
		return false, err
	}
	when := momentOf(*value.Date, p.cfg.Now())
	if format, ok := formatOf(m.node.Placeholder); ok {
		when = inFormat(when, value.Text, format.dayComesFirst())
	}
	text, ok := d.text(v, m.node, when)
	if !ok || text == value.Text {
		return false, nil
	}
	m.why += "; the date as the field writes it"
	return true, fillField(ctx, p, in, m, text)
}
