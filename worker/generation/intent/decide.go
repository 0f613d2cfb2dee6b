package intent

import (
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/lexicon"
)

// decide makes claims of what was read: one, and further ones of members that are negated or
// said in the same breath.
func (a *asserter) decide() []Claim {
	a.changes()
	c := Claim{Span: clauseSpan(a.c), Property: a.property, Not: a.not, Only: a.only, Op: "=", Words: a.words}
	head := &a.c.items[a.c.head]
	c.denies = head.has(lexicon.Negation) && !a.found
	c.Plain = head.has(lexicon.Auxiliary, "be") && !a.c.that && a.c.cond == ""
	var extra []Claim
	a.subject, extra = a.contrasts(a.subject, c, extra)
	values, extra := a.contrasts(a.values, c, extra)
	c.Not = a.not
	values, more := a.elided(values, c)
	if (a.property == At || a.at != 0) && len(a.subject) > 1 {
		var places []Claim
		a.subject, places = a.elided(a.subject, c)
		more = append(more, places...)
	}
	values = a.joined(values)
	for _, p := range a.subject {
		c.Subject = append(c.Subject, a.r.description(&p))
	}
	if a.op != "" {
		c.Op = a.op
	}
	a.place(&c)
	a.complement(&c, values)
	a.among(&c)
	a.r.sum(&c)
	if a.at != 0 && len(c.Values) == 0 && len(c.Subject) > 0 && len(c.Be) == 0 && (c.Property == Is || c.Property == Shown ||
		c.Property == Appears) {
		c.Property = At
	}
	if a.side != "" && c.Where == nil {
		c.Where = &Description{Relation: []Relation{{Kind: a.side}}}
	}
	if c.Property == At && len(c.Values) == 0 && a.at != 0 {
		c.Values = []Value{ordinalValue(a.at, c.Span)}
	}
	a.shifts(&c)
	a.seen(&c)
	a.sorted(&c)
	a.counts(&c)
	a.positions(&c)
	a.asBefore(&c)
	for i := range extra {
		a.fill(&extra[i], c)
	}
	a.bare(&c)
	for i := range extra {
		if len(c.Values) == 0 {
			extra[i].Values = nil // what it says is what is seen: "I should see A, but not B"
		}
	}
	more = append(more, a.named(&c)...)
	for i := range a.remarks {
		s := a.remarks[i].span()
		d := Description{Span: s, Quoted: true, Words: []Word{{Span: s, Text: a.r.source[s.From:s.To]}}}
		more = append(more, Claim{Span: s, Property: Shown, Subject: []Description{d}, Op: "="})
	}
	return append(append([]Claim{c}, extra...), more...)
}

// bare settles claims that name nothing but what is seen: "on doit lire "2 selected"", and
// those whose subject is only meant: "it must stay in the list".
func (a *asserter) bare(c *Claim) {
	if len(c.Subject) > 0 {
		return
	}
	if len(c.Values) > 0 && len(c.Be) == 0 && (c.Property == Is || c.Property == Shown || c.Property == Appears || c.Property == Contains) {
		for i := range c.Values {
			v := &c.Values[i]
			c.Subject = append(c.Subject, Description{Span: v.Span, Quoted: v.Quoted, Words: []Word{{Span: v.Span, Text: v.Text}}})
		}
		c.Values = nil
		if c.Property == Is || c.Property == Contains {
			c.Property = Shown
		}
		return
	}
	if a.there || len(c.Be) > 0 || c.Where != nil {
		c.Subject = []Description{{Span: c.Span, Pronoun: true}}
		if a.there && c.Property == Is {
			c.Property = Shown
		}
	}
}

// named makes claims of the names behind a number: "there are two: 302 and 303".
func (a *asserter) named(c *Claim) []Claim {
	if c.Property != Counts || len(c.Values) < 2 {
		return nil
	}
	var list []Claim
	for _, v := range c.Values[1:] {
		d := Description{Span: v.Span, Quoted: v.Quoted, Words: []Word{{Span: v.Span, Text: v.Text}}}
		list = append(list, Claim{Span: v.Span, Property: Shown, Subject: []Description{d}, Where: c.Where, Op: "="})
	}
	c.Values = c.Values[:1]
	return list
}

// joined makes one value of what a colon only divides: "it shows Invited: Ahmed Khalil".
func (a *asserter) joined(list []phrase) []phrase {
	for i := 1; i < len(list); i++ {
		if list[i].sep == ":" && list[i-1].core[0].cap && !list[i-1].holdsValue() && a.property == Is {
			from, to := list[i-1].span().From, list[i].span().To
			v := &Value{Span: Span{from, to}, Text: a.r.source[from:to]}
			list[i-1].core = []item{{Span: v.Span, text: v.Text, fold: fold(v.Text), cap: true, value: v}}
			return append(append([]phrase{}, list[:i]...), list[i+1:]...)
		}
	}
	return list
}

// contrasts takes members with a negation of their own ("but not C") out of a list.
func (a *asserter) contrasts(list []phrase, c Claim, extra []Claim) ([]phrase, []Claim) {
	var keep []phrase
	for i := range list {
		p := list[i]
		first := i == 0 && (p.sep == "" || p.sep != "but" && len(a.subject) == 0)
		if p.neg == nil || first {
			if p.neg != nil {
				a.not = true
			}
			keep = append(keep, p)
			continue
		}
		p.neg = nil
		x := c
		x.Not = !c.Not
		x.Span = p.span()
		x.Subject = []Description{a.r.description(&p)}
		extra = append(extra, x)
	}
	return keep, extra
}

// elided takes what says the same of something else without the verb: "... is the first and
// Bo the last one".
func (a *asserter) elided(list []phrase, c Claim) ([]phrase, []Claim) {
	for i := 0; i < len(list); i++ {
		if x, ok := a.position(&phrase{core: list[i].rel}, c); ok { // de "..., der letzte Zoe" is no relative clause
			list = slices.Clone(list)
			list[i].rel = nil
			rest, more := a.elided(list, c)
			return rest, append([]Claim{x}, more...)
		}
		p, next := list[i], i+1
		for next < len(list) && list[next].sep == "" && list[next].prep == nil && list[next].neg == nil &&
			p.core[len(p.core)-1].cap { // "the last Tent 4 persons"
			p.core = append(slices.Clone(p.core), list[next].core...)
			next++
		}
		if x, ok := a.position(&p, c); ok && (list[i].sep == "and" || list[i].sep == ",") {
			rest, more := a.elided(append(append([]phrase{}, list[:i]...), list[next:]...), c)
			return rest, append([]Claim{x}, more...)
		}
		if i+1 == len(list) {
			break
		}
		if i == 0 || list[i].sep == "" || list[i+1].sep != "" || a.ordinal(&list[i+1]) == 0 {
			continue
		}
		x := Claim{Span: Span{list[i].span().From, list[i+1].span().To}, Property: At, Not: c.Not, Op: "=",
			Subject: []Description{a.r.description(&list[i])}, Values: []Value{ordinalValue(a.ordinal(&list[i+1]), list[i+1].span())}}
		rest, more := a.elided(append(append([]phrase{}, list[:i]...), list[i+2:]...), c)
		return rest, append([]Claim{x}, more...)
	}
	return list, nil
}

// sum takes the value out of "a total of 12 €": it is what the total must be.
func (r *reader) sum(c *Claim) {
	if len(c.Subject) != 1 || len(c.Values) > 0 || c.Property != Shown && c.Property != Is {
		return
	}
	s := &c.Subject[0]
	if s.Of == nil || s.Kind != Total && s.Kind != Value_ && s.Kind != Count || len(s.Of.Words) != 1 || s.Of.Noun != "" {
		return
	}
	w := s.Of.Words[0]
	digits := strings.Trim(w.Text, "$€£¥ ")
	n, ok := amount(digits)
	if !ok || digits == "" {
		return
	}
	v := Value{Span: w.Span, Text: w.Text, Number: &n}
	if digits != w.Text {
		v.UnitClass = "money"
	}
	c.Property, c.Values, s.Of = Is, []Value{v}, nil
}

// among reads "X is one of them" as what it says of the list: X is there.
func (a *asserter) among(c *Claim) {
	if c.Property != Is || len(c.Subject) != 1 || len(c.Values) != 1 || len(a.values) != 1 {
		return
	}
	if it := &a.values[0].core[0]; len(a.values[0].core) == 1 && it.has(lexicon.Number) && it.has(lexicon.Pronoun) &&
		!c.Subject[0].Pronoun && c.Subject[0].Kind == "" {
		c.Property, c.Words, c.Values = Shown, append(c.Words, a.values[0].span()), nil
	}
}

// position reads a name with its place in one phrase: "Pinsel second", "Bo at the bottom",
// "the second one Cordless drill".
func (a *asserter) position(p *phrase, c Claim) (Claim, bool) {
	x := Claim{Span: p.span(), Property: At, Not: c.Not, Op: "="}
	n := len(p.core)
	if n == 0 {
		return x, false
	}
	if o := a.ordinal(&phrase{core: p.core}); o != 0 && len(p.mods) == 1 && p.mods[0].leads("of") && strings.HasPrefix(p.core[0].fold, "als") {
		x.Subject, x.Values = []Description{a.r.describe(p.mods[0].core)}, []Value{ordinalValue(o, p.span())}
		return x, true // de "als Letztes der Hut"
	}
	for k := 1; k < n; k++ {
		first, second := phrase{core: p.core[:k]}, phrase{core: p.core[k:]}
		o := a.ordinal(&second)
		if o == 0 || a.ordinal(&first) != 0 {
			o, first = a.ordinal(&first), second
			if o == 0 || !second.core[0].cap && !second.core[0].quoted() {
				continue
			}
		}
		x.Subject, x.Values = []Description{a.r.describe(first.core)}, []Value{ordinalValue(o, p.span())}
		return x, true
	}
	if v := p.core[n-1].value; n > 1 && v != nil && (v.Number != nil || v.Quoted) && c.Property == Is &&
		a.r.plainWords(p.core[:n-1]) && !p.core[0].cap {
		x.Property = Is
		x.Subject, x.Values = []Description{a.r.describe(p.core[:n-1])}, []Value{a.r.value(&phrase{core: p.core[n-1:]})}
		return x, true
	}
	for i := range p.mods {
		if o := a.ordinal(&p.mods[i]); o != 0 {
			x.Subject, x.Values = []Description{a.r.describe(p.core)}, []Value{ordinalValue(o, p.mods[i].span())}
			return x, true
		}
	}
	return x, false
}

// fill gives a claim about another member what the first one claims.
func (a *asserter) fill(x *Claim, c Claim) {
	x.Property, x.Values, x.Be, x.Where = c.Property, c.Values, c.Be, c.Where
	if c.Property == Contains || c.Property == Is && len(c.Be) == 0 && len(c.Subject) > 0 && len(a.subject) > 0 {
		desc := x.Subject[0]
		x.Subject = c.Subject
		x.Values = []Value{{Span: desc.Span, Text: a.r.source[desc.Span.From:desc.Span.To]}}
	}
}

// place takes phrases of place.
func (a *asserter) place(c *Claim) {
	for i := range a.places {
		p := &a.places[i]
		if p.prep == nil {
			continue
		}
		if n := a.ordinal(p); n != 0 && (c.Property == Is || c.Property == Shown || c.Property == At) {
			c.Property, c.Values = At, []Value{ordinalValue(n, p.span())}
			continue
		}
		d := a.r.description(p)
		switch {
		case a.op != "" && len(c.Values) == 0:
			c.Values = append(c.Values, a.r.value(p))
		case p.leads("as") && c.Property == Is && len(a.values) > 0 && len(c.Subject) == 1 && c.Where == nil:
			where := c.Subject[0]
			c.Where, c.Subject = &where, []Description{d}
		case p.leads("on", "in") && p.quoted() && len(p.core) == 1 && c.Property != At && len(c.Subject) > 0 && a.r.lang == "de":
			c.Property = Is
			c.Values = append(c.Values, a.r.value(p))
		case !p.leads("in", "under", "near") && p.holdsValue() && (c.Property == Is || c.Property == In) && len(p.core) == 1 &&
			len(a.values) == 0:
			c.Values = append(c.Values, a.r.value(p))
		case p.leads("before", "after") && len(c.Subject) == 1 && (c.Property == Is || c.Property == Appears ||
			c.Property == Shown || c.Property == At):
			a.order(c, p, d)
		case p.leads("with", "to") && len(c.Subject) > 0:
			s := &c.Subject[len(c.Subject)-1]
			s.Having = append(s.Having, d)
		case p.leads("without") && len(c.Subject) > 0:
			s := &c.Subject[len(c.Subject)-1]
			s.Lacking = append(s.Lacking, d)
		case p.leads("as") && (c.Property == Shown || c.Property == Appears) && !c.Not && len(c.Subject) == 1 &&
			len(c.Values) == 0 && !c.Subject[0].Pronoun && len(c.Subject[0].Words) > 0:
			a.shownAs(c, p, d)
		case p.leads("as", "for") && c.Property != Is:
			c.Values = append(c.Values, a.r.value(p))
		case c.Where == nil:
			if p.leads("near", "below", "above", "before", "after", "under") && !p.leads("under") {
				d = Description{Span: d.Span, Relation: []Relation{{Kind: p.senses[0], To: d}}}
			}
			c.Where = &d
		default:
			c.Where.Having = append(c.Where.Having, d)
		}
	}
	if c.Where != nil && c.Property == Is && len(a.values) == 0 && len(c.Subject) > 0 {
		c.Property = In
	}
}

// complement takes what the subject is said to be, to show or to hold.
func (a *asserter) complement(c *Claim, list []phrase) {
	for i := range list {
		p := &list[i]
		if onlyArticle(p) {
			continue
		}
		if n := a.ordinal(p); n != 0 && len(c.Subject) > 0 && (c.Property == Is || c.Property == At || c.Property == Shown ||
			c.Property == Appears) {
			c.Property, c.Values = At, append(c.Values, ordinalValue(n, p.span()))
			continue
		}
		if be := a.states(p); be != nil {
			c.Be = append(c.Be, be...)
			continue
		}
		if cmp := a.r.comparison(p); cmp != nil {
			c.Op = cmp.Op
			c.Values = append(c.Values, cmp.Value)
			continue
		}
		if a.turned(c, list) || a.kept(c, list) {
			continue
		}
		v := a.r.value(p)
		c.Values = append(c.Values, v)
	}
	bare := len(c.Values) == 0 && len(c.Be) == 0 && len(a.places) == 0 && len(c.Subject) > 0
	if c.Property == Is && bare && !a.there {
		for _, other := range a.properties {
			if other != Is {
				c.Property = other
				break
			}
		}
	}
	if c.Property == Is && len(c.Values) > 1 {
		c.Property = Contains
	}
	if c.Property == Is && len(c.Subject) == 0 && c.Where == nil && len(c.Be) == 0 {
		return
	}
	if (c.Property == Shown || c.Property == Appears) && len(c.Values) > 0 && len(c.Subject) > 0 && c.Values[0].Quoted {
		c.Property = Is
	}
}

// turned reads a quoted text that is said to be a part of the page as what that part shows: ""Your money"
// is its title".
func (a *asserter) turned(c *Claim, list []phrase) bool {
	if c.Property != Is || len(list) != 1 || list[0].quoted() || len(c.Subject) != 1 || !c.Subject[0].Quoted || c.Subject[0].Kind != "" {
		return false
	}
	d, s := a.r.description(&list[0]), c.Subject[0]
	if d.Kind == "" || len(d.Words) > 0 {
		return false
	}
	c.Subject, c.Values = []Description{d}, []Value{{Span: s.Span, Text: s.Phrase(), Quoted: true}}
	return true
}

// shownAs reads "64 KB is shown as the size" as what the size is, and "Ann is shown as Admin" as what Ann is.
func (a *asserter) shownAs(c *Claim, p *phrase, d Description) {
	s := c.Subject[0]
	c.Property = Is
	switch be := a.states(p); {
	case s.Quoted || strings.ContainsAny(s.Words[0].Text[:1], "0123456789"):
		c.Subject, c.Values = []Description{d}, []Value{{Span: s.Span, Text: s.Phrase(), Quoted: s.Quoted}}
	case be != nil:
		c.Be = be
	default:
		c.Values = []Value{a.r.value(p)}
	}
}

// kept reads what something keeps as a property of it: "the phone keeps its session".
func (a *asserter) kept(c *Claim, list []phrase) bool {
	if c.Property != Unchanged || len(list) != 1 || len(c.Subject) != 1 || !list[0].core[0].has(lexicon.Possessive) {
		return false
	}
	d, of := a.r.description(&list[0]), c.Subject[0]
	if d.Of == nil || !d.Of.Pronoun {
		return false
	}
	d.Of, d.Span = &of, Span{min(of.Span.From, d.Span.From), max(of.Span.To, d.Span.To)}
	c.Subject = []Description{d}
	return true
}
