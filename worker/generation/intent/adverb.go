package intent

import (
	"slices"

	"github.com/slipway-qa/slipway/worker/generation/lexicon"
)

// spatial takes out adverbs of place ("back", "to the top") for verbs that have one.
func (d *deed) spatial(items []item) []item {
	out := items[:0:0]
	for i := range items {
		it := &items[i]
		if it.has(lexicon.Preposition, "of") && i > 0 && d.g.Effect == Move && d.g.Place != "" && items[i-1].has(lexicon.Place) &&
			len(d.s.Attrs("to")) > 0 {
			to := *it // "to the top of Doing"
			to.fold = d.s.Attrs("to")[0]
			to.entries = []lexicon.Entry{{Class: lexicon.Preposition, Name: "to", Names: []string{"to"}}}
			out = append(out, to)
			continue
		}
		if e := it.as(lexicon.Place); e != nil && it.value == nil && !it.proper(d.r.lang) &&
			(d.g.Effect == Move || d.g.Effect == Scroll || d.g.Effect == Navigate) && e.Name != "here" {
			d.g.Place = e.Name
			d.g.Words = append(d.g.Words, it.Span)
			continue
		}
		if d.g.Effect == Move && it.has(lexicon.State, "visible") && !it.cap && i+1 < len(items) &&
			items[i+1].has(lexicon.Preposition, "to", "into", "in") {
			d.g.Words = append(d.g.Words, it.Span) // "back to Done"
			continue
		}
		out = append(out, items[i])
	}
	return out
}

// often takes out how often something is done: "three times", "twice".
func (d *deed) often(items []item) []item {
	switch d.g.Effect {
	case Press, Act, Increase, Decrease, Type, Expand, Open, Page, Point:
	default:
		return items
	}
	out := items[:0:0]
	for i := 0; i < len(items); i++ {
		it := &items[i]
		if it.value == nil || it.value.Number == nil || *it.value.Number < 1 || *it.value.Number > mostTimes || it.proper(d.r.lang) {
			out = append(out, *it)
			continue
		}
		n := 0
		if e := it.as(lexicon.Number); e != nil && e.Attr("times") != "" {
			n = 1
		} else if i+1 < len(items) && !items[i+1].cap && d.r.timesWord(&items[i+1]) && !(i+2 < len(items) && items[i+2].content()) {
			n = 2
		}
		if n == 0 {
			out = append(out, *it)
			continue
		}
		d.g.Times = int(*it.value.Number)
		for _, w := range items[i : i+n] {
			d.g.Words = append(d.g.Words, w.Span)
		}
		i += n - 1
	}
	return out
}

// mostTimes is how often something is done at most.
const mostTimes = 50

// timesWord reports whether an item counts deeds: "times", "mal", "veces".
func (r *reader) timesWord(it *item) bool {
	e := it.as(lexicon.Unit)
	return e != nil && e.Attr("times") != ""
}

// adverbs takes out phrases that are an adverb of the deed: "descending", "twice", "only".
func (d *deed) adverbs(list []phrase) []phrase {
	out := list[:0:0]
	for i := range list {
		p := &list[i]
		if len(p.core) == 1 && p.prep == nil && p.core[0].value == nil && len(p.mods)+len(p.rel) == 0 &&
			(p.core[0].has(lexicon.Quantity, "only") || p.core[0].has(lexicon.Place, "here") && !p.core[0].has(lexicon.Pronoun, "in it")) {
			d.only = d.only || p.core[0].has(lexicon.Quantity, "only")
			d.g.Words = append(d.g.Words, p.span())
			continue
		}
		if d.onlyAdverbs(p) {
			d.g.Words = append(d.g.Words, p.span())
			if i+1 < len(list) && list[i+1].leads("of") && list[i+1].sep == "" { // "order more of X"
				list[i+1].prep, list[i+1].senses = nil, nil
			}
			continue
		}
		if d.g.Effect == Sort && d.order(p) {
			continue
		}
		if e := direction(p); e != nil && lists[d.g.Effect] {
			d.extra = append(d.extra, Goal{Span: p.span(), Effect: Sort, Verb: p.span(), Lemma: "sort", Descending: e.Attr("order") == "max",
				Measure: d.r.measureOf(p, e)})
			continue
		}
		if e := direction(p); e != nil {
			d.g.Descending = (e.Attr("order") == "max") != (p.neg != nil)
			if d.g.Effect == Sort && e.Attr("by") != "" && d.by == nil {
				d.by = d.r.measureOf(p, e)
			}
			d.g.Words = append(d.g.Words, d.directionSpans(p)...)
			if len(p.core) == 0 {
				continue
			}
		}
		out = append(out, *p)
	}
	return out
}

// lists are the effects that show a list: in which order is a goal of its own, "show the open ones,
// newest first".
var lists = map[Effect]bool{Filter: true, Open: true, Search: true, Page: true}

// ofAge reports whether what is sorted by is an age: its oldest has the most of it, and the least of a date.
func (r *reader) ofAge(m *Description) bool {
	if m.Extreme != nil {
		return m.Extreme.Measure == "age"
	}
	return slices.ContainsFunc(m.Words, func(w Word) bool { return lexicon.Means(w.Text, r.lang, "age") })
}

// measureOf is by what a phrase says to sort: "cheapest first" by the price.
func (r *reader) measureOf(p *phrase, e *lexicon.Entry) *Description {
	m := &Description{Span: p.span(), Words: r.words(p)}
	if by := e.Attr("by"); by != "" {
		m.Words, m.Extreme = nil, &Extreme{Span: orderSpan(p), Measure: by, Max: e.Attr("order") == "max"}
	}
	return m
}

// orderSpan is what of a phrase says the order: all of it, or its measure where it has other words as
// well, as "the best breakfast first".
func orderSpan(p *phrase) Span {
	measure, other := p.span(), false
	for i := range p.core {
		it := &p.core[i]
		if it.has(lexicon.Measure) {
			measure = it.Span
			continue
		}
		other = other || !it.has(lexicon.Article) && !it.has(lexicon.Preposition) && it.as(lexicon.Ordinal) == nil && ordinalPlace(it) == 0
	}
	if other {
		return measure
	}
	return p.span()
}

// words are the words of a phrase, without those of grammar.
func (r *reader) words(p *phrase) []Word {
	var list []Word
	for i := range p.core {
		if it := &p.core[i]; !it.has(lexicon.Article) {
			list = append(list, Word{Span: it.Span, Text: it.text})
		}
	}
	return list
}

// order reads "the shortest first" and "from the cheapest to the most expensive" as a
// direction of sorting.
func (d *deed) order(p *phrase) bool {
	var e *lexicon.Entry
	first := false
	for i := range p.core {
		it := &p.core[i]
		for k := range it.entries {
			m := &it.entries[k]
			if m.Class == lexicon.Measure && m.Attr("order") != "" && m.Attr("form") != "direction" && e == nil {
				e = m
			}
		}
		first = first || e != nil && (ordinalPlace(it) == 1 || it.as(lexicon.Ordinal) != nil && it.as(lexicon.Ordinal).Value == 1)
	}
	if bare := p.prep == nil && p.sep == "," && e != nil && len(d.r.describe(p.core).Words) == 0; bare {
		first = true
	}
	if e == nil || !first && !p.leads("from", "to", "of", "until") {
		return false
	}
	d.g.Words = append(d.g.Words, p.span())
	if first || !p.leads("to", "until") {
		d.g.Descending = e.Attr("order") == "max"
	}
	if d.g.Measure == nil && e.Attr("of") != "degree" {
		d.g.Measure = &Description{Span: p.span(), Extreme: &Extreme{Span: orderSpan(p), Measure: e.Name, Max: d.g.Descending}}
	}
	return true
}

// onlyAdverbs reports whether a phrase is "yet", "again" or the like and no thing.
func (d *deed) onlyAdverbs(p *phrase) bool {
	if p.prep != nil {
		return p.leads("instead") && len(p.core) > 0 && p.core[0].has(lexicon.Question)
	}
	for i := range p.core {
		if !p.core[i].has(lexicon.Quantity, "again", "still", "too", "already", "anymore", "more") ||
			p.core[i].has(lexicon.Quantity, "other") || len(p.core) > 1 {
			return false
		}
	}
	return len(p.core) > 0 && len(p.rel) == 0 && len(p.mods) == 0
}

// direction returns the sense of a phrase that says how to sort.
func direction(p *phrase) *lexicon.Entry {
	if len(p.core) == 0 {
		return nil
	}
	for i := range p.core {
		for k := range p.core[i].entries {
			e := &p.core[i].entries[k]
			if e.Class == lexicon.Measure && e.Attr("form") == "direction" {
				return e
			}
		}
	}
	return nil
}

// directionSpans takes the words of direction out of p.
func (d *deed) directionSpans(p *phrase) []Span {
	var spans []Span
	var keep []item
	for i := range p.core {
		it := p.core[i]
		if e := direction(&phrase{core: []item{it}}); e != nil {
			spans = append(spans, it.Span)
			continue
		}
		keep = append(keep, it)
	}
	p.core = keep
	return spans
}
