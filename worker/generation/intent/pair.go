package intent

import (
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/lexicon"
)

// maxLabel is how many words a label before a colon has in prose.
const maxLabel = 3

// pairs makes one item of each label with a colon and its value, where a sentence has several of
// them: "from: Anvik, AK to: Hilo". A value ends where the next label begins, so that what would
// part clauses elsewhere is a part of it. One colon alone introduces something and names no field.
func (r *reader) pairs(list []item) []item {
	var out []item
	n := 0
	for i := 0; i < len(list); {
		colon := r.labelHere(list, i)
		if colon < 0 {
			out = append(out, list[i])
			i++
			continue
		}
		end := r.pairEnd(list, colon+1)
		if end == colon+1 {
			out = append(out, list[i:colon+1]...)
			i = colon + 1
			continue
		}
		out = append(out, r.pairOf(list[i:colon], list[colon+1:end]))
		n++
		if i = end; i < len(list) && (list[i].sign(",;") || list[i].has(lexicon.Conjunction, "and")) && i+1 < len(list) &&
			r.labelHere(list, i+1) >= 0 {
			i++ // what joins two of them joins no clauses
		}
	}
	if n < 2 {
		return list
	}
	return out
}

// labelHere returns the colon of the label that begins at i, -1 where none does.
func (r *reader) labelHere(list []item, i int) int {
	for j := i; j < len(list) && j <= i+maxLabel; j++ {
		it := &list[j]
		if it.sign(":") && j > i {
			return j
		}
		grammar := it.has(lexicon.Conjunction) || it.has(lexicon.Article) || it.has(lexicon.Preposition) && j > i
		if it.mark || it.value != nil || grammar || j == i && r.verbHere(list, i) || it.has(lexicon.Preposition) &&
			j+1 < len(list) && !list[j+1].sign(":") {
			return -1
		}
		if j > i && it.cap != list[i].cap && !list[i].first { // "AK to:"
			return -1
		}
	}
	return -1
}

// verbHere reports whether a deed begins at i and no label: "enter:".
func (r *reader) verbHere(list []item, i int) bool {
	begins := i == 0 || list[i-1].mark || list[i-1].has(lexicon.Conjunction)
	return begins && !list[i].cap && len(list[i].verbs) > 0 && !list[i].has(lexicon.Noun_) &&
		len(r.lex.Concepts(list[i].text)) == 0 || list[i].first && len(list[i].verbs) > 0
}

// pairEnd returns where the value that begins at i ends: at the next label, at another deed, at a
// preposition before a date.
func (r *reader) pairEnd(list []item, i int) int {
	end := i
	for j := i; j < len(list); j++ {
		it := &list[j]
		switch {
		case r.labelHere(list, j) >= 0:
			return trimJoint(list, i, j)
		case it.has(lexicon.Preposition) && j+1 < len(list) && list[j+1].value != nil && list[j+1].value.Date != nil:
			return trimJoint(list, i, j)
		case (it.sign(",;") || it.has(lexicon.Conjunction)) && j+1 < len(list) && (list[j+1].has(lexicon.Conjunction) ||
			len(list[j+1].verbs) > 0 && !list[j+1].cap):
			return trimJoint(list, i, j)
		}
		end = j + 1
	}
	return end
}

// trimJoint leaves out what joins a value to what follows it.
func trimJoint(list []item, i, end int) int {
	for end > i && (list[end-1].sign(",;") || list[end-1].has(lexicon.Conjunction, "and", "then")) {
		end--
	}
	return end
}

// regions joins a name with the code of the region that it is in: "Tucson, AZ". The comma parts no
// two things there, unless the code is one of a list.
func (r *reader) regions(list []item) []item {
	var out []item
	for i := 0; i < len(list); i++ {
		it := list[i]
		for i+2 < len(list) && it.cap && !it.mark && (it.value == nil || monthAlone(it.value)) && len(it.text) > 2 &&
			it.text != strings.ToUpper(it.text) &&
			list[i+1].sign(",") && regionCode(&list[i+2]) && !(i+3 < len(list) && (list[i+3].sign(",") || list[i+3].has(lexicon.Conjunction))) {
			span := Span{it.From, list[i+2].To}
			it = item{Span: span, text: r.source[span.From:span.To], fold: fold(r.source[span.From:span.To]), cap: true, first: it.first,
				words: []Word{{Span: span, Text: r.source[span.From:span.To]}}}
			i += 2
		}
		out = append(out, it)
	}
	return out
}

// monthAlone reports whether a value is the name of a month, which may be a part of another name:
// "Cape May".
func monthAlone(v *Value) bool {
	return v.Date != nil && v.Date.Month > 0 && v.Date.Day == 0 && v.Date.Year == 0
}

// regionCode reports whether an item is two capital letters.
func regionCode(it *item) bool {
	return len(it.text) == 2 && it.value == nil && strings.Trim(it.text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// pairOf is the item of a label and its value.
func (r *reader) pairOf(label, value []item) item {
	name := r.describe(label)
	name.Words = nil
	for i := range label {
		name.Words = append(name.Words, Word{Span: label[i].Span, Text: label[i].text, Lemma: r.lex.Lemma(label[i].text)})
	}
	name.Noun, name.Kind, name.State, name.NounSpan = "", "", nil, Span{}
	span := Span{value[0].From, value[len(value)-1].To}
	v := Value{Span: span, Text: r.source[span.From:span.To]}
	if len(value) == 1 && value[0].value != nil {
		v = *value[0].value
	}
	whole := Span{label[0].From, span.To}
	f := Field{Name: &name, Value: v, Span: whole}
	return item{Span: whole, text: r.source[whole.From:whole.To], fold: fold(v.Text), cap: true, value: &v, pair: &f}
}

// pairs takes the labels with values out of phrases.
func (d *deed) pairs(list []phrase) []phrase {
	keep := list[:0:0]
	for i := range list {
		if f := list[i].pair(); f != nil {
			d.colons = append(d.colons, *f)
			continue
		}
		keep = append(keep, list[i])
	}
	return keep
}

// pair returns the label with its value that a phrase is; nil where it is none.
func (p *phrase) pair() *Field {
	if len(p.core) != 1 {
		return nil
	}
	return p.core[0].pair
}
