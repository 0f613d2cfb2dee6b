package intent

import (
	"github.com/slipway-qa/slipway/worker/generation/lexicon"
)

func (b *builder) goal(c *clause) {
	senses := b.r.verbSenses(c)
	if len(senses) == 0 {
		senses = []sense{b.r.unknown(c)}
	}
	if c.items[c.head].has(lexicon.Auxiliary, "want") {
		senses = []sense{b.r.unknown(c)}
	}
	senses = b.r.ticks(doing(senses))
	b.words = append(b.words, c.told...)
	if senses[0].Effect == string(Check) && senses[0].Property == "" {
		b.check(c, &senses[0])
		return
	}
	goals := b.r.goal(c, &senses[0])
	if seeks(c, &senses[0], goals) {
		b.words = append(append(b.words, senses[0].spans...), goals[0].Words...)
		for i := range goals[0].Target {
			b.words = append(b.words, goals[0].Target[i].Span)
		}
		return
	}
	b.remember(c, senses, len(goals))
	b.wanted(c, &goals[0])
	if g := &goals[0]; g.Effect == Search && len(goals) == 1 && g.Text == nil && g.In == nil && g.To == nil &&
		len(g.Target)+len(g.Fields) == 0 {
		if !b.filled() {
			b.words = append(b.words, senses[0].spans...) // "find and click X"
			return
		}
		// What was filled in is searched for: "enter Rome, search and open the first hotel".
		g.Effect, g.Target = Press,
			[]Description{{Span: g.Verb, Words: []Word{{Span: g.Verb, Text: b.r.source[g.Verb.From:g.Verb.To], Lemma: g.Lemma}}}}
	}
	if senses[0].Effect == string(Check) && goals[0].Claim == nil {
		b.words = append(b.words, senses[0].spans...)
		return
	}
	b.kept(&goals[0])
	b.resolve(&goals[0])
	b.add(goals...)
}

// filled reports whether the goal before puts values into fields.
func (b *builder) filled() bool {
	n := len(b.goals)
	if n == 0 {
		return false
	}
	switch b.goals[n-1].Effect {
	case Set, Choose, Type, Append, Toggle:
		return true
	}
	return false
}

// wanted reads "I want mentions by e-mail" as something to turn on.
func (b *builder) wanted(c *clause, g *Goal) {
	if g.Effect == Set && len(g.Target) == 1 && len(g.Fields) == 0 && c.items[min(c.head, len(c.items)-1)].has(lexicon.Auxiliary, "want") {
		g.Effect, g.On, g.Concept, g.Forbidden = Toggle, !c.forbidden, "notify", false
	}
}

// kept makes of "leave the phone alone", beside values that are set, a field to keep.
func (b *builder) kept(g *Goal) {
	n := len(b.goals)
	if g.Effect != Check || g.Claim == nil || g.Claim.Property != Unchanged || n == 0 || len(g.Claim.Subject) == 0 {
		return
	}
	switch b.goals[n-1].Effect {
	case Set, Toggle, Choose, Edit, Submit, Type:
	default:
		return
	}
	name := g.Claim.Subject[0]
	g.Effect, g.Claim = Set, nil
	g.Fields = []Field{{Name: &name, Keep: true, Span: name.Span}}
}

// doing puts the senses that claim behind those that do something: a deed was asked for.
func doing(list []sense) []sense {
	claims := func(s *sense) bool {
		return s.Effect == string(Check) && s.Property != "" && s.Property != string(Unchanged) && s.Attr("says") == ""
	}
	if !claims(&list[0]) {
		return list
	}
	for i := range list {
		if !claims(&list[i]) && list[i].Effect != string(Check) {
			return append([]sense{list[i]}, append(append([]sense{}, list[:i]...), list[i+1:]...)...)
		}
	}
	return list
}

// asksFor reports whether a verb of checking or saying stands before a clause with "that",
// which says itself what is to be seen or done.
func (b *builder) asksFor(c, that *clause) bool {
	if !b.r.asks(&c.items[c.head]) && !b.r.claims(&c.items[c.head]) || len(c.items) > c.head+3 {
		return false
	}
	s := b.r.skip(that.items, 0)
	you := len(that.items) > 0 && that.items[0].has(lexicon.Pronoun, "i") && !that.items[0].has(lexicon.Pronoun, "it", "them", "he")
	switch {
	case you && b.r.claims(&c.items[c.head]) && s+1 < len(that.items): // "say that you bring a dog"
		that.that = false
		that.kind = statement
		if b.r.speaks(that, 0); that.kind == statement && s < len(that.items) {
			that.kind, that.head = goal, s
		}
	case you:
		return false
	}
	for _, it := range c.items {
		b.words = append(b.words, it.Span)
	}
	return true
}

// ticks prefers the sense of a verb of checking that ticks something, where no claim follows
// and a name or a box does: "Check Tea and Honey", "check the first two boxes".
func (r *reader) ticks(list []sense) []sense {
	if list[0].Effect != string(Check) || list[0].Property != "" || len(list[0].after) == 0 {
		return list
	}
	own := r.lang == "en" && list[0].after[0].is("i") && list[0].after[0].cap // "check I agree"
	if !own && r.finite(list[0].after, 0) >= 0 {
		return list
	}
	obj, _ := r.objects(&list[0])
	if obj == nil {
		return list
	}
	for i := range list {
		s := &list[i]
		if s.Effect == string(Check) {
			continue
		}
		name := own
		for k := range obj.core {
			unknown := k == 0 && len(obj.core[k].entries) == 0 && obj.core[k].value == nil && len(obj.core[k].verbs) == 0
			name = name || obj.core[k].quoted() || obj.core[k].proper(r.lang) || unknown
		}
		if len(s.Need) == 0 || name || r.satisfies(obj, s.Need) {
			return append([]sense{*s}, append(append([]sense{}, list[:i]...), list[i+1:]...)...)
		}
	}
	return list
}

// unknown is the sense of a verb that the lexicon does not have here: to set after "want",
// else whatever a control of its name does.
func (r *reader) unknown(c *clause) sense {
	head := &c.items[c.head]
	v := &lexicon.Verb{Lemma: head.fold, Base: head.fold, Effect: string(Act)}
	if head.has(lexicon.Auxiliary, "want", "have") {
		v.Effect = string(Set)
	}
	return sense{VerbForm: lexicon.VerbForm{Verb: v, Form: "imperative"}, before: c.items[:c.head], after: c.items[c.head+1:],
		spans: []Span{head.Span}}
}

// check reads "check the price of X" and "verify that ..." whose claim is in the same clause.
func (b *builder) check(c *clause, s *sense) {
	b.words = append(b.words, s.spans...)
	if len(s.after) == 0 {
		if list := joinMods(b.r.chunks(s.before, nil)); len(list) == 1 && list[0].prep != nil {
			d := b.r.description(&list[0])
			b.where = &d // "check under Delivery, it must say ..."
		}
		return
	}
	p := clause{kind: claim, items: s.after, head: b.r.finite(s.after, 0)}
	if p.head >= 0 {
		b.claim(&p)
		return
	}
	list := joinMods(b.r.chunks(s.after, nil))
	cl := Claim{Span: clauseSpan(c), Property: Shown, Op: "="}
	for i := range list {
		if list[i].prep != nil && !list[i].leads("for") && len(cl.Subject) > 0 {
			d := b.r.description(&list[i])
			cl.Where = &d
			continue
		}
		cl.Subject = append(cl.Subject, b.r.description(&list[i]))
	}
	b.r.sum(&cl)
	b.add(Goal{Span: cl.Span, Effect: Check, Claim: &cl})
}

func (b *builder) claim(c *clause) {
	if c.cond == "given" && b.given(c) {
		return
	}
	for _, cl := range b.r.claims_(c) {
		if b.asked && b.told != nil && len(cl.Subject) > 0 && cl.Subject[0].Pronoun && len(cl.Subject[0].Words) == 0 {
			state := cl.Subject[0].State
			cl.Subject[0] = *b.told // "How many tickets are open? There should be seven."
			cl.Subject[0].State = append(cl.Subject[0].State, state...)
			cl.Words = append(cl.Words, b.told.Span)
			b.told = nil
		}
		if b.excepts(&cl) {
			continue
		}
		b.elliptic(&cl)
		if b.where != nil && cl.Where == nil {
			cl.Where = b.where
		}
		b.where = nil
		if cl.hollow() {
			if c.cond != "if" && c.cond != "when" {
				b.r.lost = append(b.r.lost, cl.Span)
			}
			continue
		}
		if c.cond == "if" || c.cond == "when" {
			if cl.Property == Appears { // nothing came before it
				cl.Property = Shown
			}
			b.cond = &cl
			continue
		}
		b.turn(&cl)
		b.add(Goal{Span: cl.Span, Effect: Check, Claim: &cl})
	}
}

// turn goes to the page of a list on which something must be seen: "on the third page there is Bo".
func (b *builder) turn(c *Claim) {
	if c.Where == nil || c.Where.Kind != PageKind || len(c.Subject) == 0 || c.Property != Shown {
		return
	}
	g := Goal{Span: c.Where.Span, Effect: Open, Target: []Description{*c.Where}}
	if b.r.paging(&g); g.Effect != Page || g.Amount == nil || *g.Amount.Number < 2 {
		return
	}
	if !b.isOn(*g.Amount.Number) {
		b.add(g)
	}
	c.Words, c.Where = append(c.Words, c.Where.Span), nil
}

// isOn reports whether the goals before lead to a page of a list, and only look at it since.
func (b *builder) isOn(number float64) bool {
	for i := len(b.goals) - 1; i >= 0; i-- {
		switch g := &b.goals[i]; g.Effect {
		case Check:
		case Page:
			return g.Amount != nil && g.Amount.Number != nil && *g.Amount.Number == number
		default:
			return false
		}
	}
	return false
}

// elliptic gives "Bo should" what the claim before it says, the other way round.
func (b *builder) elliptic(c *Claim) {
	n := len(b.goals)
	if c.Property != Is && c.Property != Shown && c.Property != Unchanged || len(c.Values)+len(c.Be) > 0 || c.Where != nil ||
		len(c.Subject) == 0 || c.Only && c.Not || n == 0 || b.goals[n-1].Claim == nil {
		return
	}
	before := b.goals[n-1].Claim
	if c.Property != Is && !c.denies {
		return
	}
	if before.Property != Shown && before.Property != Is && before.Property != In && before.Property != At &&
		before.Property != Contains && before.Property != Appears && before.Property != Unchanged {
		return
	}
	c.Property, c.Values, c.Be, c.Where = before.Property, before.Values, before.Be, before.Where
	if c.Not {
		c.Not = !before.Not
	}
}

// given reads "given the bag is emptied": a participle behind "given" says what to do first.
func (b *builder) given(c *clause) bool {
	if !c.items[c.head].has(lexicon.Auxiliary, "be") {
		return false
	}
	for i := c.head + 1; i < len(c.items); i++ {
		if !b.r.deedForm(&c.items[i], "participle") || b.r.hasEffect(&c.items[i], Check) {
			continue
		}
		items := append([]item{c.items[i]}, c.items[:c.head]...)
		items = append(append(items, c.items[c.head+1:i]...), c.items[i+1:]...)
		g := clause{kind: goal, items: items}
		if senses := b.r.verbSenses(&g); len(senses) > 0 {
			b.add(b.r.goal(&g, &senses[0])...)
			return true
		}
	}
	return false
}
