package intent

import (
	"slices"

	"github.com/slipway-qa/slipway/worker/generation/lexicon"
)

// changed is the property of verbs that say that something is not as it was: "change", "rise".
// A claim has it as Unchanged with Not, and Op says whether it became more or less.
const changed Property = "changed"

// changes reads "rises to 12" as what it is then.
func (a *asserter) changes() {
	if a.property != changed {
		return
	}
	holds := func(p phrase) bool {
		return p.holdsValue() && (p.prep == nil || a.verb.Slot(p.prep.fold) != "by")
	}
	if a.amountBy() {
		return
	}
	if slices.ContainsFunc(a.values, holds) || slices.ContainsFunc(a.places, holds) {
		a.property = Is
		return
	}
	for i := range a.places {
		if p := &a.places[i]; p.holdsValue() { // "by 2"
			a.values = append(a.values, phrase{core: p.core})
			a.places = slices.Delete(a.places, i, i+1)
			return
		}
	}
}

// amountBy takes "by 2" out of a subject that stands before it, and reports whether it did: de "dass die Anzahl um 2 steigt".
func (a *asserter) amountBy() bool {
	for i := range a.subject {
		p := &a.subject[i]
		if n := len(p.mods); n > 0 && p.mods[n-1].holdsValue() && a.verb.Slot(p.mods[n-1].prep.fold) == "by" {
			a.values = append(a.values, phrase{core: p.mods[n-1].core})
			p.mods = p.mods[:n-1]
			return true
		}
	}
	return false
}

// shifts settles a claim whose verb says that something changed.
func (a *asserter) shifts(c *Claim) {
	if c.Property != changed {
		return
	}
	c.Property, c.Not = Unchanged, !c.Not
	switch a.verb.Attr("change") {
	case "more":
		c.Op = ">"
	case "less":
		c.Op = "<"
	}
}

// dropReflexive takes the pronoun of a reflexive verb out: it is no subject.
func dropReflexive(items []item, drop []bool) {
	for i := range items {
		if items[i].has(lexicon.Pronoun, "se") && items[i].value == nil {
			drop[i] = true
			return
		}
	}
}
