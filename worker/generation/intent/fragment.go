package intent

import (
	"slices"
	"strings"
	"unicode"

	"github.com/slipway-qa/slipway/worker/generation/lexicon"
)

// fragment reads a clause without a verb that belongs to no other: a quotation that must be
// shown, "Total: 12 €", or a field of the form.
func (b *builder) fragment(c *clause) {
	list := joinMods(b.r.chunks(c.items, nil))
	if len(list) == 0 {
		return
	}
	if c.cond == "given" {
		b.givenThing(list)
		return
	}
	if len(list) == 1 && len(list[0].core) == 1 && list[0].core[0].quoted() && len(b.goals) > 0 {
		cl := Claim{Span: list[0].span(), Property: Shown, Subject: []Description{b.r.description(&list[0])}, Op: "="}
		b.add(Goal{Span: cl.Span, Effect: Check, Claim: &cl})
		return
	}
	if b.total(c, list) || b.newThing(c, list) {
		return
	}
	if slices.ContainsFunc(c.items, unwritten) {
		return // a sentence of a language that nobody here reads is no value: its words stay unread
	}
	g := Goal{Span: clauseSpan(c), Effect: Set}
	for i := 0; i < len(list); i++ {
		if i+1 < len(list) && list[i+1].sep == ":" {
			g.Fields = append(g.Fields, b.r.pair(&list[i], &list[i+1]))
			i++
			continue
		}
		g.Fields = append(g.Fields, b.r.field(&list[i]))
	}
	b.add(g)
}

// unwritten reports whether an item is a word in letters that no language of the lexicon is
// written in.
func unwritten(it item) bool {
	return !it.quoted() && strings.ContainsFunc(it.text, unicode.IsLetter) &&
		!strings.ContainsFunc(it.text, func(r rune) bool { return unicode.Is(unicode.Latin, r) })
}

// total reads "Total: 12 €" behind a goal: what must be shown then.
func (b *builder) total(c *clause, list []phrase) bool {
	if len(list) != 2 || list[1].sep != ":" || len(b.goals) == 0 {
		return false
	}
	d := b.r.description(&list[0])
	v := b.r.value(&list[1])
	if d.Kind != Total && d.Kind != Message && v.UnitClass != "money" {
		return false
	}
	b.add(Goal{Span: clauseSpan(c), Effect: Check, Claim: &Claim{Span: clauseSpan(c), Property: Is, Subject: []Description{d},
		Values: []Value{v}, Op: "="}})
	return true
}

// newThing reads "New task for Dana: clean the windows": something to add.
func (b *builder) newThing(c *clause, list []phrase) bool {
	d := b.r.description(&list[0])
	if list[0].prep != nil || len(d.State) == 0 || d.State[0].Span.From != list[0].core[0].From || !b.r.isNew(&list[0].core[0]) {
		return false
	}
	g := Goal{Span: clauseSpan(c), Effect: Add, Target: []Description{d}, Concept: "add"}
	g.Target[0].Having, g.Target[0].In = nil, nil
	for i := range list[0].mods {
		g.Fields = append(g.Fields, b.r.field(&list[0].mods[i]))
	}
	for i := 1; i < len(list); i++ {
		g.Fields = append(g.Fields, b.r.field(&list[i]))
	}
	b.add(g)
	b.adding = true
	return true
}

func (r *reader) isNew(it *item) bool {
	return it.has(lexicon.State, "new") || lexicon.Means(it.text, r.lang, "new")
}

// behindColon takes what stands behind the colon of a new thing as it is written.
func (b *builder) behindColon(c *clause) bool {
	if !b.adding || c.sep != ":" {
		return false
	}
	span := clauseSpan(c)
	g := &b.goals[len(b.goals)-1]
	g.Fields = append(g.Fields, Field{Value: Value{Span: span, Text: b.r.source[span.From:span.To]}, Span: span})
	return true
}
