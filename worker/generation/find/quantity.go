package find

import (
	"github.com/slipway-qa/slipway/worker/generation/word/token"
)

// quantity is a number with a unit in a text.
type quantity struct {
	value float64
	class string
}

// quantities returns the numbers of a text that have a unit beside them: "Rower, 16 years".
// Durations are in seconds.
func (ix *index) quantities(s string) []quantity {
	toks := token.Split(s, nil)
	var out []quantity
	for i, t := range toks {
		v := token.Values(t.Text)
		if len(v) == 0 || t.Kind != token.Number {
			continue
		}
		for _, j := range []int{i + 1, i - 1} {
			if j < 0 || j >= len(toks) {
				continue
			}
			class := ix.words.unit(toks[j].Text)
			if class == "" || j < i && class != "money" {
				continue
			}
			n := v[0]
			if class == "duration" {
				n *= factor(toks[j].Text)
			}
			out = append(out, quantity{n, class})
			break
		}
	}
	return out
}
