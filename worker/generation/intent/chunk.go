package intent

import (
	"github.com/slipway-qa/slipway/worker/generation/lexicon"
)

// chunker cuts the items of a clause into phrases.
type chunker struct {
	r      *reader
	verb   *lexicon.VerbForm // whose prepositions end a name; nil without one
	out    []phrase
	cur    phrase
	sep    string
	inside bool // of parentheses
	// loose are items that no phrase takes: adverbs, marks.
	loose []item
}

// chunks returns the phrases of items.
func (r *reader) chunks(items []item, verb *lexicon.VerbForm) []phrase {
	c := &chunker{r: r, verb: verb}
	for i := 0; i < len(items); {
		i = c.step(items, i)
	}
	c.flush()
	return c.ranges()
}

func (c *chunker) flush() {
	if len(c.cur.core) > 0 || len(c.cur.rel) > 0 {
		c.cur.inside = c.inside
		c.out = append(c.out, c.cur)
		c.sep = ""
		c.cur = phrase{}
		return
	}
	if c.cur.prep == nil && c.cur.neg == nil {
		c.cur = phrase{}
	}
}

// step reads one item, or a name or relative clause as a whole, and returns where to go on.
func (c *chunker) step(items []item, i int) int {
	it := &items[i]
	switch {
	case it.mark:
		c.mark(it)
	case it.pair != nil:
		c.flush()
		c.cur.core = append(c.cur.core, *it)
		c.flush()
	case !c.conjunction(items, i) && it.has(lexicon.Conjunction, "then") && !(it.has(lexicon.Place) && i+1 < len(items) &&
		(items[i+1].has(lexicon.Article) || items[i+1].has(lexicon.Preposition, "of"))) && !it.has(lexicon.Noun_) &&
		!it.proper(c.r.lang) && !it.has(lexicon.Quantity, "next"):
		c.loose = append(c.loose, *it)
	case it.has(lexicon.Pronoun, "of it", "in it") && !it.proper(c.r.lang) && !it.has(lexicon.Article) &&
		(!it.has(lexicon.Preposition) || c.r.lang != "fr"):
		c.flush()
		c.cur = phrase{prep: it, senses: []string{"of"}, sep: c.sep, neg: c.cur.neg, core: []item{*it}}
		if it.has(lexicon.Pronoun, "in it") {
			c.cur.senses = []string{"in"}
		}
		c.flush()
	case c.conjunction(items, i):
		c.flush()
		if c.join("and"); !it.has(lexicon.Conjunction, "then") {
			c.join(conjunctionName(it))
		}
	case it.has(lexicon.Pronoun, "i") && !it.has(lexicon.Pronoun, "it", "them", "he") && !it.number &&
		!it.has(lexicon.Pronoun, "one") && it.value == nil && (!it.proper(c.r.lang) || len(it.text) == 1 && !c.called(items, i)) &&
		!it.has(lexicon.Article),
		it.has(lexicon.Pronoun, "se"):
		c.loose = append(c.loose, *it)
	case it.has(lexicon.Question) && !it.has(lexicon.Relative) && i+1 < len(items) && items[i+1].has(lexicon.Auxiliary):
		c.flush()
		c.cur.sep = c.sep
		c.cur.core = append(c.cur.core, *it)
		return c.relativeClause(items, i)
	case it.has(lexicon.Negation) && len(c.cur.core) > 0 && onlyDeterminers(c.cur.core) && c.cur.core[0].has(lexicon.Quantity, "other"):
		c.cur.neg = it
	case it.has(lexicon.Negation) && it.has(lexicon.Quantity, "still"):
		c.loose = append(c.loose, *it)
	case it.has(lexicon.Negation) && len(c.cur.core) > 0 && c.cur.prep == nil && c.cur.sep != "" &&
		(i+1 == len(items) || items[i+1].mark || items[i+1].has(lexicon.Conjunction)):
		c.cur.neg = it
	case it.has(lexicon.Negation) && !c.nameGoesOn(it) && !c.standsAlone(items, i) && !it.has(lexicon.Preposition) &&
		!(it.has(lexicon.Measure) && i+1 < len(items)):
		c.flush()
		c.cur.neg = it
		c.cur.sep = c.sep
	case c.relative(items, i):
		return c.relativeClause(items, i)
	case c.preposition(items, i):
		c.flush()
		c.cur = phrase{prep: it, senses: senses(it), sep: c.sep, neg: c.cur.neg}
	case c.begins(items, i):
		neg, prep, sense := c.cur.neg, c.cur.prep, c.cur.senses
		c.flush()
		if len(c.cur.core) == 0 && c.cur.prep == nil && (neg != nil || prep != nil) && len(c.out) == 0 {
			c.cur.neg, c.cur.prep, c.cur.senses = neg, prep, sense
		}
		return c.take(items, i)
	default:
		return c.take(items, i)
	}
	return i + 1
}

func (c *chunker) mark(it *item) {
	switch {
	case it.sign(",;"):
		c.flush()
		c.join(",")
	case it.sign(":"):
		c.flush()
		c.join(":")
	case it.sign("("):
		c.flush()
		c.join("(")
		c.inside = true
	case it.sign(")"):
		c.flush()
		c.inside = false
		c.sep, c.cur.sep = "", ""
	case it.sign("-–—"):
		c.flush()
		c.join(",")
	case it.sign(">›→"):
		c.flush()
		c.join(">")
	case it.sign("/&"):
		c.flush()
		c.join("and")
	default:
		c.flush()
	}
}

// join remembers how the next phrase is joined; "and" after a comma stays "and".
func (c *chunker) join(sep string) {
	if sep == "," && c.sep == "and" {
		return
	}
	c.sep = sep
	c.cur.sep = sep
}

func conjunctionName(it *item) string {
	if e := it.as(lexicon.Conjunction); e != nil {
		return e.Name
	}
	return "and"
}

// conjunction reports whether items[i] joins phrases: "and", "or", "but".
func (c *chunker) conjunction(items []item, i int) bool {
	it := &items[i]
	if it.value != nil || it.proper(c.r.lang) || it.has(lexicon.Quantity) || it.is("+") && len(c.cur.core) == 0 {
		return false
	}
	if it.has(lexicon.Conjunction, "then") && c.verb != nil && len(c.cur.core)+len(c.out) > 0 && i+1 < len(items) && !items[i+1].mark {
		return !it.has(lexicon.Preposition) && !it.has(lexicon.Place) && !it.has(lexicon.Noun_) // "the first one, then the last"
	}
	return it.has(lexicon.Conjunction, "and", "or", "but") && !it.has(lexicon.Preposition, "except") || it.is("&", "+")
}

// called reports whether "I" begins the name of a control: "click I agree".
func (c *chunker) called(items []item, i int) bool {
	if c.verb == nil || i+1 >= len(items) || len(items[i+1].verbs) == 0 && !items[i+1].has(lexicon.Auxiliary) {
		return false
	}
	switch Effect(c.verb.Effect) {
	case Press, Complete, Choose, Toggle, Check, Select:
		return true
	}
	return false
}

// nameGoesOn reports whether a function word belongs to the name that is being read: only
// where it has a capital letter itself ("No Stairway").
func (c *chunker) nameGoesOn(it *item) bool { return it.proper(c.r.lang) && c.cur.proper(c.r.lang) }

// standsAlone reports whether a word with a capital letter is all of a name: "choose Nobody".
func (c *chunker) standsAlone(items []item, i int) bool {
	return items[i].proper(c.r.lang) && len(c.cur.core) == 0 && (i+1 == len(items) || items[i+1].mark || items[i+1].has(lexicon.Conjunction))
}

// preposition reports whether items[i] leads a phrase in: it has such a sense and something
// that it leads in stands behind it.
func (c *chunker) preposition(items []item, i int) bool {
	it := &items[i]
	if !it.has(lexicon.Preposition) || it.value != nil || it.fold == "'s" || it.proper(c.r.lang) && i+1 < len(items) &&
		!items[i+1].has(lexicon.Article) {
		return false
	}
	if (it.has(lexicon.Article) || it.has(lexicon.Quantity)) && it.as(lexicon.Preposition).Name == "per" &&
		!(i > 0 && items[i-1].value != nil && items[i-1].value.Unit != "") {
		return false // "a day" is "per day" only behind an amount
	}
	if i+1 >= len(items) {
		return false
	}
	next := &items[i+1]
	if next.mark && !next.sign("(") && next.value == nil {
		return false
	}
	if c.r.lang == "de" && it.fold == "zu" && !next.cap && next.value == nil && (i+2 >= len(items) || items[i+2].mark) &&
		!functionalItem(next) {
		return false // "zu klein"
	}
	if it.as(lexicon.Noun_) != nil && it.mainly(lexicon.Noun_) && i > 0 && items[i-1].has(lexicon.Article) {
		return false
	}
	return true
}

// functionalItem reports whether an item is an article, a pronoun or the like.
func functionalItem(it *item) bool {
	return it.has(lexicon.Article) || it.has(lexicon.Pronoun) || it.has(lexicon.Possessive) || it.has(lexicon.Quantity)
}

func senses(it *item) []string {
	e := it.as(lexicon.Preposition)
	if e == nil {
		return nil
	}
	if len(e.Names) > 0 {
		return e.Names
	}
	return []string{e.Name}
}

// begins reports whether items[i] begins a new phrase behind a whole one without a
// preposition: "give the lesson a star", "set it 5".
func (c *chunker) begins(items []item, i int) bool {
	it := &items[i]
	if len(c.cur.core) == 0 {
		return false
	}
	last := &c.cur.core[len(c.cur.core)-1]
	if it.value != nil && it.value.UnitClass == "rating" {
		return true
	}
	if onlyDeterminers(c.cur.core) {
		return false
	}
	if last.has(lexicon.Pronoun) && !last.has(lexicon.Article) && last.value == nil && !last.mainly(lexicon.Noun_) {
		return true
	}
	if last.fold == "'s" || it.fold == "'s" {
		return false
	}
	if it.has(lexicon.Article, "definite") && c.r.lang == "en" && len(c.cur.core) == 1 && last.proper("en") &&
		i+1 < len(items) && !items[i+1].cap {
		return false // "Paint the shed" is a name
	}
	if (c.r.lang == "es" || c.r.lang == "fr") && it.has(lexicon.Article) && i+1 < len(items) && items[i+1].has(lexicon.Measure) {
		return false // "la pizza la plus chère"
	}
	if it.has(lexicon.Article) || it.has(lexicon.Possessive) || it.has(lexicon.Demonstrative) || it.mainly(lexicon.Pronoun) && !it.number {
		return !c.nameGoesOn(it)
	}
	if last.quoted() {
		return !(it.has(lexicon.Noun_) || it.fold == "'s")
	}
	if it.has(lexicon.Quantity, "all", "both", "only") {
		return !it.proper(c.r.lang)
	}
	if it.value != nil && it.value.UnitClass == "money" && last.value == nil {
		return true // "the plan Basic 34,90 €": the amount is no part of the name
	}
	if c.r.lang == "de" && c.verb == nil && c.cur.prep != nil && last.cap && !it.cap && it.value == nil && len(it.entries) == 0 &&
		!c.r.deedForm(it, "participle", "infinitive", "third") && (i+1 == len(items) || items[i+1].mark) {
		return true // "in seiner Zeile yes": a word of another language is no part of the noun
	}
	number := it.number || it.value != nil && it.value.Number != nil
	if number && c.r.lang != "de" && last.proper(c.r.lang) && i+1 < len(items) && items[i+1].content() &&
		!items[i+1].proper(c.r.lang) && items[i+1].value == nil {
		return true // "give Bo two stars"
	}
	d := (*Date)(nil)
	if it.value != nil {
		d = it.value.Date
	}
	return d != nil && (d.Day > 0 || d.Weekday >= 0 || d.Hour >= 0 || d.Relative != "") && last.value == nil &&
		(!last.has(lexicon.Noun_) || last.has(lexicon.Unit, "count") && !c.r.timesWord(last))
}

// onlyDeterminers reports whether a phrase has nothing yet that it names.
func onlyDeterminers(core []item) bool {
	for i := range core {
		it := &core[i]
		det := it.has(lexicon.Article) || it.has(lexicon.Possessive) || it.has(lexicon.Demonstrative) || it.has(lexicon.Quantity)
		if !det {
			return false
		}
	}
	return true
}

// take puts items[i] into the phrase, and the rest of the name where it begins one.
func (c *chunker) take(items []item, i int) int {
	it := &items[i]
	if len(c.cur.core) == 0 && c.cur.prep == nil && c.cur.neg == nil {
		c.cur.sep = c.sep
	}
	button := c.verb != nil && c.verb.Effect == string(Press) && c.cur.proper(c.r.lang) // "click Order now"
	if !button && it.has(lexicon.Polite) && !it.proper(c.r.lang) || it.mainly(lexicon.Stop) && len(it.verbs) == 0 {
		c.loose = append(c.loose, *it)
		return i + 1
	}
	c.cur.core = append(c.cur.core, *it)
	if !c.namelike(items, i) {
		return i + 1
	}
	j := i + 1
	for j < len(items) && !c.nameEnds(items, j) {
		c.cur.core = append(c.cur.core, items[j])
		j++
	}
	return j
}

// namelike reports whether a name that is a sentence of its own begins at items[i]: a verb
// with a capital letter in the middle of a sentence ("Set Paint the shed to high").
func (c *chunker) namelike(items []item, i int) bool {
	it := &items[i]
	if !it.proper(c.r.lang) || len(it.verbs) == 0 && !it.has(lexicon.Pronoun) && !it.has(lexicon.Preposition) ||
		c.cur.proper(c.r.lang) && len(c.cur.core) > 1 {
		return false
	}
	return i+1 < len(items) && !items[i+1].mark && items[i+1].value == nil && !items[i+1].has(lexicon.Conjunction)
}

// nameEnds reports whether a name of several words ends before items[j].
func (c *chunker) nameEnds(items []item, j int) bool {
	it := &items[j]
	if it.mark || it.value != nil && !it.number || it.has(lexicon.Conjunction) {
		return true
	}
	if it.proper(c.r.lang) || !it.has(lexicon.Preposition) {
		return it.has(lexicon.Auxiliary) && j > 1
	}
	if c.verb != nil && c.verb.Slot(it.text) != "" || j+1 < len(items) && items[j+1].value != nil {
		return true
	}
	return it.has(lexicon.Preposition, "of", "in", "for", "from", "with") && j+1 < len(items) &&
		(items[j+1].has(lexicon.Article) || items[j+1].proper(c.r.lang))
}
