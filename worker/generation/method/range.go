package method

import (
	"strings"
	"unicode"

	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// endField returns the field for the end of a range of dates or times that another field begins: the
// next one of its form that takes such values; nil where one field holds both.
func endField(m *page.Model, f *page.Field) *page.Field {
	for i := range m.Fields {
		if o := &m.Fields[i]; o.Node > f.Node && !o.Hidden && !o.Disabled && o.Kind != "shown" {
			n := &m.Nodes[o.Node]
			alike := o.Kind == f.Kind && n.Type == m.Nodes[f.Node].Type && n.Tag == m.Nodes[f.Node].Tag && o.ReadOnly == f.ReadOnly
			if !alike || o.Record != f.Record || !takesEnd(f, o, &m.Nodes[f.Node], n) {
				return nil
			}
			return o
		}
	}
	return nil
}

// takesEnd reports whether a field takes dates or times as the one before it does: by its type, or by the
// form of what it shows. A field for a name, say, is no end of a range.
func takesEnd(f, o *page.Field, first, n *snapshot.Node) bool {
	if o.Kind == "date" || o.Kind == "time" || n.Type != "" && n.Type != "text" || dateLike(o, n) {
		return true
	}
	form := func(text string) string {
		return strings.Map(func(r rune) rune {
			if unicode.IsDigit(r) {
				return '0'
			}
			return r
		}, strings.TrimSpace(text))
	}
	return n.Placeholder != "" && form(n.Placeholder) == form(first.Placeholder) || strings.Contains(form(o.Value), "0") &&
		form(o.Value) == form(f.Value)
}

// ranges returns the ways to have a field, and the one behind it, hold a range: both ends written as
// the fields write them, or chosen in what opens.
func (t *Task) ranges(f *page.Field, v *intent.Value) []Way {
	from, to := ends(v)
	end := endField(t.Model, f)
	open := t.way("the range "+DescribeNode(t.Model, f.Node)+", opened", costGlobal, press(f.Node))
	open.Reveals = true
	if end == nil || f.ReadOnly || !t.Model.Nodes[f.Node].Editable {
		return []Way{open}
	}
	var list []Way
	last := t.dateTexts(end, &t.Model.Nodes[end.Node], to)
	for i, text := range t.dateTexts(f, &t.Model.Nodes[f.Node], from) {
		// A field with a calendar takes what was typed when it is left.
		acts := []Act{fill(f.Node, text), key(f.Node, "Tab"), fill(end.Node, last[min(i, len(last)-1)]), key(end.Node, "Tab")}
		cost := costNamed + float64(i)*0.1
		name := "the range from " + DescribeNode(t.Model, f.Node) + " to " + DescribeNode(t.Model, end.Node)
		list = append(list, t.way(name, cost, acts...))
	}
	return append(list, open)
}

// ends returns the two ends of a range as values of their own.
func ends(v *intent.Value) (from, to *intent.Value) {
	first, last := *v, *v
	day := *v.Date
	day.To = nil
	first.Date, last.Date = &day, v.Date.To
	return &first, &last
}

// holdsRange reports whether a field shows both ends of a range, or one and the field behind it the other.
func holdsRange(m *page.Model, c *find.Candidate, v *intent.Value) bool {
	f := &m.Fields[c.Index]
	if !agreesWithDate(f.Value, v.Date) {
		return false
	}
	if end := endField(m, f); end != nil {
		return agreesWithDate(end.Value, v.Date.To)
	}
	return agreesWithDate(f.Value, v.Date.To)
}
