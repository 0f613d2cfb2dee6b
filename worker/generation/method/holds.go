package method

import (
	"math"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/effect"
	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// Holds reports whether a field, or an option of it, holds a value; off: whether it does not.
func Holds(m *page.Model, c *find.Candidate, v *intent.Value, off bool) bool {
	if c.Index < 0 || c.Index >= len(m.Fields) {
		return false
	}
	f := &m.Fields[c.Index]
	if c.What == find.Option && c.Sub < len(f.Options) {
		return f.Options[c.Sub].Selected == !off
	}
	if f.Kind == "switch" {
		return isOn(m, f) == !off
	}
	if off {
		return strings.TrimSpace(f.Value) == ""
	}
	if v.Date != nil && v.Date.To != nil && !m.Nodes[f.Node].Password {
		return holdsRange(m, c, v)
	}
	return SameValue(f, &m.Nodes[f.Node], v)
}

// Ticked reports whether a candidate is a box or switch that is on.
func Ticked(m *page.Model, c *find.Candidate) bool {
	switch {
	case c.Index < 0 || c.Index >= len(m.Fields):
		return false
	case c.What == find.Option:
		return m.Fields[c.Index].Kind == "choices" && Holds(m, c, &intent.Value{}, false)
	}
	return m.Fields[c.Index].Kind == "switch" && isOn(m, &m.Fields[c.Index])
}

func isOn(m *page.Model, f *page.Field) bool {
	switch m.Nodes[f.Node].Checked {
	case "true":
		return true
	case "false":
		return false
	}
	value := effect.Fold(f.Value)
	return value == "true" || value == "on" || value == "checked"
}

// SameValue reports whether what a field holds is a value: by number or date where it has one,
// else by its text.
func SameValue(f *page.Field, n *snapshot.Node, v *intent.Value) bool {
	held := f.Value
	for _, o := range f.Options {
		if o.Selected && textsAgree(o.Label, v.Text) {
			return true
		}
	}
	if n != nil && n.Password {
		return true // what it holds is never seen
	}
	if v.Date != nil && agreesWithDate(held, v.Date) {
		return true
	}
	if v.Number != nil {
		if x, ok := amount(held); ok && math.Abs(x-*v.Number) < 1e-9 {
			return true
		}
	}
	return textsAgree(held, v.Text)
}

// textsAgree compares two texts without case and white space.
func textsAgree(a, b string) bool { return effect.Fold(a) == effect.Fold(b) && effect.Fold(a) != "" }

// amount returns the only number in a text.
func amount(text string) (float64, bool) {
	var digits strings.Builder
	seen := false
	for _, r := range text {
		switch {
		case r >= '0' && r <= '9':
			digits.WriteRune(r)
			seen = true
		case (r == '.' || r == ',') && seen:
			digits.WriteRune(r)
		case r == '-' && !seen:
			digits.WriteRune(r)
		}
	}
	s := strings.TrimRight(digits.String(), ".,")
	dot, comma := strings.LastIndexByte(s, '.'), strings.LastIndexByte(s, ',')
	switch {
	case dot >= 0 && comma > dot:
		s = strings.ReplaceAll(strings.ReplaceAll(s, ".", ""), ",", ".")
	case comma >= 0 && dot > comma:
		s = strings.ReplaceAll(s, ",", "")
	case comma >= 0 && len(s)-comma == 4:
		s = strings.ReplaceAll(s, ",", "")
	case comma >= 0:
		s = strings.ReplaceAll(s, ",", ".")
	case dot >= 0 && len(s)-dot == 4 && strings.Count(s, ".") > 1:
		s = strings.ReplaceAll(s, ".", "")
	}
	x, err := strconv.ParseFloat(s, 64)
	return x, err == nil && seen
}

// SaysYes reports whether a text is a word for on, in any language.
func SaysYes(text string) bool {
	return textHas(text, "", "yes", "on", "enable", "enabled", "true", "desired")
}

// SaysNo reports whether a text is a word for off.
func SaysNo(text string) bool { return textHas(text, "", "no", "off", "disable", "disabled", "false") }
