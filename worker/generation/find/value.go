package find

import (
	"strings"
	"time"

	"github.com/slipway-qa/slipway/worker/generation/intent"
)

// amount returns the number that a value says, in the units of attributes: seconds of
// durations, seconds since 1970 of dates.
func amount(v *intent.Value) (float64, bool) {
	if v.Date != nil {
		if v.Date.Year == 0 || v.Date.Month == 0 || v.Date.Day == 0 {
			return 0, false
		}
		return float64(time.Date(v.Date.Year, time.Month(v.Date.Month), v.Date.Day, 0, 0, 0, 0, time.UTC).Unix()), true
	}
	if v.Number == nil {
		return 0, false
	}
	if v.UnitClass == "duration" {
		return *v.Number * factor(v.Unit), true
	}
	return *v.Number, true
}

// valueAtoms returns a value as words that must be there as they are.
func valueAtoms(v *intent.Value) []atom {
	return textAtoms(v.Text, v.Span, v.Quoted)
}

// textAtoms cuts a text into atoms of one span.
func textAtoms(text string, span intent.Span, name bool) []atom {
	var out []atom
	for _, w := range strings.Fields(text) {
		w = strings.Trim(w, `.,;:!?()[]"'„“”«»`)
		if w != "" {
			out = append(out, atom{span: span, text: w, name: name, capital: proper(w)})
		}
	}
	if len(out) == 0 && text != "" {
		out = append(out, atom{span: span, text: text, name: true})
	}
	return out
}
