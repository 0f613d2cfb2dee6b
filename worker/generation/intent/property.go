package intent

import (
	"slices"

	"github.com/slipway-qa/slipway/worker/generation/lexicon"
)

// ordinal returns the position that a phrase says ("the first", "the last one", "the second
// row"), 0 where it says none or names something.
func (a *asserter) ordinal(p *phrase) int {
	n := 0
	for i := range p.core {
		it := &p.core[i]
		if o := it.as(lexicon.Ordinal); o != nil && !it.proper(a.r.lang) {
			n = int(o.Value)
			continue
		}
		if o := ordinalPlace(it); o != 0 && len(p.core) <= 2 {
			n = o
			continue
		}
		plain := it.has(lexicon.Article) || it.has(lexicon.Pronoun) || it.has(lexicon.Noun_, string(Row), string(Item)) ||
			it.has(lexicon.Possessive)
		if !plain {
			return 0
		}
	}
	return n
}

func ordinalValue(n int, span Span) Value {
	v := float64(n)
	return Value{Span: span, Text: plainNumber(v), Number: &v}
}

// seen turns states that a property of its own has into it: "is visible", "is gone", "is
// first", "stays as it is".
func (a *asserter) seen(c *Claim) {
	if len(c.Be) != 1 || len(c.Values) > 0 || c.Property == Order {
		return
	}
	if len(c.Subject) == 0 && len(a.nobody) > 0 {
		c.Subject = []Description{a.r.description(&a.nobody[0])}
	}
	be := c.Be[0]
	switch be.Name {
	case "visible", "left":
		c.Property = Shown
	case "hidden", "gone":
		c.Property, c.Not = Shown, !c.Not
	case "unchanged":
		c.Property = Unchanged
	case "changed":
		c.Property, c.Not = Unchanged, !c.Not
	case "increased":
		c.Property, c.Not, c.Op = Unchanged, !c.Not, ">"
	case "decreased":
		c.Property, c.Not, c.Op = Unchanged, !c.Not, "<"
	case "first":
		c.Property, c.Values = At, []Value{ordinalValue(1, be.Span)}
	case "last":
		c.Property, c.Values = At, []Value{ordinalValue(-1, be.Span)}
	default:
		return
	}
	if be.Not {
		c.Not = !c.Not
	}
	c.Words, c.Be = append(c.Words, be.Span), nil
	c.denies = false
}

// order takes "before X": two things in their order.
func (a *asserter) order(c *Claim, p *phrase, d Description) {
	first, second := c.Subject[0], d
	if p.leads("after") {
		first, second = second, first
	}
	c.Property, c.Subject = Order, nil
	for _, x := range []Description{first, second} {
		c.Values = append(c.Values, Value{Span: x.Span, Text: a.r.source[x.Span.From:x.Span.To], Quoted: x.Quoted})
	}
}

// sorted turns "the column Age is sorted in descending order" into Order.
func (a *asserter) sorted(c *Claim) {
	if len(c.Be) != 1 || c.Be[0].Name != "sorted" || len(c.Subject) != 1 {
		return
	}
	by := c.Subject[0]
	c.Words = append(c.Words, c.Be[0].Span)
	c.Property, c.By, c.Subject, c.Be, c.Where = Order, &by, nil, nil, nil
	for i := range a.places {
		if e := direction(&a.places[i]); e != nil {
			c.Descending = e.Attr("order") == "max"
		}
		c.Words = append(c.Words, a.places[i].span())
	}
}

// states returns the states that a phrase says, nil where it says something else too.
func (a *asserter) states(p *phrase) []State {
	var list []State
	for i := range p.core {
		it := &p.core[i]
		if it.value != nil || it.proper(a.r.lang) || it.mark {
			return nil
		}
		if e := it.as(lexicon.State); e == nil && len(p.core) == 1 && a.r.deedForm(it, "participle") && !it.cap {
			list = append(list, State{Span: it.Span, Text: it.text, Name: it.fold, Not: p.neg != nil})
			continue
		}
		if e := it.as(lexicon.State); e != nil && !(a.r.lang != "en" && i > 0 && it.has(lexicon.Noun_) &&
			p.core[0].has(lexicon.Article, "definite")) {
			list = append(list, State{Span: it.Span, Text: it.text, Name: e.Name, Not: p.neg != nil})
			continue
		}
		if !it.has(lexicon.Article) && !it.mainly(lexicon.Stop) && !it.has(lexicon.Quantity) {
			return nil
		}
	}
	return list
}

// counts turns claims about a number of things into Counts: "four members remain", "there are
// two rows", "two rows are selected".
func (a *asserter) counts(c *Claim) {
	if c.Property == Counts && len(c.Subject) != 1 {
		c.Property = Shown
	}
	if c.Property == Unchanged && a.remain(c) {
		c.Property = Counts
	}
	if len(c.Subject) != 1 || c.Property == At || c.Property == Order {
		return
	}
	if a.holdsCount(c) {
		return
	}
	s := &c.Subject[0]
	n := s.Count
	if n == 1 && (c.Property == Appears || c.Property == Shown && !a.there && slices.Contains(a.properties, Appears)) &&
		len(a.subject) == 1 && a.subject[0].core[0].has(lexicon.Article) {
		n, s.Count = 0, 0 // "debe salir un error"
	}
	switch {
	case n == 0 && s.Only && s.Pronoun:
		return
	case n == 0 && len(s.Words) == 1 && numberOf(s.Words[0].Text) > 0 && s.Noun == "" &&
		numberOf(s.Words[0].Text) == float64(int(numberOf(s.Words[0].Text))) && (c.Property == Counts || c.Property == Shown ||
		a.there || len(c.Be) > 0):
		n = int(numberOf(s.Words[0].Text))
		s.Words, s.Pronoun = nil, true
	case n == 0 && c.Property == Counts && len(c.Values) == 1 && c.Values[0].Number != nil:
		return
	case n == 0:
		if c.Property == Shown && len(c.Subject) > 0 && a.property == Counts && len(s.Words) == 1 && numberOf(s.Words[0].Text) > 0 {
			return
		}
		if c.Property == Counts {
			c.Property = Shown
		}
		if a.there && c.Property == Is {
			c.Property = Shown
		}
		return
	}
	if c.Property != Is && c.Property != Shown && c.Property != Counts && c.Property != Contains && c.Property != Appears {
		return
	}
	if c.Property == Is && len(c.Values) > 0 {
		return
	}
	s.State = append(s.State, c.Be...)
	s.Count, c.Be = 0, nil
	v := ordinalValue(n, s.Span)
	c.Property, c.Values = Counts, append([]Value{v}, c.Values...)
}

// holdsCount reads "Doing has 2 cards left" as the number of cards in Doing.
func (a *asserter) holdsCount(c *Claim) bool {
	if c.Property != Is && c.Property != Contains || len(a.values) != 1 || len(c.Values) != 1 || len(c.Be) > 0 ||
		c.Where != nil || c.Subject[0].Pronoun {
		return false
	}
	head, p := &a.c.items[a.c.head], &a.values[0]
	if !head.has(lexicon.Auxiliary, "have") && (a.verb == nil || a.verb.Property != string(Contains)) || len(p.core) < 2 ||
		!p.core[0].number || p.prep != nil {
		return false
	}
	things := a.r.description(p)
	if things.Count == 0 || things.Noun == "" || len(things.Words) > 1 {
		return false
	}
	v := ordinalValue(things.Count, p.core[0].Span)
	things.Count = 0
	where := c.Subject[0]
	things.State = slices.DeleteFunc(things.State, func(s State) bool {
		if s.Name == "left" {
			c.Words = append(c.Words, s.Span)
		}
		return s.Name == "left"
	})
	c.Property, c.Values, c.Subject, c.Where = Counts, []Value{v}, []Description{things}, &where
	return true
}

// remain reports whether a claim of staying is one of how many there are: "two cards stay in
// Open", but not "the other two stay".
func (a *asserter) remain(c *Claim) bool {
	if len(c.Subject) != 1 || c.Not {
		return false
	}
	s := &c.Subject[0]
	if s.Other || s.All || s.Both || s.Of != nil && s.Count > 0 {
		return false
	}
	return s.Count > 0 || len(c.Values) == 1 && c.Values[0].Number != nil && c.Values[0].Unit == ""
}

// positions turns "the first row is X" into At with X as its subject.
func (a *asserter) positions(c *Claim) {
	if c.Property != Is && c.Property != Shown || len(c.Subject) != 1 || len(a.subject) != 1 {
		return
	}
	n := a.ordinal(&a.subject[0])
	if n == 0 || len(c.Values) == 0 || len(c.Be) > 0 || c.Values[0].Date != nil || c.Values[0].Unit != "" {
		return
	}
	var list []Description
	for i := range c.Values {
		v := &c.Values[i]
		list = append(list, Description{Span: v.Span, Quoted: v.Quoted, Words: []Word{{Span: v.Span, Text: v.Text}}})
	}
	if c.Where == nil {
		c.Where = c.Subject[0].In
	}
	c.Property, c.Values, c.Subject = At, []Value{ordinalValue(n, c.Subject[0].Span)}, list
}

// asBefore settles words that say how it was before: "again", "not any more", "still".
func (a *asserter) asBefore(c *Claim) {
	if c.Property == Unchanged && c.Not && a.none && a.property == Unchanged {
		c.Property = Shown // fr "il ne reste aucune tâche"
	}
	if c.Property == Vanishes && c.Not {
		c.Property, c.Not = Shown, false
	}
	if c.Not && len(c.Subject) == 0 && len(c.Values) == 0 && (c.Property == Shown || c.Property == Counts) { // "nothing is left"
		c.Property, c.Not = Counts, false
		c.Subject, c.Values = []Description{{Span: c.Span, All: true, Pronoun: true}}, []Value{ordinalValue(0, c.Span)}
	}
}
