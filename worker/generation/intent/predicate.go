package intent

import (
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/lexicon"
)

// classify finds the verb of a piece, and what the piece is by it.
func (r *reader) classify(c *clause) {
	s := r.skip(c.items, 0)
	if s >= len(c.items) {
		return
	}
	if r.unwished(c) || r.forbids(c, s) {
		return
	}
	if c.items[s].has(lexicon.Preposition) && s+1 < len(c.items) && r.deedForm(&c.items[s+1], "gerund") && !c.items[s+1].has(lexicon.Noun_) {
		c.kind, c.head = goal, s+1 // fr "en confirmant", en "by confirming"
		c.items = append(append([]item{}, c.items[:s]...), c.items[s+1:]...)
		c.head = s
		return
	}
	if r.lang == "es" || r.lang == "fr" {
		for i := s; i < len(c.items); i++ {
			if c.items[i].has(lexicon.Auxiliary, "want") && !c.items[i].mark && r.chain(c, i) {
				return
			}
		}
	}
	if r.bids(c, s) || r.afterwards(c, s) {
		return
	}
	if c.items[s].has(lexicon.Auxiliary, "try", "start") && r.chain(c, s) || r.story(c, s) || r.speaks(c, s) {
		return
	}
	fin := r.finite(c.items, s)
	if fin >= 0 && r.weak(c.items, fin) && (r.imperative(c.items, s) || r.lang == "de" && r.laterVerb(c.items, s) == len(c.items)-1) {
		fin = -1
	}
	if fin >= 0 && r.weak(c.items, fin) {
		fin = r.auxiliaryBehind(c.items, fin)
	}
	if fin > s+1 && !c.that && r.names(c.items, s) {
		fin = -1
	}
	r.instrumental(c, s)
	if r.imperative(c.items, s) && !r.label(c.items, s) {
		if c.that || r.labels(c, s) {
			// what must hold is no deed, and "phone 390" in a list is a field
		} else if fin < 0 || fin == s && !r.claims(&c.items[s]) || r.asks(&c.items[s]) {
			if s > 0 && !r.leadsDeed(c.items[:s]) {
				c.told = append(c.told, Span{c.items[0].From, c.items[s-1].To})
				c.items, s = c.items[s:], 0
			}
			c.kind, c.head = goal, s
			r.purpose(c)
			r.attempt(c)
			return
		}
	}
	if c.that && fin < 0 {
		for i := s; i < len(c.items); i++ {
			if r.hasEffect(&c.items[i], Check) && r.deedForm(&c.items[i], "third") && !c.items[i].has(lexicon.Noun_) {
				fin = i // es "que sale la última"
				break
			}
		}
	}
	if r.lang == "en" && fin >= 0 && c.items[s].has(lexicon.Preposition) && !c.items[s].has(lexicon.Conjunction) && !c.that {
		if h := r.laterVerb(c.items[:fin], s); h >= 0 {
			c.kind, c.head = goal, h // "On the Privacy tab set Who can see it to ..."
			return
		}
	}
	if fin >= 0 {
		c.kind, c.head = claim, fin
		if !c.that && !r.claimVerb(c.items, fin) {
			c.kind = statement
		}
		return
	}
	if h := r.laterVerb(c.items, s); h >= 0 {
		c.kind, c.head = goal, h
		r.attempt(c)
		return
	}
	if r.unknownVerb(c.items, s) {
		c.kind, c.head = goal, s
		return
	}
	last := len(c.items) - 1
	seen := c.items[last].has(lexicon.State, "visible", "hidden", "gone") && last > s && !r.behindPreposition(c.items, last)
	if seen && !c.items[last-1].has(lexicon.Negation) && !c.items[last].cap {
		c.kind, c.head = claim, last // "Manchego y Queso fresco a la vista"
	}
}

// auxiliaryBehind returns where "is" or "must" stands behind a word that only looks like a verb:
// "Buy stamps is gone"; i without one.
func (r *reader) auxiliaryBehind(items []item, i int) int {
	for j := i + 1; j < len(items) && !items[j].mark && !items[j].has(lexicon.Relative) && !items[j].has(lexicon.Conjunction); j++ {
		if items[j].has(lexicon.Auxiliary, "be", "must") && r.finiteAt(items, j, 0) {
			return j
		}
	}
	return i
}

// names reports whether the verb at s is followed by the name of what is pressed or ticked, which
// may be a sentence of its own: "click This was helpful", "check I have read the rules".
func (r *reader) names(items []item, s int) bool {
	if !r.imperative(items, s) {
		return false
	}
	next := &items[s+1]
	if r.hasEffect(&items[s], Press) && !items[s].has(lexicon.Noun_) {
		return next.proper(r.lang)
	}
	return r.lang == "en" && r.hasEffect(&items[s], Complete) && next.is("i") && next.cap
}

// purpose takes off what a press is for: "click the star to mark it as important".
func (r *reader) purpose(c *clause) {
	if r.lang == "de" || !r.hasEffect(&c.items[c.head], Press) {
		return
	}
	for i := c.head + 2; i+1 < len(c.items); i++ {
		next := &c.items[i+1]
		if !c.items[i].has(lexicon.Preposition, "to", "for") || c.items[i].cap || next.cap || next.value != nil ||
			!r.deedForm(next, "infinitive") || next.has(lexicon.Noun_) {
			continue
		}
		c.told = append(c.told, Span{c.items[i].From, c.items[len(c.items)-1].To})
		c.items = c.items[:i]
		return
	}
}

// instrumental reads "use the slider to select 42" as "select 42 with the slider".
func (r *reader) instrumental(c *clause, s int) {
	with := map[string]string{"en": "with", "es": "con", "fr": "avec"}[r.lang]
	if with == "" || !r.imperative(c.items, s) || r.hasEffect(&c.items[s], Check) || !r.hasEffect(&c.items[s], Press) ||
		!r.hasEffect(&c.items[s], Choose) {
		return
	}
	for i := s + 2; i+1 < len(c.items) && !c.items[i].mark; i++ {
		if !c.items[i].has(lexicon.Preposition, "to", "for") || !r.deedForm(&c.items[i+1], "infinitive") ||
			c.items[i+1].value != nil || c.items[i+1].cap {
			continue
		}
		c.told = append(c.told, c.items[s].Span)
		by := item{Span: c.items[s].Span, text: with, fold: with, entries: r.lex.Entries(with)}
		items := append(append([]item{}, c.items[:s]...), c.items[i+1:]...)
		c.items = append(append(items, by), c.items[s+1:i]...)
		return
	}
}

// leadsDeed reports whether words before a verb say something of the deed: "only", "no".
func (r *reader) leadsDeed(items []item) bool {
	for i := range items {
		if items[i].has(lexicon.Negation) || items[i].has(lexicon.Quantity, "only") || items[i].has(lexicon.Pronoun) {
			return true
		}
	}
	return false
}

// labels reports whether a word of a list that may be a verb names the value behind it: "phone
// 390" in "Edit Ben: phone 390, team Sales".
func (r *reader) labels(c *clause, s int) bool {
	return (c.sep == ":" || c.sep == ",") && s+2 == len(c.items) && !c.items[s].cap && len(r.lex.Concepts(c.items[s].text)) > 0 &&
		c.items[s+1].value != nil && !c.items[s+1].quoted() && c.items[s].has(lexicon.Noun_)
}

// unknownVerb reports whether a sentence begins with a word that the lexicon does not have
// and that what it is done to follows: "Water the garden".
func (r *reader) unknownVerb(items []item, s int) bool {
	it := &items[s]
	if it.value != nil || it.mark || len(it.entries) > 0 || s+1 >= len(items) || it.first != it.cap {
		return false
	}
	next := &items[s+1]
	return next.has(lexicon.Article) || next.has(lexicon.Possessive)
}

// skip passes over polite words and adverbs before the verb: "please", "then", "also".
func (r *reader) skip(items []item, i int) int {
	for i < len(items) && !items[i].proper(r.lang) {
		it := &items[i]
		filler := it.has(lexicon.Polite) || it.mainly(lexicon.Stop) || it.has(lexicon.Conjunction, "then", "and") ||
			it.has(lexicon.Quantity, "too", "again", "already", "still", "only") && !it.has(lexicon.Article) ||
			it.has(lexicon.Ordinal) && len(it.verbs) == 0 && r.imperative(items, i+1) ||
			it.mark && !it.sign("(")
		if !filler || it.value != nil || r.imperative(items, i) && !it.has(lexicon.Polite) {
			break
		}
		i++
	}
	return i
}

// imperative reports whether items[i] may be a verb that says what to do.
func (r *reader) imperative(items []item, i int) bool {
	if i >= len(items) {
		return false
	}
	it := &items[i]
	if it.value != nil && !it.number || it.mark || it.name() && r.lang != "de" || it.proper(r.lang) || it.has(lexicon.Article) ||
		it.has(lexicon.Auxiliary, "be", "must", "will", "can") && !it.has(lexicon.Auxiliary, "let") {
		goes := r.lang != "en" && it.has(lexicon.Auxiliary, "will") && i+1 < len(items) &&
			items[i+1].has(lexicon.Preposition) // fr "va à la page 3"
		return goes && len(it.verbs) > 0
	}
	for k := range it.verbs {
		v := &it.verbs[k]
		holds := v.Effect == string(Check) && v.Property != "" && v.Property != string(Unchanged) && v.Attr("says") == ""
		if !holds && (v.Form == "imperative" || v.Form == "infinitive") && r.whole(items, i, v) {
			return true
		}
	}
	return false
}

// whole reports whether the particle of v stands behind items[i].
func (r *reader) whole(items []item, i int, v *lexicon.VerbForm) bool {
	if v.Particle == "" || v.Joined {
		return true
	}
	want := strings.Fields(fold(v.Particle))
	for j := i + 1; j < len(items) && j < i+maxParticle; j++ {
		if matchWords(items[j:], want) > 0 || strings.HasPrefix(items[j].fold, want[0]+" ") {
			return true
		}
	}
	return v.Separable
}

// maxParticle is how many words stand between a verb and its particle at most.
const maxParticle = 16

// story reads "As an admin I want to ...".
func (r *reader) story(c *clause, s int) bool {
	if !c.items[s].has(lexicon.Preposition, "as") {
		return false
	}
	for i := s + 1; i+1 < len(c.items) && !c.items[i].mark; i++ {
		if it := &c.items[i]; len(it.words) > 1 && it.has(lexicon.Polite) && r.imperative(c.items, i+1) {
			c.told = append(c.told, clauseSpan(&clause{items: c.items[:i+1]}))
			c.items = c.items[i+1:]
			c.kind, c.head = goal, 0
			return true
		}
	}
	return false
}

// speaks reads "I add a card" and "we save": who writes does it.
func (r *reader) speaks(c *clause, s int) bool {
	it := &c.items[s]
	if !r.doer(it) || s+1 >= len(c.items) || c.that {
		return false
	}
	next := &c.items[s+1]
	if last := len(c.items) - 1; r.lang == "de" && c.cond != "" && last > s+1 && r.deedForm(&c.items[last], "imperative") &&
		!c.items[last].cap && !next.has(lexicon.Auxiliary) {
		c.items = c.items[s+1:] // "wenn ich Rot auswähle"
		c.kind, c.head = goal, len(c.items)-1
		return true
	}
	if last := len(c.items) - 1; r.lang == "de" && next.has(lexicon.Auxiliary, "want", "will") && last > s+1 &&
		r.deedForm(&c.items[last], "infinitive") && !c.items[last].cap {
		c.items = c.items[s+2:] // "ich will offene Posten sehen"
		c.kind, c.head = goal, len(c.items)-1
		return true
	}
	if next.has(lexicon.Auxiliary, "want", "try", "start") {
		if !r.chain(c, s+1) {
			c.kind, c.head = goal, s+1
		}
		return true
	}
	if next.has(lexicon.Auxiliary, "be", "must", "can", "will") || len(next.verbs) == 0 || r.claims(next) {
		return false
	}
	c.kind, c.head = goal, s+1
	return true
}

// chain passes from "try to", "start to", "want to" at i to the verb of the deed.
func (r *reader) chain(c *clause, i int) bool {
	for j := i + 1; j < len(c.items) && j < i+4; j++ {
		if c.items[j].mark || c.items[j].value != nil {
			break
		}
		if r.deed(c.items, j) && !r.nounHere(c.items, j) {
			it := &c.items[i]
			c.kind, c.expected, c.begun = goal, it.has(lexicon.Auxiliary, "try"), it.has(lexicon.Auxiliary, "start")
			c.items = append(append([]item{}, c.items[:i]...), c.items[j:]...)
			c.head = i
			return true
		}
	}
	return false
}

// deed reports whether items[i] is a verb in a form that goes with a negation or "without".
func (r *reader) deed(items []item, i int) bool {
	if i >= len(items) || items[i].proper(r.lang) {
		return false
	}
	if items[i].has(lexicon.Article) {
		return false
	}
	for _, v := range items[i].verbs {
		switch v.Form {
		case "imperative", "infinitive", "gerund", "subjunctive":
			return true
		}
	}
	return false
}

// laterVerb returns the verb that says what to do where it does not begin the piece: behind
// a place ("In the form press Save"), or at the end ("bitte eintragen", "Brückentage sperren").
func (r *reader) laterVerb(items []item, s int) int {
	if r.lang == "de" && r.deedForm(&items[len(items)-1], "infinitive") && !items[len(items)-1].cap && len(items)-1 > s &&
		r.wholeAt(items, len(items)-1) {
		return len(items) - 1
	}
	if items[s].has(lexicon.Preposition) && !items[s].proper(r.lang) {
		for i := s + 2; i < len(items); i++ {
			if r.imperative(items, i) && !r.nounHere(items, i) && (i+1 < len(items) || r.lang == "de") {
				return i
			}
		}
	}
	return -1
}

// wholeAt reports whether some infinitive at i needs no particle or has it in it.
func (r *reader) wholeAt(items []item, i int) bool {
	for _, v := range items[i].verbs {
		if v.Form == "infinitive" && (v.Particle == "" || v.Joined || v.Effect != string(Check)) {
			return true
		}
	}
	return false
}

// nounHere reports whether a word that may be a verb is a noun where it stands.
func (r *reader) nounHere(items []item, i int) bool {
	return r.behindPreposition(items, i) || items[i].has(lexicon.Noun_) && i+1 == len(items) && r.lang != "de"
}

// attempt passes over "try to", "start to", "want to" to the verb of the deed itself.
func (r *reader) attempt(c *clause) {
	it := &c.items[c.head]
	if !it.has(lexicon.Auxiliary, "try", "start", "want") {
		return
	}
	r.chain(c, c.head)
}
