package intent

import (
	"github.com/slipway-qa/slipway/worker/generation/lexicon"
)

// forbids reads "do not V", "V-not" and "without V-ing".
func (r *reader) forbids(c *clause, s int) bool {
	if r.nothingBut(c, s) {
		return false
	}
	items := c.items
	i := s
	for i < len(items) && (items[i].has(lexicon.Auxiliary, "do") || items[i].has(lexicon.Pronoun) && r.lang != "en" && i > s) {
		i++
	}
	if i >= len(items) {
		return false
	}
	switch {
	case items[i].has(lexicon.Negation) && !items[i].proper(r.lang) && !(r.lang != "es" && r.lang != "fr" &&
		items[i].has(lexicon.Quantity, "none")):
		for i+1 < len(items) && (items[i+1].has(lexicon.Pronoun) || items[i+1].has(lexicon.Negation) ||
			items[i+1].mainly(lexicon.Stop)) && !r.deed(items, i+1) {
			i++
		}
		if r.deed(items, i+1) && r.finite(items, i+2) < 0 {
			c.kind, c.head, c.forbidden = goal, 0, true
			c.items = items[i+1:]
			return true
		}
	case items[i].has(lexicon.Preposition, "without", "instead") || items[i].has(lexicon.Conjunction, "without"):
		for j := i + 1; j < len(items); j++ {
			if items[j].has(lexicon.Auxiliary, "have") && j+1 < len(items) && r.deedForm(&items[j+1], "participle") {
				c.items = append([]item{items[j+1]}, items[j+2:]...)
				c.kind, c.head, c.forbidden = goal, 0, true
				return true
			}
			if r.deed(items, j) && (j == i+1 || j+1 == len(items) || r.lang == "fr") {
				c.items = append(append([]item{}, items[i+1:j]...), items[j:]...)
				c.kind, c.head, c.forbidden = goal, j-i-1, true
				return true
			}
		}
	}
	return false
}

// nothingBut reads "n'affiche que X" as "affiche only X", and reports whether it did.
func (r *reader) nothingBut(c *clause, s int) bool {
	if r.lang != "fr" || s+2 >= len(c.items) || !c.items[s].has(lexicon.Negation) || c.items[s].value != nil || !r.deed(c.items, s+1) {
		return false
	}
	for i := s + 2; i+1 < len(c.items) && !c.items[i].mark; i++ {
		it := c.items[i]
		if it.has(lexicon.Negation) && !it.has(lexicon.Conjunction) {
			return false
		}
		if !it.has(lexicon.Conjunction, "that") || r.finite(c.items[i+1:], 0) >= 0 {
			continue
		}
		it.entries = []lexicon.Entry{{Class: lexicon.Quantity, Lemma: it.fold, Name: "only"}}
		rest := append([]item{it}, c.items[i+1:]...)
		c.items = append(append(append([]item{}, c.items[:s]...), c.items[s+1:i]...), rest...)
		return true
	}
	return false
}
