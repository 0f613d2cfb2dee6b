package intent

import (
	"github.com/slipway-qa/slipway/worker/generation/lexicon"
)

// field reads a phrase that stands for a field: a label and a value ("phone 390", "subject
// Appointment", "the title "Dentist""), or a value alone ("Ole Berg", "12.40").
func (r *reader) field(p *phrase) Field {
	f := Field{Span: p.span()}
	if p.prep != nil {
		f.Prep = p.prep.fold
	}
	if r.quantityBound(p) != "" { // "at least 7 seats": the end of a range
		c := r.comparison(p)
		f.Name, f.Value, f.Prep = c.Measure, c.Value, map[string]string{">=": "from", "<=": "to"}[c.Op]
		return f
	}
	core := p.core
	for len(core) > 1 && (core[0].has(lexicon.Article) || core[0].has(lexicon.Possessive)) && !core[0].proper(r.lang) {
		core = core[1:]
	}
	if n := len(core); n > 1 && core[0].number && !core[0].cap && r.counted(core[1:]) { // "2 adults"
		name := r.describe(core[1:])
		name.Words = append(name.Words[:0:0], nounsToo(&name)...)
		f.Name, f.Value = &name, r.value(&phrase{core: core[:1], upto: p.upto})
		return f
	}
	if n := r.labelled(core, p); n > 0 {
		name := r.describe(core[:n])
		name.Words = append(name.Words[:0:0], nounsToo(&name)...)
		f.Name = &name
		f.Value = r.value(&phrase{core: core[n:], mods: p.mods, upto: p.upto})
		return f
	}
	f.Value = r.value(p)
	return f
}

// counted reports whether items are the noun that a number before them counts.
func (r *reader) counted(core []item) bool {
	if len(core) > 2 || !r.plainWords(core) {
		return false
	}
	for i := range core {
		if core[i].cap != (r.lang == "de") || core[i].has(lexicon.State) && len(core) == 1 {
			return false
		}
	}
	return true
}

// nounsToo returns the words of a label with the noun that was taken for a kind.
func nounsToo(d *Description) []Word {
	if len(d.Words) > 0 || d.Noun == "" {
		return d.Words
	}
	w := Word{Span: d.Span, Text: d.Noun}
	d.Noun, d.Kind = "", ""
	return []Word{w}
}

// labelled returns how many items before a value are its label; 0 where there is none.
func (r *reader) labelled(core []item, p *phrase) int {
	for i := 1; i < len(core); i++ {
		if core[i].quoted() {
			return i
		}
	}
	last := &core[max(0, len(core)-1)]
	if len(core) < 2 {
		return 0
	}
	if last.value != nil && r.plainWords(core[:len(core)-1]) {
		if !core[0].cap || r.lang == "de" && core[0].has(lexicon.Noun_) || len(core) == 2 && len(r.lex.Concepts(core[0].text)) > 0 {
			return len(core) - 1
		}
		return 0
	}
	if r.lang == "de" {
		if core[0].has(lexicon.Noun_) && core[1].cap || len(r.lex.Concepts(core[0].text)) > 0 && core[0].cap && core[1].cap {
			return 1
		}
		return 0
	}
	n := 0
	for n < len(core) && !core[n].cap && core[n].value == nil {
		n++
	}
	if n == 0 || n == len(core) || !r.plainWords(core[:n]) || !core[n].cap || adjective(&core[n-1]) {
		return 0
	}
	return n
}

// adjective reports whether a word tells how something is, and so begins a value itself.
func adjective(it *item) bool {
	return it.has(lexicon.State) && !it.has(lexicon.Noun_) || it.has(lexicon.Quantity) || it.has(lexicon.Measure)
}

// plainWords reports whether items are words and neither values nor function words.
func (r *reader) plainWords(core []item) bool {
	for i := range core {
		it := &core[i]
		if it.value != nil || it.mark || it.has(lexicon.Quantity) || it.has(lexicon.Pronoun) && !it.has(lexicon.Noun_) || it.fold == "'s" {
			return false
		}
	}
	return len(core) > 0
}

// half takes one half of a field; a second one of the same kind begins the next field.
func (d *deed) half(at **phrase, p *phrase) {
	if *at != nil {
		d.flush()
	}
	q := *p
	*at = &q
	if p.prep != nil {
		d.prep = p.prep.fold
	}
	if d.name != nil && d.value != nil {
		d.flush()
	}
}

// flush makes a field of the halves.
func (d *deed) flush() {
	if d.name == nil && d.value == nil {
		return
	}
	f := Field{Prep: d.prep}
	switch {
	case d.value == nil && d.g.Effect == Set:
		f = d.r.field(d.name)
		if f.Name == nil && d.name.prep == nil && !d.name.holdsValue() && len(d.g.Fields) == 0 &&
			(d.s.Attr("need") != "person" || !d.name.core[len(d.name.core)-1].cap) {
			d.g.Target = append(d.g.Target, d.r.description(d.name))
			d.name = nil
			return
		}
	case d.name != nil && d.value.quoted() && d.r.labelled(d.value.core, d.value) > 0 && d.g.To == nil && d.prep != "as":
		f = d.r.field(d.value)
		to := d.r.description(d.name)
		d.g.To = &to
	case d.name == nil:
		f = d.r.field(d.value)
		f.Prep = d.prep
	case d.value != nil && d.value.upto != nil && d.r.dateOf(d.value.upto) == nil:
		d.rangeOf()
		return
	default:
		name := d.r.description(d.name)
		f.Name = &name
		if d.value != nil {
			f.Value = d.r.value(d.value)
			f.Span = Span{min(name.Span.From, f.Value.Span.From), max(name.Span.To, f.Value.Span.To)}
		}
	}
	d.g.Fields = append(d.g.Fields, f)
	d.name, d.value, d.prep = nil, nil, ""
}

// rangeOf makes a filter of a field that is set to a range: "limit the price to 60 to 100".
func (d *deed) rangeOf() {
	name := d.r.description(d.name)
	c := d.r.comparison(d.value)
	c.Measure = &name
	d.g.Effect = Filter
	d.g.Target = append(d.g.Target, Description{Span: Span{min(name.Span.From, c.Span.From), max(name.Span.To, c.Span.To)},
		Compare: []Comparison{*c}})
	d.name, d.value, d.prep = nil, nil, ""
}
