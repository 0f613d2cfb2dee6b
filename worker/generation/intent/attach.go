package intent

import (
	"github.com/slipway-qa/slipway/worker/generation/lexicon"
	"slices"
)

// relative reports whether a relative clause begins at items[i].
func (c *chunker) relative(items []item, i int) bool {
	it := &items[i]
	if !it.has(lexicon.Relative) || len(c.cur.core) == 0 && len(c.out) == 0 || i+1 >= len(items) {
		return false
	}
	if it.has(lexicon.Article) {
		return i > 0 && items[i-1].sign(",") // de "die"
	}
	if it.has(lexicon.Demonstrative) {
		return len(c.cur.core) > 0 // en "that"
	}
	return true
}

// relativeClause takes the items up to the next mark or conjunction into the phrase.
func (c *chunker) relativeClause(items []item, i int) int {
	if len(c.cur.core) == 0 {
		if len(c.out) == 0 {
			return i + 1
		}
		c.cur = c.out[len(c.out)-1]
		c.out = c.out[:len(c.out)-1]
	}
	if n := len(c.out); n > 0 && c.cur.prep != nil && c.cur.sep == "" && i+1 < len(items) &&
		items[i+1].has(lexicon.Auxiliary, "be") && c.cur.ofName() {
		attach(&c.out[n-1], c.cur) // "the card of Raj that is open": it is the card
		c.cur = c.out[n-1]
		c.out = c.out[:n-1]
	}
	j := i + 1
	said := 0
	for j < len(items) && !items[j].mark && !items[j].has(lexicon.Conjunction, "and", "but", "or") {
		if said > 0 && c.fieldFollows(&items[j]) {
			break
		}
		if !items[j].has(lexicon.Auxiliary) && items[j].content() && !c.r.deedForm(&items[j], "third") {
			said++
		}
		c.cur.rel = append(c.cur.rel, items[j])
		j++
	}
	c.flush()
	return j
}

// fieldFollows reports whether a preposition behind a relative clause rather leads in a field
// of the deed: "book the van that sleeps four for Ines".
func (c *chunker) fieldFollows(it *item) bool {
	if c.verb == nil || !it.has(lexicon.Preposition) || it.value != nil {
		return false
	}
	switch Effect(c.verb.Effect) {
	case Add, Submit, Act:
		return slices.Contains([]string{"as", "for", "with", "to"}, it.as(lexicon.Preposition).Name)
	}
	return c.verb.Slot(it.fold) != "" && it.has(lexicon.Preposition, "to", "as")
}

// ranges joins "from 60 to 90", "du 14 au 16 avril" into one phrase.
func (c *chunker) ranges() []phrase {
	out := c.out[:0:0]
	for i := 0; i < len(c.out); i++ {
		p := c.out[i]
		if c.partOf(&p, &out, i) {
			continue
		}
		if i+1 < len(c.out) && p.measurable() && c.out[i+1].measurable() && c.out[i+1].sep == "" && c.out[i+1].sense("to", "until", "and") &&
			(p.prep == nil || p.sense("from", "between", "of", "on", "in")) {
			upper := c.out[i+1]
			p.upto = &upper
			i++
		} else if p.sense("between") && p.measurable() && i+1 < len(c.out) && c.out[i+1].sep == "and" && c.out[i+1].measurable() {
			upper := c.out[i+1]
			p.upto = &upper
			i++
		}
		if n := len(out); n > 0 && p.leads("per") && p.sep == "" && out[n-1].amount() {
			out[n-1].per(&p)
			continue
		}
		if n := len(out); n > 0 && p.sep == "(" && p.neg == nil && p.prep == nil && len(p.core) > 0 &&
			(p.core[0].value == nil || p.core[0].quoted() || p.core[0].value.Unit != "") {
			c.gloss(&out[n-1], p)
			for i+1 < len(c.out) && c.out[i+1].sep == "," && c.out[i+1].inside {
				i++
				c.gloss(&out[n-1], c.out[i])
			}
			continue
		}
		if n := len(out); n > 0 && p.sep == "," && len(p.rel) > 0 && p.apposition() && len(out[n-1].rel) == 0 {
			out[n-1].rel = p.rel
			continue
		}
		out = append(out, p)
	}
	return out
}

// partOf attaches "davon" to the phrase that it stands behind or before, and a genitive to
// the one before it, and reports whether it did.
func (c *chunker) partOf(p *phrase, out *[]phrase, i int) bool {
	n := len(*out)
	adverb := p.prep != nil && len(p.core) == 1 && p.core[0].has(lexicon.Pronoun, "of it", "in it") && p.core[0].Span == p.prep.Span
	genitive := p.prep == nil && p.sep == "" && n > 0 && p.core != nil && p.core[0].has(lexicon.Article, "genitive") &&
		len(p.core) > 1 && (*out)[n-1].noun()
	switch {
	case adverb && n > 0 && p.sep == "" && (*out)[n-1].prep == nil:
		attach(&(*out)[n-1], *p)
	case adverb && i+1 < len(c.out) && c.out[i+1].prep == nil && c.out[i+1].sep == "":
		c.out[i+1].mods = append(c.out[i+1].mods, *p)
		c.out[i+1].sep = p.sep
	case genitive:
		q := *p
		q.prep, q.senses = &p.core[0], []string{"of"}
		attach(&(*out)[n-1], q)
	default:
		return false
	}
	return true
}

// gloss makes q another name of p: "siège enfant (Child seat)".
func (c *chunker) gloss(p *phrase, q phrase) {
	q.sep = ""
	p.also = append(p.also, q)
}
