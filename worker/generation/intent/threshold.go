package intent

import (
	"github.com/slipway-qa/slipway/worker/generation/lexicon"
)

// thresholds joins a comparative with "than" before a number to the preposition that it is:
// "cheaper than 20 euros" is below 20 of the price, "mehr als 3" above 3.
func (r *reader) thresholds(list []item) []item {
	out := list[:0:0]
	for i := 0; i < len(list); i++ {
		e := comparative(&list[i])
		if e == nil || list[i].proper(r.lang) || i+2 >= len(list) || !list[i+1].has(lexicon.Preposition, "than") || !amountItem(&list[i+2]) {
			out = append(out, list[i])
			continue
		}
		name := map[string]string{"max": "above", "min": "below"}[e.Attr("order")]
		it := item{Span: Span{list[i].From, list[i+1].To}, first: list[i].first}
		it.text = r.source[it.From:it.To]
		it.fold = fold(it.text)
		it.entries = []lexicon.Entry{{Class: lexicon.Preposition, Lemma: it.fold, Name: name, Names: []string{name}}}
		if e.Attr("of") != "degree" {
			it.measure = &Description{Span: list[i].Span, Words: []Word{{Span: list[i].Span, Text: e.Name}},
				Extreme: &Extreme{Span: list[i].Span, Measure: e.Name, Max: name == "above"}}
		}
		out = append(out, it)
		i++
	}
	return out
}

// comparative returns the sense of an item that compares, nil without one: en "cheaper", and
// what French and Spanish write as a superlative too.
func comparative(it *item) *lexicon.Entry {
	var best *lexicon.Entry
	for k := range it.entries {
		e := &it.entries[k]
		if e.Class != lexicon.Measure || e.Attr("order") == "" {
			continue
		}
		if form := e.Attr("form"); form == "comparative" || form == "superlative" && best == nil {
			best = e
		}
	}
	return best
}

// amountItem reports whether an item is a number that is no date.
func amountItem(it *item) bool {
	return it.value != nil && it.value.Number != nil && it.value.Date == nil
}
