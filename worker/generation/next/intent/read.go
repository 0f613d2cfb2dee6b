package intent

import (
	"sort"

	"github.com/slipway-qa/slipway/worker/generation/next/lexicon"
)

// Longest is how many bytes of a text are read: a test is some sentences, and what is longer
// is no description of one.
const Longest = 20_000

// most is how many readings a text has at most: each is tried on a page.
const most = 4

// Read reads a text. What is behind Longest is not read, and stands in Unread.
func Read(source string) Text {
	return ReadIn(source, lexicon.Detect(source))
}

// ReadIn reads a text of a known language.
func ReadIn(source, lang string) Text {
	t := Text{Source: source, Lang: lang}
	r := &reader{source: source, lang: lang, lex: lexicon.Language(lang)}
	if r.lex == nil {
		return t
	}
	text := source
	if len(text) > Longest {
		text = text[:Longest]
	}
	toks := r.unclitic(tokenize(text))
	best, read := r.read(toks)
	best.Unread = append(best.Unread, r.unread(read, best.Goals)...)
	if len(source) > Longest {
		best.Unread = append(best.Unread, Span{Longest, len(source)})
	}
	if len(best.Goals) == 0 {
		return t
	}
	t.Readings = r.variants(best, r.other)
	for i := 1; i < len(t.Readings); i++ {
		t.Readings[i].Unread = r.unread(read, t.Readings[i].Goals)
	}
	return t
}

// read returns the likeliest reading.
func (r *reader) read(toks []token) (Reading, []item) {
	b := &builder{r: r}
	var all []item
	for _, s := range r.sentences(toks) {
		items := r.items(s.toks)
		all = append(all, items...)
		list := r.clauses(items)
		for i := range list {
			list[i].question = s.question
		}
		for i := range list {
			b.clause(list, i)
		}
		b.cond = nil
	}
	return Reading{Goals: b.goals, Prior: b.prior()}, all
}

// builder puts the goals of clauses together.
type builder struct {
	r      *reader
	goals  []Goal
	cond   *Claim       // of the clause before, for the next goal
	where  *Description // of the next claim
	thing  bool         // told is a thing that "given" named
	asked  bool         // told was a question
	adding bool         // the goal before is a new thing whose colon may follow
	told   *Description // what a statement spoke of
	words  []Span       // of what was told or asked for, that the next goal takes
}

func (b *builder) prior() float64 { return 1 }

// clause reads list[i].
func (b *builder) clause(list []clause, i int) {
	c := &list[i]
	if b.rest(c) || i > 0 && list[i-1].kind == goal && !b.r.asks(&list[i-1].items[list[i-1].head]) && b.content(c) {
		return
	}
	b.adding = false
	if c.kind == claim && b.tells(list, i) {
		c.kind = statement
	}
	switch c.kind {
	case goal:
		if i+1 < len(list) && list[i+1].that && b.asksFor(c, &list[i+1]) {
			return
		}
		b.goal(c)
	case claim:
		b.claim(c)
	case statement:
		b.statement(c)
	case fragment:
		b.fragment(c)
	}
}

// tells reports whether a claim at the beginning only says what is to be done with what: "The
// dog is walked, please tick it."
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
	for k := next.head + 1; k < len(next.items); k++ {
		if next.items[k].has(lexicon.Pronoun) && next.items[k].value == nil {
			return true
		}
	}
	return false
}

func (b *builder) goal(c *clause) {
	senses := b.r.verbSenses(c)
	if len(senses) == 0 {
		senses = []sense{b.r.unknown(c)}
	}
	if c.items[c.head].has(lexicon.Auxiliary, "want") {
		senses = []sense{b.r.unknown(c)}
	}
	senses = b.r.ticks(senses)
	b.words = append(b.words, c.told...)
	if senses[0].Effect == string(Check) && senses[0].Property == "" {
		b.check(c, &senses[0])
		return
	}
	goals := b.r.goal(c, &senses[0])
	b.remember(c, senses, len(goals))
	if g := &goals[0]; g.Effect == Search && len(goals) == 1 && g.Text == nil && g.In == nil && g.To == nil && len(g.Target)+len(g.Fields) == 0 {
		b.words = append(b.words, senses[0].spans...) // "find and click X"
		return
	}
	if senses[0].Effect == string(Check) && goals[0].Claim == nil {
		b.words = append(b.words, senses[0].spans...)
		return
	}
	b.resolve(&goals[0])
	b.add(goals...)
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
	if list[0].Effect != string(Check) || list[0].Property != "" || len(list[0].after) == 0 || r.finite(list[0].after, 0) >= 0 {
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
		name := false
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
	return sense{VerbForm: lexicon.VerbForm{Verb: v, Form: "imperative"}, before: c.items[:c.head], after: c.items[c.head+1:], spans: []Span{head.Span}}
}

func (b *builder) add(goals ...Goal) {
	if len(goals) > 0 && b.cond != nil {
		goals[0].If, b.cond = b.cond, nil
	}
	if len(goals) > 0 && len(b.words) > 0 {
		goals[0].Words, b.words = append(goals[0].Words, b.words...), nil
	}
	b.goals = append(b.goals, goals...)
}

// resolve puts what a statement spoke of in place of a pronoun.
func (b *builder) resolve(g *Goal) {
	if b.told == nil {
		return
	}
	bare := len(g.Target) == 1 && g.Target[0].Pronoun && len(g.Target[0].Words) == 0 && g.Target[0].Of == nil
	if b.thing && !bare && len(g.Target)+len(g.Fields) > 0 { // "given the board of sprint 42"
		cl := Claim{Span: b.told.Span, Property: Shown, Subject: []Description{*b.told}, Op: "="}
		b.goals = append(b.goals, Goal{Span: cl.Span, Effect: Check, Claim: &cl})
	}
	b.thing = false
	if len(g.Target) == 0 && len(g.Fields) == 0 || bare {
		g.Target = []Description{*b.told}
	}
	b.told = nil
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
		b.elliptic(&cl)
		if b.where != nil && cl.Where == nil {
			cl.Where = b.where
		}
		b.where = nil
		if c.cond == "if" || c.cond == "when" {
			b.cond = &cl
			continue
		}
		b.add(Goal{Span: cl.Span, Effect: Check, Claim: &cl})
	}
}

// elliptic gives "Bo should" what the claim before it says, the other way round.
func (b *builder) elliptic(c *Claim) {
	n := len(b.goals)
	if c.Property != Is && c.Property != Shown && c.Property != Unchanged || len(c.Values)+len(c.Be) > 0 || c.Where != nil || len(c.Subject) == 0 || c.Only && c.Not || n == 0 || b.goals[n-1].Claim == nil {
		return
	}
	before := b.goals[n-1].Claim
	if c.Property != Is && !c.denies {
		return
	}
	if before.Property != Shown && before.Property != Is && before.Property != In && before.Property != At && before.Property != Contains && before.Property != Appears && before.Property != Unchanged {
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

// statement keeps what a clause tells, for the goal that follows.
func (b *builder) statement(c *clause) {
	if b.wish(c) {
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

// wish reads "she needs no drinks" as a field of the form before it, "we still need X" as
// something to leave, and other wishes as something to set.
func (b *builder) wish(c *clause) bool {
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
	g := Goal{Span: clauseSpan(c), Effect: Set}
	for i := 0; i < len(list); i++ {
		if i+1 < len(list) && list[i+1].sep == ":" {
			name := b.r.description(&list[i])
			v := b.r.value(&list[i+1])
			g.Fields = append(g.Fields, Field{Name: &name, Value: v, Span: Span{name.Span.From, v.Span.To}})
			i++
			continue
		}
		g.Fields = append(g.Fields, b.r.field(&list[i]))
	}
	b.add(g)
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
	b.add(Goal{Span: clauseSpan(c), Effect: Check, Claim: &Claim{Span: clauseSpan(c), Property: Is, Subject: []Description{d}, Values: []Value{v}, Op: "="}})
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
	for _, id := range r.lex.Concepts(it.text) {
		if id.Name() == "new" {
			return true
		}
	}
	return it.has(lexicon.State, "new")
}

// rest takes what stands behind the colon of a new thing as it is written.
func (b *builder) rest(c *clause) bool {
	if !b.adding || c.sep != ":" {
		return false
	}
	span := clauseSpan(c)
	g := &b.goals[len(b.goals)-1]
	g.Fields = append(g.Fields, Field{Value: Value{Span: span, Text: b.r.source[span.From:span.To]}, Span: span})
	return true
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

// unread returns the spans of content words that no goal has.
func (r *reader) unread(items []item, goals []Goal) []Span {
	spans := r.taken(goals)
	sort.Slice(spans, func(i, j int) bool { return spans[i].From < spans[j].From })
	var left []Span
	k, reach := 0, 0
	for i := range items {
		it := &items[i]
		for k < len(spans) && spans[k].From < it.To {
			reach = max(reach, spans[k].To)
			k++
		}
		if it.From >= reach && it.content() {
			left = append(left, it.Span)
		}
	}
	return left
}
