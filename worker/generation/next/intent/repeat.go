package intent

import "github.com/slipway-qa/slipway/worker/generation/next/lexicon"

// timesWords say after a number how often, and oftenWords say it with the number.
var (
	timesWords = map[string]bool{"times": true, "time": true, "x": true, "mal": true, "veces": true, "vez": true, "fois": true}
	oftenWords = map[string]int{"twice": 2, "thrice": 3, "zweimal": 2, "dreimal": 3, "viermal": 4, "fünfmal": 5}
)

// repeats takes out how often something is pressed: "three times", "twice".
func (d *deed) repeats(items []item) []item {
	switch d.g.Effect {
	case Press, Increase, Decrease, Type, Act, Expand, Open:
	default:
		return items
	}
	for i := range items {
		it := &items[i]
		n, next := oftenWords[it.fold], i+1
		if it.number && it.value != nil && it.value.Number != nil && i+1 < len(items) && timesWords[items[i+1].fold] {
			n, next = int(*it.value.Number), i+2
		}
		if n < 1 || it.quoted() || it.proper(d.r.lang) || next < len(items) && !items[next].mark && !items[next].has(lexicon.Preposition) && !items[next].has(lexicon.Conjunction) {
			continue
		}
		d.g.Times = n
		d.g.Words = append(d.g.Words, Span{it.From, items[next-1].To})
		return append(append([]item{}, items[:i]...), items[next:]...)
	}
	return items
}
