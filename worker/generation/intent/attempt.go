package intent

import (
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/lexicon"
)

// attempts puts the verb of a German infinitive where other languages have it: "Versuche, den
// Kunden zu speichern" is "Versuche speichern den Kunden".
func (r *reader) attempts(items []item) []item {
	if r.lang != "de" {
		return items
	}
	for i := range items {
		if !items[i].has(lexicon.Auxiliary, "try", "start") || i > 0 && !items[i-1].mark && !items[i-1].has(lexicon.Conjunction) {
			continue
		}
		from := i + 1
		for from < len(items) && items[from].sign(",") {
			from++
		}
		for j := from; j < len(items) && !items[j].mark; j++ {
			if !r.deedForm(&items[j], "infinitive") || items[j].cap || j+1 < len(items) && !items[j+1].mark && !items[j+1].has(lexicon.Conjunction) {
				continue
			}
			between := items[from:j]
			if n := len(between); n > 0 && between[n-1].has(lexicon.Preposition, "to") && !between[n-1].cap {
				between = between[:n-1]
			} else if !strings.Contains(items[j].fold, "zu") {
				break
			}
			out := append(append([]item{}, items[:i+1]...), items[j])
			return append(append(out, between...), r.attempts(items[j+1:])...)
		}
	}
	return items
}
