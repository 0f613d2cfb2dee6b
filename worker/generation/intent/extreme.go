package intent

import (
	"github.com/slipway-qa/slipway/worker/generation/lexicon"
	"slices"
)

// measure reports whether core[i] picks by a measure here: a superlative, or a comparative
// behind an article ("the older one").
func (b *describer) measure(i int) bool {
	it := &b.core[i]
	for _, e := range b.core[i].entries {
		if e.Class != lexicon.Measure {
			continue
		}
		switch e.Attr("form") {
		case "superlative":
			if e.Attr("of") == "degree" && len(b.core) == 1 {
				continue
			}
			return true
		case "comparative":
			return b.det && !(e.Attr("of") == "degree" && (it.has(lexicon.Preposition) || i+1 == len(b.core)))
		}
	}
	return false
}

// measured takes the extreme at i with the noun of its measure.
func (b *describer) measured(i int) int {
	d, it := &b.d, &b.core[i]
	e := b.superlative(i)
	x := &Extreme{Span: it.Span, Measure: e.Name, Max: e.Attr("order") == "max"}
	if d.Ordinal > 0 {
		x.Rank, d.Ordinal = d.Ordinal, 0
	}
	d.Extreme = x
	if e.Attr("of") != "degree" {
		return 1
	}
	n := 1
	if i+1 < len(b.core) && b.core[i+1].value == nil && !b.core[i+1].mark {
		b.degreeNoun(i, &n, x)
	}
	return n
}

// degreeNoun takes the words behind a degree that are no kind of thing: "most useful votes",
// but of "the most used snippet" only "used".
func (b *describer) degreeNoun(i int, n *int, x *Extreme) {
	last := i + 1
	participle := b.verbForm(i+1, "participle", "past")
	for !participle && last+1 < len(b.core) && b.core[last+1].value == nil && !b.core[last+1].mark {
		last++
	}
	x.Noun = &Word{Span: Span{b.core[i+1].From, b.core[last].To}, Text: b.r.source[b.core[i+1].From:b.core[last].To]}
	x.Span.To = b.core[last].To
	*n = last - i + 1
}

func (b *describer) verbForm(i int, forms ...string) bool {
	for _, v := range b.core[i].verbs {
		if slices.Contains(forms, v.Form) {
			return true
		}
	}
	return false
}

// superlative returns the sense of core[i] to pick by: one that takes a noun where a noun
// that no kind of thing is follows.
func (b *describer) superlative(i int) *lexicon.Entry {
	it := &b.core[i]
	var best *lexicon.Entry
	for k := range it.entries {
		e := &it.entries[k]
		if e.Class != lexicon.Measure || e.Attr("form") == "positive" || e.Attr("form") == "direction" {
			continue
		}
		if best == nil || best.Attr("form") == "comparative" && e.Attr("form") == "superlative" {
			best = e
		}
		if e.Attr("of") == "degree" && i+1 < len(b.core) && b.measureNoun(i+1) && (best == nil || best == e) {
			return e
		}
	}
	return best
}

// measureNoun reports whether core[i] names something that is measured.
func (b *describer) measureNoun(i int) bool {
	it := &b.core[i]
	e := it.as(lexicon.Noun_)
	return e == nil || e.Attr("measure") != ""
}
