package intent

import (
	"slices"

	"github.com/slipway-qa/slipway/worker/generation/lexicon"
)

// unwished reads "I do not want the newsletter any more" and "I no longer want to receive it": who
// writes has it turned off, and on what he wants to receive. A wish that something is not done forbids that, and is none of these.
func (r *reader) unwished(c *clause) bool {
	denied, notified, want := false, false, 0
	for ; want < len(c.items) && !r.wants(&c.items[want]); want++ {
		it := &c.items[want]
		if it.mark || it.value != nil || it.content() || it.has(lexicon.Pronoun) && !it.has(lexicon.Pronoun, "i") {
			return false
		}
		denied = denied || it.has(lexicon.Negation)
	}
	if want == len(c.items) || c.that || c.cond != "" {
		return false
	}
	var rest []item
	var told []Span
	for i := want + 1; i < len(c.items); i++ {
		it := &c.items[i]
		plain := it.value == nil && !it.proper(r.lang)
		switch {
		case plain && it.has(lexicon.Negation) && !it.has(lexicon.Quantity, "still"):
			denied = true
		case plain && it.has(lexicon.Quantity, "anymore"):
		case plain && slices.ContainsFunc(it.verbs, notifies):
			told, notified = append(told, it.Span), true
		case plain && len(rest) == 0 && it.has(lexicon.Auxiliary, "become"):
			told = append(told, it.Span)
		case denied && r.deed(c.items, i) && !r.nounHere(c.items, i):
			return r.unwishedDeed(c, append(rest, c.items[i:]...), len(rest))
		default:
			rest = append(rest, *it)
		}
	}
	if !denied && !notified || !slices.ContainsFunc(rest, func(it item) bool { return it.content() }) {
		return false
	}
	c.kind, c.head, c.forbidden, c.told = goal, 0, denied, append(c.told, told...)
	head := c.items[want]
	head.entries = []lexicon.Entry{{Class: lexicon.Auxiliary, Lemma: head.fold, Name: "want", Names: []string{"want"}}}
	c.items = append([]item{head}, rest...)
	return true
}

// unwishedDeed reads "I do not want to delete it": it must not be done. Who does not want to see
// something may want it hidden, which no reading says.
func (r *reader) unwishedDeed(c *clause, items []item, head int) bool {
	if r.hasEffect(&items[head], Open) {
		r.lost = append(r.lost, items[head].Span)
		return false
	}
	c.kind, c.head, c.forbidden, c.items = goal, head, true, items
	return true
}

// wants reports whether an item says that somebody wants something: "want", "ich möchte".
func (r *reader) wants(it *item) bool {
	if it.has(lexicon.Auxiliary, "want") {
		return true
	}
	return len(it.words) > 1 && it.has(lexicon.Polite) && slices.ContainsFunc(it.words, func(w Word) bool {
		e := r.lex.Entry(w.Text, lexicon.Auxiliary)
		return e != nil && e.Name == "want"
	})
}

// notifies reports whether a verb says that somebody is told something: "receive", "let know".
func notifies(v lexicon.VerbForm) bool {
	return v.Effect == string(Toggle) && v.Attr("concept") == "notify" && v.Form != "third"
}

// bids reads "il faut V" and "hay que V" as the deed V; what is to be seen is none.
func (r *reader) bids(c *clause, s int) bool {
	for i := s; i+1 < len(c.items) && !c.that; i++ {
		if c.items[i].has(lexicon.Auxiliary, "bid") && !c.items[i].proper(r.lang) {
			next := &c.items[i+1]
			return !r.asks(next) && !r.claims(next) && r.chain(c, i)
		}
	}
	return false
}

// afterwards reads what was done before something holds as the deed: "you have deleted Bo", "du Bo
// gelöscht hast", "deleting Bo".
func (r *reader) afterwards(c *clause, s int) bool {
	if c.cond != "when" && c.cond != "after" && c.cond != "if" {
		return false
	}
	if s > 0 && r.doer(&c.items[s-1]) {
		s--
	}
	at, last := s, len(c.items)-1
	if r.doer(&c.items[s]) && s+1 < last {
		switch {
		case c.items[s+1].has(lexicon.Auxiliary, "have") && r.deedForm(&c.items[s+2], "participle"):
			at = s + 2
		case r.lang == "de" && c.items[last].has(lexicon.Auxiliary, "have") && r.deedForm(&c.items[last-1], "participle"):
			c.items = c.items[s+1 : last]
			c.kind, c.head = goal, len(c.items)-1
			return true
		default:
			return false
		}
	} else if c.cond != "after" || c.items[s].has(lexicon.Noun_) || !r.deedForm(&c.items[s], "gerund", "infinitive", "participle") {
		return false
	}
	c.items = c.items[at:]
	c.kind, c.head = goal, 0
	return true
}

// expectations has "you should see" and "you should find" say what must be shown, where "you should
// open" says what to do.
func (r *reader) expectations(items []item) []item {
	for i := 0; i+1 < len(items); i++ {
		it, next := &items[i], &items[i+1]
		sees := r.hasEffect(next, Open) && (r.asks(next) || r.hasEffect(next, Search)) && !next.proper(r.lang)
		must := func(w Word) bool {
			e := r.lex.Entry(w.Text, lexicon.Auxiliary)
			return e != nil && e.Name == "must"
		}
		if sees && len(it.words) > 1 && it.has(lexicon.Polite) && slices.ContainsFunc(it.words, must) {
			it.entries = []lexicon.Entry{{Class: lexicon.Auxiliary, Lemma: it.fold, Name: "must", Names: []string{"must"}}}
			it.verbs = nil
		}
	}
	return items
}

// leaves reports whether a word says that something goes away, and not that it is gone: "go", "weg".
func (r *reader) leaves(it *item) bool {
	if it.value != nil || it.proper(r.lang) {
		return false
	}
	return r.lang == "de" && len(it.verbs) == 0 && it.has(lexicon.State, "gone") ||
		slices.ContainsFunc(it.verbs, func(v lexicon.VerbForm) bool { return v.Attr("leaves") != "" && v.Form != "third" })
}

// obliges does what a claim asks for: "the invoice has to go", "it needs to be deleted", "it should go online,
// please". What must hold after a deed is no wish, and a page on which it holds already makes a check of it.
func (b *builder) obliges(c *clause, n int) {
	if len(b.goals) != n+1 || b.goals[n].Claim == nil || b.goals[n].If != nil || c.that || c.cond != "" || c.question {
		return
	}
	please, did := false, slices.ContainsFunc(b.goals[:n], func(g Goal) bool {
		switch g.Effect {
		case Check, Page, Open, Expand, Filter, Sort, Scroll:
			return false
		}
		return true
	})
	for i := range c.items {
		please = please || c.items[i].has(lexicon.Polite, "please")
		if c.items[i].has(lexicon.Negation) {
			return
		}
	}
	head := &c.items[c.head]
	// "Bo can go" permits it, and only "Bo kann weg" asks for it.
	wished := head.has(lexicon.Auxiliary, "duty") || head.has(lexicon.Auxiliary, "can") && (please || b.r.lang == "de") ||
		please && head.has(lexicon.Auxiliary, "must")
	if did && !please || !wished {
		return
	}
	deed := b.passive(c)
	if deed == nil {
		deed = b.departs(c, b.goals[n].Claim, please)
	}
	if deed == nil {
		return
	}
	check := b.goals[n]
	b.words, b.goals = check.Words, b.goals[:n]
	b.r.other = append(b.r.other, alternative{n, len(deed), []Goal{check}, -0.1})
	b.add(deed...)
}

// excepts reads "Bo can go, but not Ann" as what must not happen to Ann.
func (b *builder) excepts(c *Claim) bool {
	n := len(b.goals)
	if n == 0 || !c.Not || c.Property != Is || len(c.Values)+len(c.Be) > 0 || c.Where != nil || len(c.Subject) == 0 ||
		!slices.ContainsFunc(b.r.other, func(o alternative) bool { return o.goal == n-1 && o.goals[0].Effect == Check }) {
		return false
	}
	deed := b.goals[n-1]
	b.add(Goal{Span: c.Span, Effect: deed.Effect, Lemma: deed.Lemma, State: deed.State, Concept: deed.Concept, Risk: deed.Risk,
		Target: c.Subject, Words: c.Words, Forbidden: true})
	return true
}

// passive is the deed of "needs to be deleted" and "soll gelöscht werden"; nil without one.
func (b *builder) passive(c *clause) []Goal {
	if c.items[c.head].has(lexicon.Auxiliary, "can") {
		return nil
	}
	at, passive := -1, false
	for i := c.head + 1; i < len(c.items); i++ {
		it := &c.items[i]
		switch {
		case it.has(lexicon.Auxiliary, "have"):
			return nil
		case b.r.lang == "de" && it.has(lexicon.Auxiliary, "become"), b.r.lang != "de" && it.has(lexicon.Auxiliary, "be"):
			passive = true
		case at < 0 && b.r.deedForm(it, "infinitive") && b.r.hasEffect(it, Move) && !it.cap && (b.r.lang != "de" || i+1 == len(c.items)):
			at, passive = i, true // "the card has to move to Done"
		case at < 0 && b.r.deedForm(it, "participle") && !b.r.hasEffect(it, Check) && !b.r.behindPreposition(c.items, i) && !it.cap:
			at = i
		}
	}
	if at < 0 || !passive {
		return nil
	}
	g := clause{kind: goal, items: []item{c.items[at]}}
	for i := range c.items {
		if it := &c.items[i]; i != at && i != c.head && (i < c.head || !it.has(lexicon.Auxiliary, "be", "become")) {
			g.items = append(g.items, *it)
		}
	}
	senses := b.r.verbSenses(&g)
	if len(senses) == 0 {
		return nil
	}
	return b.r.goal(&g, &senses[0])
}

// departs is the deed of what has to go, or to go online; nil without one.
func (b *builder) departs(c *clause, cl *Claim, please bool) []Goal {
	if len(cl.Subject) == 0 || len(cl.Values) > 0 {
		return nil
	}
	g := Goal{Span: cl.Span, Words: cl.Words, Target: cl.Subject}
	from, away := cl.Where, false
	for i := c.head + 1; i < len(c.items); i++ {
		it := &c.items[i]
		e := it.as(lexicon.State)
		switch {
		case it.has(lexicon.Auxiliary, "be"):
			if !please {
				return nil
			}
		case it.has(lexicon.Preposition) && it.value == nil && !b.r.leaves(it):
			if !it.has(lexicon.Preposition, "from") {
				return nil // "has to go to the archive"
			}
			away = true
		case e != nil && e.Attr("effect") == string(Complete) && it.value == nil && (please || g.Effect == Remove):
			g.Effect, g.State, g.Concept, g.Risk = Complete, e.Name, "", ""
			g.Become = &Value{Span: it.Span, Text: it.text}
			return []Goal{g}
		case !away && (it.content() || it.has(lexicon.Place) || it.has(lexicon.Ordinal)) && !b.r.leaves(it):
			return nil
		case b.r.leaves(it):
			if from != nil {
				from, _ = from.Without(it.Span)
			}
			g.Effect, g.Verb, g.Lemma, g.Concept, g.Risk, g.From = Remove, it.Span, it.fold, "delete", "destroy", from
		}
	}
	if g.Effect == "" || len(cl.Be) > 0 && cl.Be[0].Name != "gone" {
		return nil
	}
	return []Goal{g}
}
