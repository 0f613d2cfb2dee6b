package intent

import (
	"slices"

	"github.com/slipway-qa/slipway/worker/generation/lexicon"
)

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

// relate reads a relative clause: "that sleeps four", "who rows", "that are overdue".
func (r *reader) relate(d *Description, rel []item) {
	var rest []item
	for i := range rel {
		it := &rel[i]
		if it.has(lexicon.Auxiliary) || it.has(lexicon.Relative) || it.has(lexicon.Polite) && len(it.verbs) == 0 {
			continue
		}
		if it.has(lexicon.Stop, "belong") { // "die Ben gehört": it has Ben
			continue
		}
		if it.has(lexicon.Quantity, "already", "still") && !it.cap && it.value == nil {
			d.Flags = append(d.Flags, it.Span)
			continue
		}
		rest = append(rest, *it)
	}
	if r.says(d, rest) {
		return
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

// says takes what a thing says for its name: "the button that says Cancel".
func (r *reader) says(d *Description, rel []item) bool {
	if len(rel) < 2 || len(d.Words) > 0 || d.Kind == "" {
		return false
	}
	verb, rest := rel[0], rel[1:]
	if r.lang == "de" {
		verb, rest = rel[len(rel)-1], rel[:len(rel)-1]
	}
	if !slices.ContainsFunc(verb.verbs, func(v lexicon.VerbForm) bool { return v.Attr("says") != "" }) {
		return false
	}
	list := r.chunks(rest, nil)
	if len(list) != 1 || list[0].prep != nil || list[0].neg != nil {
		return false
	}
	m := r.description(&list[0])
	if len(m.Words) == 0 {
		return false
	}
	d.Words, d.Quoted = m.Words, m.Quoted
	d.Flags = append(d.Flags, verb.Span)
	return true
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
		if p.neg != nil {
			if c.Op = opposite[c.Op]; c.Op == "" {
				r.lost = append(r.lost, p.neg.Span)
			}
		}
		d.Compare = append(d.Compare, *c)
		return
	}
	m := r.description(p)
	switch {
	case p.neg != nil && p.prep != nil && !p.leads("except", "without", "lacking"):
		d.Lacking = append(d.Lacking, m)
	case p.neg != nil && p.prep == nil || p.leads("except"):
		d.Except = append(d.Except, m)
	case p.leads("without", "lacking"):
		d.Lacking = append(d.Lacking, m)
	case p.leads("of", "property") || p.sense("of") && !p.leads("from", "in", "with", "by", "for", "to"):
		r.of(d, m)
	case p.leads("in", "on", "under", "among", "at", "into"):
		if r.trait(p) {
			d.Having = append(d.Having, m)
		} else if d.In == nil {
			d.In = &m
		} else {
			d.Having = append(d.Having, m)
		}
	case p.leads("near", "below", "above", "before", "after"):
		d.Relation = append(d.Relation, Relation{Kind: p.senses[0], To: m})
	case p.leads("called"):
		if d.Noun == "" && m.Noun == "" {
			d.before = len(d.Words)
		}
		d.Words, d.Quoted = append(d.Words, m.Words...), m.Quoted && len(d.Words) == 0
		if d.Noun == "" && m.Noun != "" {
			d.Noun, d.NounSpan = m.Noun, m.NounSpan
		}
	default:
		d.Having = append(d.Having, m)
	}
}

// trait reports whether a phrase says what a thing is like and not where it is: "in size M", "en
// taille M": a noun without an article before the value that it has.
func (r *reader) trait(p *phrase) bool {
	return len(p.core) == 2 && p.leads("in") && !p.core[1].mark &&
		lexicon.Means(p.core[0].text, r.lang, "size", "color", "colour", "material", "style")
}

// of attaches "of X": what an ordinal or number picks from, else whose property it is.
func (r *reader) of(d *Description, m Description) {
	if m.Kind == PageKind && m.Ordinal != 0 && len(m.Words) == 0 && d.In == nil { // "the rows of the first page"
		d.In = &m
		return
	}
	if d.Of == nil {
		d.Of = &m
		return
	}
	d.Having = append(d.Having, m)
}

// opposite are the bounds that "not" turns others into.
var opposite = map[string]string{"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
