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
	end := 0 // of the last one
	for i, t := range toks {
		v := token.Values(t.Text)
		if len(v) == 0 || t.Kind != token.Number {
			continue
		}
		for _, j := range []int{i + 1, i - 1} {
			if j < 0 || j >= len(toks) {
				continue
			}
			class, by := ix.words.unit(toks[j].Text), factor(toks[j].Text)
			if toks[j].Text == "m" && i == end && len(out) > 0 && out[len(out)-1].class == "duration" { // "7h 20m": no metres
				class, by = "duration", 60
			}
			if class == "" || j < i && class != "money" {
				continue
			}
			n := v[0]
			if class == "duration" {
				n *= by
				if last := len(out) - 1; last >= 0 && i == end && out[last].class == class && n < out[last].value { // "5h 45m"
					out[last].value += n
					end = j + 1
					break
				}
			}
			end = j + 1
			out = append(out, quantity{n, class})
			break
		}
	}
	return out
}
