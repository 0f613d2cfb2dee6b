package plan

import (
	"context"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// ofRecords fills values whose name is that of a record and not of a field: "set the shed to high".
func (p *planner) ofRecords(ctx context.Context, g *intent.Goal, f *form) error {
	left, at := f.left()
	for i := range left {
		if n := left[i].Name; n == nil || len(n.Words) == 0 && n.Extreme == nil && n.Ordinal == 0 || left[i].Keep {
			continue
		}
		m, err := p.look(ctx)
		if err != nil {
			return err
		}
		owner, name := ownerOf(left[i].Name)
		found, _, ok := p.resolveOn(m, owner, [][]find.What{{find.Record}})
		if !ok || len(found) != 1 {
			continue
		}
		one := left[i]
		one.Name = name
		inner := newForm([]intent.Field{one})
		if err := p.setOn(ctx, g, inner, &found[0]); err != nil {
			return err
		}
		p.remember(m, found)
		f.done[at[i]] = inner.complete()
		f.filled += inner.filled
	}
	return nil
}

// ownerOf splits the name of a field that a thing has: "the stock of the hose" is the stock, of the
// hose. A name without is the thing itself, as is "the older of them".
func ownerOf(d *intent.Description) (owner, name *intent.Description) {
	if d.Of == nil || d.Of.Pronoun && (d.Extreme != nil || d.Ordinal != 0) {
		return d, nil
	}
	own := *d
	own.Of = nil
	return d.Of, &own
}

// ofOwners fills values of a thing that is said behind them: "as the remark for Eastbridge", where the
// row of Eastbridge has a field for remarks.
func (p *planner) ofOwners(ctx context.Context, g *intent.Goal, f *form) error {
	for k := 1; k < len(f.fields); k++ {
		of, field := &f.fields[k], &f.fields[k-1]
		if f.done[k] || f.done[k-1] || of.Name != nil || of.Prep == "" || of.Value.Number != nil || of.Value.Date != nil ||
			field.Name == nil || field.Keep {
			continue
		}
		m, err := p.look(ctx)
		if err != nil {
			return err
		}
		d := intent.Description{Span: of.Value.Span, Quoted: of.Value.Quoted, Words: []intent.Word{{Span: of.Value.Span, Text: of.Value.Text}}}
		found, _, ok := p.resolveOn(m, &d, [][]find.What{{find.Record}})
		if !ok || len(found) != 1 {
			continue
		}
		if _, ok := p.assigned(m, []intent.Field{*field}, found[0].Node); !ok {
			continue
		}
		inner := newForm([]intent.Field{*field})
		if err := p.setOn(ctx, g, inner, &found[0]); err != nil {
			return err
		}
		if inner.complete() {
			f.done[k-1], f.done[k] = true, true
			f.filled++
			p.useSpan(of.Span, "whose it is")
			p.remember(m, found)
		}
	}
	return nil
}

// ofOneOfMany reports whether a field stands in one of several things of a list that have one of its
// name each, and the form is not that of this thing: which one is meant nothing says.
func ofOneOfMany(m *page.Model, f *intent.Field, slot *find.Slot, within int) bool {
	c := &slot.To
	if c.What != find.Field && c.What != find.Option || c.Index >= len(m.Fields) {
		return false
	}
	kind := m.Fields[c.Index].Kind
	if f.Name == nil && kind != "text" && kind != "editor" {
		return false // the value itself tells where it goes
	}
	r := m.Fields[c.Index].Record
	if r < 0 || m.Records[r].Group < 0 || within >= 0 && (within == m.Records[r].Node || m.Index().Contains(m.Records[r].Node, within)) {
		return false
	}
	if f.Name != nil && (f.Name.Of != nil || f.Name.In != nil || f.Name.Ordinal != 0 || f.Name.Extreme != nil ||
		len(f.Name.Having)+len(f.Name.Relation) > 0) {
		return false
	}
	title := strings.ToLower(m.Records[r].Title)
	if f.Name != nil && slices.ContainsFunc(f.Name.Words, func(w intent.Word) bool {
		return strings.Contains(title,
			strings.ToLower(w.Text))
	}) {
		return false // it says whose it is
	}
	return slices.ContainsFunc(m.Fields, func(o page.Field) bool {
		return o.Record >= 0 && o.Record != r && m.Records[o.Record].Group == m.Records[r].Group &&
			o.Label == m.Fields[c.Index].Label && o.Kind == m.Fields[c.Index].Kind && !o.Hidden
	})
}
