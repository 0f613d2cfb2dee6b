package intent

import (
	"github.com/slipway-qa/slipway/worker/generation/lexicon"
)

// tells reports whether a claim at the beginning only says what is to be done with what, as
// in "The dog is walked, please tick it.".
func (b *builder) tells(list []clause, i int) bool {
	c := &list[i]
	if len(b.goals) > 0 || c.that || c.cond != "" || c.items[c.head].has(lexicon.Auxiliary, "must") {
		return false
	}
	if c.question {
		return true
	}
	if i+1 >= len(list) || list[i+1].kind != goal {
		return false
	}
	next := &list[i+1]
	if b.r.namesNothing(next) && c.items[c.head].has(lexicon.Auxiliary, "be", "have") {
		return true
	}
	for k := next.head + 1; k < len(next.items); k++ {
		if next.items[k].has(lexicon.Pronoun) && next.items[k].value == nil {
			return true
		}
	}
	return false
}

// namesNothing reports whether a deed is said of nothing: "bitte als erledigt markieren", "please tick".
func (r *reader) namesNothing(c *clause) bool {
	if c.forbidden || c.cond != "" || r.asks(&c.items[c.head]) {
		return false
	}
	for i := range c.items {
		if it := &c.items[i]; i != c.head && (it.value != nil || it.content() && !it.has(lexicon.State)) {
			return false
		}
	}
	for _, v := range c.items[c.head].verbs {
		switch Effect(v.Effect) {
		case Complete, Reopen, Remove, Close, Toggle, Open, Select:
			return true
		}
	}
	return false
}

// statement keeps what a clause tells, for the goal that follows.
func (b *builder) statement(c *clause) {
	if b.needed(c) {
		return
	}
	subject := firstNoun(joinMods(b.r.chunks(c.items[:c.head], nil)))
	if pre := c.items[:c.head]; len(pre) > 1 && pre[0].cap && b.r.imperative(pre, 0) && !pre[0].has(lexicon.Noun_) {
		subject = &phrase{core: pre, raw: true}
	}
	rest := joinMods(b.r.chunks(b.behindVerb(c), nil))
	object := firstNoun(rest)
	if object != nil && (b.r.dateOf(object) != nil || len(object.core) > 0 && object.core[0].has(lexicon.Day)) {
		object = nil
	}
	if subject == nil && object == nil {
		return
	}
	var d Description
	switch {
	case object == nil || subject != nil && onlyState(b.r.description(object)):
		d = b.r.description(subject)
		for i := range rest {
			h := b.r.description(&rest[i])
			if rest[i].prep != nil {
				d.Having = append(d.Having, h)
			}
			if onlyState(h) && rest[i].prep == nil && c.kind == statement && !c.items[c.head].has(lexicon.Auxiliary, "be") {
				d.State = append(d.State, h.State...)
			}
		}
	case subject != nil && picks(b.r.description(object)):
		d = b.r.description(subject)
		d.Extreme = b.r.description(object).Extreme
	case subject == nil:
		d = b.r.description(object)
	default:
		d = b.r.description(object)
		s := b.r.description(subject)
		d.Of = &s
	}
	for i := c.head + 1; i < len(c.items) && c.items[c.head].has(lexicon.Auxiliary, "be") && !c.question; i++ {
		it := &c.items[i] // "das Bad ist geputzt" tells which
		if b.r.deedForm(it, "participle") && !it.cap && it.value == nil && it.as(lexicon.State) == nil && !d.Quoted {
			d.Words = append(d.Words, Word{Span: it.Span, Text: it.text, Lemma: b.r.lex.Lemma(it.text)})
		}
	}
	d.Span = clauseSpan(c)
	b.told, b.asked = &d, c.question
	if c.cond == "if" || c.cond == "when" {
		b.cond = &Claim{Span: clauseSpan(c), Property: Shown, Subject: []Description{d}, Op: "="}
	}
	for i := range c.items {
		if i >= c.head && len(c.items[i].verbs) > 0 {
			b.words = append(b.words, c.items[i].Span)
		}
	}
}

// onlyState reports whether a description says how something is and not what it is.
func onlyState(d Description) bool {
	return len(d.State) > 0 && len(d.Words) == 0 && d.Noun == "" && d.Extreme == nil
}

// picks reports whether a description is a superlative and no more: "the longest".
func picks(d Description) bool { return d.Extreme != nil && len(d.Words) == 0 && d.Noun == "" }

// needed reads "she needs no drinks" as a field of the form before it, "we still need X" as
// something to leave, and other wishes as something to set.
func (b *builder) needed(c *clause) bool {
	if !c.items[c.head].has(lexicon.Auxiliary, "want") {
		return false
	}
	var things []phrase
	for _, p := range b.r.chunks(append(append([]item{}, c.items[:c.head]...), c.items[c.head+1:]...), nil) {
		if p.prep == nil && len(p.core) > 0 && !p.core[0].has(lexicon.Pronoun) {
			things = append(things, p)
		}
	}
	not, still := false, false
	for i := range c.items {
		not = not || c.items[i].has(lexicon.Negation) && !c.items[i].has(lexicon.Quantity, "still")
		still = still || c.items[i].has(lexicon.Quantity, "still")
	}
	if len(things) == 0 {
		return false
	}
	d := b.r.description(&things[len(things)-1])
	n := len(b.goals)
	switch {
	case still:
		b.add(Goal{Span: clauseSpan(c), Effect: Check, Claim: &Claim{Span: clauseSpan(c), Property: Unchanged, Subject: []Description{d}}})
	case not && n > 0:
		b.goals[n-1].Fields = append(b.goals[n-1].Fields, Field{Name: &d, Off: true, Span: d.Span})
	case len(things) > 1:
		s := b.r.description(&things[0])
		f := b.r.field(&things[1])
		b.add(Goal{Span: clauseSpan(c), Effect: Set, Target: []Description{s}, Fields: []Field{f}})
	default:
		b.add(Goal{Span: clauseSpan(c), Effect: Set, Fields: []Field{b.r.field(&things[0])}})
	}
	return true
}

// behindVerb returns what stands behind the finite verb, without the participle.
func (b *builder) behindVerb(c *clause) []item {
	var list []item
	for i := c.head + 1; i < len(c.items); i++ {
		if !b.r.deedForm(&c.items[i], "participle", "infinitive", "imperative") || c.items[i].cap {
			list = append(list, c.items[i])
		}
	}
	return list
}

func firstNoun(list []phrase) *phrase {
	for i := range list {
		if list[i].prep == nil {
			return &list[i]
		}
	}
	return nil
}

// deedBefore reports whether the clause c made the last goal, and no check of it.
func (b *builder) deedBefore(c *clause) bool {
	n := len(b.goals)
	return !b.r.asks(&c.items[c.head]) || n > 0 && b.goals[n-1].Verb == c.items[c.head].Span
}

// content takes "that ..." behind a deed for what it is done to: "tick that it is the first
// visit".
func (b *builder) content(c *clause) bool {
	n := len(b.goals)
	if !c.that || n == 0 || c.sep == ";" {
		return false
	}
	g := &b.goals[n-1]
	switch g.Effect {
	case Complete, Toggle, Set, Choose, Select, Press, Confirm:
	default:
		return false
	}
	if len(g.Target)+len(g.Fields) > 0 {
		return false
	}
	d := Description{Span: clauseSpan(c)}
	for i := range c.items {
		if it := &c.items[i]; it.content() && !it.has(lexicon.Auxiliary) {
			d.Words = append(d.Words, Word{Span: it.Span, Text: it.text, Lemma: b.r.lex.Lemma(it.text)})
		}
	}
	g.Target = []Description{d}
	for i := range b.r.other {
		if o := &b.r.other[i]; o.goal == n-1 && len(o.goals[0].Target)+len(o.goals[0].Fields) == 0 {
			o.goals[0].Target = g.Target
		}
	}
	return true
}

// givenThing reads "given the Accepted tab": what can be opened is, another thing is what the
// text goes on to speak of.
func (b *builder) givenThing(list []phrase) {
	p := firstNoun(list)
	if p == nil {
		return
	}
	d := b.r.description(p)
	switch d.Kind {
	case Tab, PageKind, Dialog, Menu, Section:
		b.add(Goal{Span: d.Span, Effect: Open, Target: []Description{d}})
	default:
		b.told, b.thing = &d, true
	}
}
