package intent

import (
	"github.com/slipway-qa/slipway/worker/generation/next/lexicon"
)

// describer builds the description of one noun phrase.
type describer struct {
	r    *reader
	core []item
	d    Description
	det  bool // an article or the like was seen
	// quote is where a quoted name stands, -1.
	quote int
}

// description returns what the phrase calls a thing.
func (r *reader) description(p *phrase) Description {
	if c := r.comparison(p); c != nil {
		d := Description{Span: p.span(), Compare: []Comparison{*c}}
		for i := range p.mods {
			r.modify(&d, &p.mods[i])
		}
		return d
	}
	d := r.describe(p.core)
	if p.upto != nil { // a range of dates
		s := p.span()
		d = Description{Words: []Word{{Span: s, Text: r.source[s.From:s.To]}}}
	}
	if p.raw {
		d = Description{Quoted: true}
		for i := range p.core {
			d.Words = append(d.Words, Word{Span: p.core[i].Span, Text: p.core[i].text})
		}
	}
	if len(p.rel) > 0 {
		r.relate(&d, p.rel)
	}
	for i := range p.mods {
		r.modify(&d, &p.mods[i])
	}
	for i := range p.also {
		d.Also = append(d.Also, r.description(&p.also[i]))
	}
	if d.Of != nil && hollow(&d) {
		d = *d.Of
	}
	d.Span = p.span()
	return d
}

// hollow reports whether a description says nothing but what it is of: "more of the tea".
func hollow(d *Description) bool {
	return len(d.Words) == 0 && d.Noun == "" && d.Extreme == nil && d.Ordinal == 0 && d.Count == 0 && len(d.State) == 0 && !d.Pronoun &&
		!d.All && !d.Both && !d.Other && !d.Next
}

// span is from the first to the last byte of all that belongs to the phrase.
func (p *phrase) span() Span {
	s := Span{-1, -1}
	grow := func(x Span) {
		if s.From < 0 || x.From < s.From {
			s.From = x.From
		}
		s.To = max(s.To, x.To)
	}
	for i := range p.core {
		grow(p.core[i].Span)
	}
	for i := range p.rel {
		grow(p.rel[i].Span)
	}
	for i := range p.mods {
		grow(p.mods[i].span())
	}
	for i := range p.also {
		grow(p.also[i].span())
	}
	if p.upto != nil {
		grow(p.upto.span())
	}
	return s
}

// describe reads the items of a noun phrase.
func (r *reader) describe(core []item) Description {
	if d, ok := r.owned(core); ok {
		return d
	}
	b := &describer{r: r, core: core, quote: -1}
	for i := range core {
		if core[i].quoted() {
			b.quote = i
			break
		}
	}
	for i := 0; i < len(core); {
		i += b.item(i)
	}
	return b.finish()
}

// owned reads "Sam Pryce's floor lamp": a lamp of somebody.
func (r *reader) owned(core []item) (Description, bool) {
	for i := len(core) - 1; i > 0; i-- {
		if core[i].fold != "'s" {
			continue
		}
		owner := r.describe(core[:i])
		d := Description{Pronoun: true, Span: core[i].Span}
		if i+1 < len(core) {
			d = r.describe(core[i+1:])
		}
		d.Of = &owner
		return d, true
	}
	return Description{}, false
}

// item reads core[i], and returns how many items it took.
func (b *describer) item(i int) int {
	it := &b.core[i]
	d := &b.d
	named := it.proper(b.r.lang)
	switch {
	case it.quoted():
		b.quoteAt(i)
	case it.value != nil:
		return b.valueAt(i)
	case it.has(lexicon.Article) && !named:
		b.det = true
	case it.has(lexicon.Preposition) && !named && i > 0 && i+1 == len(b.core) && len(it.verbs) == 0: // "the field below"
		d.Flags = append(d.Flags, it.Span)
	case it.has(lexicon.Question) && !named:
		if i+1 == len(b.core) {
			d.All, d.Pronoun = true, true
			d.Flags = append(d.Flags, it.Span)
		}
	case it.has(lexicon.Possessive) && !named:
		b.det = true
		b.possessive(it)
	case it.has(lexicon.Demonstrative) && !named:
		b.det = true
		if len(b.core) == 1 {
			d.Pronoun = true
		}
	case !named && b.graded(i):
		return 2
	case it.has(lexicon.Quantity) && !named && b.quantity(i):
	case it.has(lexicon.Ordinal) && !named:
		d.Ordinal = int(it.as(lexicon.Ordinal).Value)
		d.Flags = append(d.Flags, it.Span)
		b.det = true
	case it.has(lexicon.Measure) && !named && b.measure(i):
		return b.measured(i)
	case it.has(lexicon.Pronoun) && !named && (b.det || len(b.core) == 1 || b.hasAdjective(i) || it.has(lexicon.Pronoun, "one")):
		d.Pronoun = true
	case it.has(lexicon.Pronoun) && !named, it.has(lexicon.Polite) && !named && len(it.verbs) == 0, it.mainly(lexicon.Stop) && !named:
	case it.has(lexicon.State) && !named && b.state(i):
	case it.has(lexicon.Noun_) && b.noun(i):
	default:
		b.word(it)
	}
	return 1
}

// hasAdjective reports whether a word before core[i] tells more of it: "the blue one".
func (b *describer) hasAdjective(i int) bool {
	return len(b.d.Words) > 0 || len(b.d.State) > 0 || b.d.Extreme != nil || b.d.Other || b.d.Ordinal != 0
}

func (b *describer) word(it *item) {
	if it.mark {
		return
	}
	if it.words != nil && it.value != nil && (it.value.UnitClass == "money" || it.value.UnitClass == "percent") {
		b.d.Words = append(b.d.Words, Word{Span: it.Span, Text: it.text})
		return
	}
	if it.words != nil {
		for _, w := range it.words {
			if it.cap || !b.r.lex.Is(w.Text, lexicon.Article) {
				b.d.Words = append(b.d.Words, b.lemma(w))
			}
		}
		return
	}
	b.d.Words = append(b.d.Words, b.lemma(Word{Span: it.Span, Text: it.text}))
}

func (b *describer) lemma(w Word) Word {
	w.Lemma = b.r.lex.Lemma(w.Text)
	return w
}

// quoteAt takes a quotation as the name, and the words before it as the noun.
func (b *describer) quoteAt(i int) {
	d, it := &b.d, &b.core[i]
	if n := len(d.Words); n > 0 && !d.Quoted {
		from, to := d.Words[0].Span.From, d.Words[n-1].Span.To
		if d.Noun != "" {
			from, to = min(from, d.NounSpan.From), max(to, d.NounSpan.To)
		}
		d.Noun, d.NounSpan = b.r.source[from:to], Span{from, to}
		d.Words = nil
	}
	d.Words = append(d.Words, Word{Span: it.Span, Text: it.value.Text})
	d.Quoted = true
}

// valueAt takes a number, date or address: a number before a noun counts, one behind it or
// with a unit is part of what the thing is called.
func (b *describer) valueAt(i int) int {
	d, it := &b.d, &b.core[i]
	v := it.value
	counts := it.number && v.Number != nil && *v.Number < 1e6 && *v.Number == float64(int(*v.Number)) && *v.Number > 0 && *v.Number < 1000 && v.Date == nil
	if it.has(lexicon.Pronoun) && (b.det || b.hasAdjective(i)) && *v.Number == 1 {
		d.Pronoun = true
		d.Flags = append(d.Flags, it.Span)
		return 1
	}
	following := i+1 < len(b.core) && !b.core[i+1].number
	if counts && len(d.Words) == 0 && d.Noun == "" && (following || b.det && len(b.core) > 1 || d.Other || d.Ordinal != 0) && !it.proper(b.r.lang) {
		d.Count = int(*v.Number)
		d.Flags = append(d.Flags, it.Span)
		return 1
	}
	if counts && len(b.core) == 1 && it.has(lexicon.Number) && !it.proper(b.r.lang) {
		d.Count, d.Pronoun = int(*v.Number), true
		d.Flags = append(d.Flags, it.Span)
		return 1
	}
	b.word(it)
	return 1
}

// possessive keeps whose a thing is, where it is somebody that the text speaks of.
func (b *describer) possessive(it *item) {
	if e := it.as(lexicon.Possessive); e.Name == "my" || e.Name == "our" || e.Name == "your" || ownWords[it.fold] {
		return
	}
	b.d.Of = &Description{Span: it.Span, Pronoun: true, Words: nil}
}

// ownWords are possessives of who speaks or is spoken to: they say nothing about the page.
var ownWords = map[string]bool{
	"my": true, "our": true, "your": true, "mein": true, "meine": true, "meinen": true, "meiner": true, "unser": true, "unsere": true,
	"dein": true, "deine": true, "mi": true, "mis": true, "tu": true, "tus": true, "nuestro": true, "nuestra": true,
	"mon": true, "ma": true, "mes": true, "ton": true, "ta": true, "tes": true, "notre": true, "nos": true, "votre": true, "vos": true,
}

// quantity reads "all", "both", "only", "the other".
func (b *describer) quantity(i int) bool {
	d, it := &b.d, &b.core[i]
	last := i+1 == len(b.core)
	switch e := it.as(lexicon.Quantity); e.Name {
	case "all", "any", "each":
		d.All = true
	case "both":
		d.Both = true
	case "only":
		d.Only = true
	case "other":
		d.Other = true
		d.Pronoun = d.Pronoun || last && len(d.Words) == 0
	case "next":
		d.Next = true
	case "previous":
		b.word(it)
	case "last":
		d.Ordinal = -1
	case "more":
		if it.as(lexicon.Noun_) != nil && !last {
			b.word(it) // "the extra bed"
		}
	case "none", "some", "exactly", "again", "still", "too", "already", "about", "same", "less", "min", "max":
		if e.Name == "same" || e.Name == "different" || len(b.core) == 1 && (e.Name == "min" || e.Name == "max") {
			return false
		}
	default:
		return false
	}
	b.det = true
	d.Flags = append(d.Flags, it.Span)
	return true
}

// graded reads "más barata", "la moins chère": a degree and an adjective that is measured.
func (b *describer) graded(i int) bool {
	if i+1 >= len(b.core) || b.core[i+1].value != nil {
		return false
	}
	degree := b.core[i].as(lexicon.Measure)
	if degree == nil || degree.Attr("of") != "degree" {
		return false
	}
	for k := range b.core[i+1].entries {
		e := &b.core[i+1].entries[k]
		if e.Class == lexicon.Measure && e.Attr("form") == "positive" {
			most := degree.Attr("order") == "max"
			b.d.Extreme = &Extreme{Span: Span{b.core[i].From, b.core[i+1].To}, Measure: e.Name, Max: most == (e.Attr("order") == "max")}
			return true
		}
	}
	return false
}

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
		if contains(forms, v.Form) {
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
		if e.Attr("of") == "degree" && i+1 < len(b.core) && b.measureNoun(i+1) && (best == nil || best == e || b.measured_(i+1)) {
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

// measured_ reports whether core[i] is known to name a measure.
func (b *describer) measured_(i int) bool {
	e := b.core[i].as(lexicon.Noun_)
	return e != nil && e.Attr("measure") != ""
}

// state takes an adjective for a state, unless it is part of a name.
func (b *describer) state(i int) bool {
	it := &b.core[i]
	if b.r.lang != "en" && it.as(lexicon.Noun_) != nil && i+1 == len(b.core) && len(b.d.Words) == 0 && b.d.Noun == "" && it.as(lexicon.Noun_).Name != "thing" {
		return false // es "la lista": the noun, not "ready"
	}
	if i > 0 && i+1 == len(b.core) && !b.det && b.quote < 0 && len(b.d.Words) > 0 && it.cap {
		return false
	}
	if it.as(lexicon.Noun_) != nil && it.mainly(lexicon.Noun_) && i+1 == len(b.core) {
		return false
	}
	if it.cap && b.r.lang == "de" && !it.first && len(b.core) > 1 {
		return false
	}
	e := it.as(lexicon.State)
	b.d.State = append(b.d.State, State{Span: it.Span, Text: it.text, Name: e.Name})
	return true
}

// noun takes the noun of a kind: the last one of the phrase is the kind, others are words of
// its name. A noun of no kind is what the thing is called unless a name follows.
func (b *describer) noun(i int) bool {
	d, it := &b.d, &b.core[i]
	e := it.as(lexicon.Noun_)
	if it.proper(b.r.lang) && !b.alone(i) {
		return false
	}
	if b.laterNoun(i) || b.r.lang == "de" && !it.cap && e.Name == "thing" {
		return false
	}
	named := b.quote > i || b.nameFollows(i) || len(d.Words) > 0 || len(d.State) > 0 || d.Ordinal != 0 || d.Extreme != nil || d.All || d.Both || d.Other || d.Next
	if e.Name == "thing" && !named {
		return false
	}
	if e.Name == "thing" && !(b.quote > i || b.nameFollows(i)) && len(d.Words) > 0 {
		return false // "garden hose": the noun is the name's own
	}
	d.Noun, d.NounSpan = it.text, it.Span
	if e.Name != "thing" {
		d.Kind = Kind(e.Name)
	}
	return true
}

// alone reports whether the whole phrase is one word and its article.
func (b *describer) alone(i int) bool {
	return false
}

// laterNoun reports whether a noun of a kind follows that is rather the kind: "search button".
func (b *describer) laterNoun(i int) bool {
	for j := i + 1; j < len(b.core); j++ {
		it := &b.core[j]
		if it.quoted() {
			return false
		}
		if e := it.as(lexicon.Noun_); e != nil && !it.proper(b.r.lang) && e.Name != "thing" {
			return true
		}
	}
	return false
}

// nameFollows reports whether what follows core[i] is a name in apposition: "the page
// Onboarding", "room 302", "the tab New loan".
func (b *describer) nameFollows(i int) bool {
	if i+1 >= len(b.core) {
		return false
	}
	next := &b.core[i+1]
	return next.value != nil || next.cap && b.r.lang != "de" || b.r.lang == "de" && next.cap
}

// finish settles what was read.
func (b *describer) finish() Description {
	d := b.d
	if len(b.core) > 0 {
		d.Span = Span{b.core[0].From, b.core[len(b.core)-1].To}
	}
	if len(d.Words) == 0 && d.Noun == "" && b.det && d.Extreme == nil && len(d.State) == 0 {
		d.Pronoun = true
	}
	empty := len(d.Words) == 0 && d.Noun == "" && d.Extreme == nil && len(d.State) == 0
	if empty && (d.Ordinal != 0 || d.Count != 0 || d.Next || d.Both || d.Other) {
		d.Pronoun = true
	}
	return d
}

// relate reads a relative clause: "that sleeps four", "who rows", "that are overdue".
func (r *reader) relate(d *Description, rel []item) {
	var rest []item
	for i := range rel {
		it := &rel[i]
		if it.has(lexicon.Auxiliary) || it.has(lexicon.Relative) || it.has(lexicon.Polite) && len(it.verbs) == 0 {
			continue
		}
		rest = append(rest, *it)
	}
	for _, p := range r.chunks(rest, nil) {
		if p.prep != nil {
			r.modify(d, &p)
			continue
		}
		h := r.description(&p)
		if h.Kind != "" && len(h.Words) == 0 { // a verb that looks like a noun: "who rows"
			h.Words = []Word{{Span: h.NounSpan, Text: h.Noun, Lemma: r.lex.Lemma(h.Noun)}}
			h.Kind, h.Noun, h.NounSpan = "", "", Span{}
		}
		if h.Extreme != nil && d.Extreme == nil {
			d.Extreme, h.Extreme = h.Extreme, nil
		}
		d.State = append(d.State, negated(h.State, p.neg != nil)...)
		h.State = nil
		if len(h.Words) == 0 && h.Noun == "" && h.Of == nil && h.In == nil && len(h.Having) == 0 && len(h.Compare) == 0 {
			continue
		}
		if p.neg != nil {
			d.Lacking = append(d.Lacking, h)
		} else {
			d.Having = append(d.Having, h)
		}
	}
}

func negated(list []State, not bool) []State {
	for i := range list {
		list[i].Not = list[i].Not != not
	}
	return list
}

// modify attaches a prepositional phrase to what it stands behind.
func (r *reader) modify(d *Description, p *phrase) {
	if c := r.comparison(p); c != nil {
		d.Compare = append(d.Compare, *c)
		return
	}
	m := r.description(p)
	switch {
	case p.neg != nil && p.prep == nil || p.leads("except"):
		d.Except = append(d.Except, m)
	case p.leads("without", "lacking"):
		d.Lacking = append(d.Lacking, m)
	case p.leads("of", "property") || p.sense("of") && !p.leads("from", "in", "with", "by", "for", "to"):
		r.of(d, m)
	case p.leads("in", "on", "under", "among", "at", "into"):
		if d.In == nil {
			d.In = &m
		} else {
			d.Having = append(d.Having, m)
		}
	case p.leads("near", "below", "above", "before", "after"):
		d.Relation = append(d.Relation, Relation{Kind: p.senses[0], To: m})
	case p.leads("called"):
		d.Words, d.Quoted = append(d.Words, m.Words...), m.Quoted
		if d.Noun == "" && m.Noun != "" {
			d.Noun, d.NounSpan = m.Noun, m.NounSpan
		}
	default:
		d.Having = append(d.Having, m)
	}
}

// of attaches "of X": what an ordinal or number picks from, else whose property it is.
func (r *reader) of(d *Description, m Description) {
	if d.Of == nil {
		d.Of = &m
		return
	}
	d.Having = append(d.Having, m)
}
