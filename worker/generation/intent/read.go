package intent

import (
	"slices"
	"sort"

	"github.com/slipway-qa/slipway/worker/generation/lexicon"
)

// Longest is how many characters of a text are read: a test is some sentences, and what is longer
// is no description of one.
const Longest = 20_000

// most is how many readings a text has at most: each is tried on a page.
const most = 4

// longest returns how many bytes of a text are read: those of its first Longest characters.
func longest(source string) int {
	n := 0
	for at := range source {
		if n == Longest {
			return at
		}
		n++
	}
	return len(source)
}

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
	end := longest(source)
	text := source[:end]
	toks := r.unclitic(tokenize(text))
	best, read := r.read(toks)
	best.Unread = append(best.Unread, r.unread(read, best.Goals)...)
	if len(source) > end {
		best.Unread = append(best.Unread, Span{end, len(source)})
	}
	if len(best.Goals) == 0 {
		return t
	}
	t.Readings = r.variants(best, r.other)
	for i := 1; i < len(t.Readings); i++ {
		t.Readings[i].Unread = r.unread(read, t.Readings[i].Goals)
	}
	t.restrict()
	return t
}

// read returns the likeliest reading.
func (r *reader) read(toks []token) (Reading, []item) {
	b := &builder{r: r}
	var all []item
	for _, part := range r.parts(toks) {
		if part.colon > 0 {
			b.add(r.formLine(part))
			continue
		}
		for _, s := range bounded(r.sentences(part.toks)) {
			items := r.items(s.toks)
			all = append(all, items...)
			list := deedsFirst(r.clauses(r.expectations(items)))
			for i := 0; i+1 < len(list); i++ {
				if k := list[i].items; list[i].kind == goal && r.saysBefore(items, k) {
					r.lost = append(r.lost, clauseSpan(&list[i]))
				}
			}
			for i := range list {
				list[i].question = s.question
			}
			for i := range list {
				if list[i].cond == "unless" { // no goal has an exception
					r.lost = append(r.lost, clauseSpan(&list[i]))
					continue
				}
				goals := len(b.goals)
				b.clause(list, i)
				if c := &list[i]; c.kind == fragment && (c.cond == "if" || c.cond == "when") && len(b.goals) > goals {
					r.lost = append(r.lost, clauseSpan(c))
				}
				vanished := len(b.goals) == goals && (b.cond == nil || i+1 == len(list))
				if vanished && list[i].bounds(r) {
					r.lost = append(r.lost, clauseSpan(&list[i]))
				}
			}
			b.cond = nil
		}
	}
	return Reading{Goals: b.goals, Prior: 1}, all
}

// longestSentence is how many tokens are read as one sentence: people's have less than a
// hundred, and the time for one grows with its square.
const longestSentence = 300

// bounded cuts sentences that are too long.
func bounded(list []sentence) []sentence {
	var out []sentence
	for _, s := range list {
		for len(s.toks) > longestSentence {
			out = append(out, sentence{toks: s.toks[:longestSentence]})
			s.toks = s.toks[longestSentence:]
		}
		out = append(out, s)
	}
	return out
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

// clause reads list[i].
func (b *builder) clause(list []clause, i int) {
	c := &list[i]
	if b.behindColon(c) || i > 0 && list[i-1].kind == goal && b.deedBefore(&list[i-1]) && b.content(c) {
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
		n := len(b.goals)
		b.claim(c)
		b.obliges(c, n)
	case statement:
		b.statement(c)
	case fragment:
		b.fragment(c)
	}
}

func (b *builder) add(goals ...Goal) {
	if len(goals) > 0 && b.cond != nil {
		goals[0].If, b.cond = b.cond, nil
	}
	if len(goals) > 0 && len(b.words) > 0 {
		goals[0].Words, b.words = append(goals[0].Words, b.words...), nil
	}
	for i := range goals {
		remains(goals[i].Claim)
		if n := len(b.goals) + i; n > 0 {
			before := goals[max(i-1, 0)]
			if i == 0 {
				before = b.goals[n-1]
			}
			abandoned(&goals[i], &before)
		}
	}
	b.goals = append(b.goals, goals...)
}

// abandoned reads "refuse it, but keep it after all" as the answer to what is asked then: a thing that
// something was done to is not as it was.
func abandoned(g, before *Goal) {
	c := g.Claim
	if g.Effect != Check || c == nil || c.Property != Unchanged || c.Not || len(c.Subject) != 1 || before.Forbidden {
		return
	}
	d := &c.Subject[0]
	if !d.Pronoun || len(d.Words)+len(d.State)+len(d.Having) > 0 || d.Other || d.Of != nil || d.Ordinal != 0 || d.Extreme != nil {
		return
	}
	switch before.Effect {
	case Remove, Complete, Act:
		g.Effect, g.Claim, g.Target = Abandon, nil, d.Also
		g.Words = append(append(g.Words, c.Words...), d.Span)
	}
}

// remains reads "only X stays" as that nothing else is there: it says nothing of how X was.
func remains(c *Claim) {
	if c == nil || c.Property != Unchanged || c.Not {
		return
	}
	for i := range c.Subject {
		c.Only = c.Only || c.Subject[i].Only
	}
	if !c.Only {
		return
	}
	c.Property = Shown
	for i := range c.Subject {
		c.Subject[i].Only = false
	}
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

// unread returns the spans of content words that no goal has.
func (r *reader) unread(items []item, goals []Goal) []Span {
	left := slices.Clone(r.lost)
	spans := r.taken(goals)
	sort.Slice(spans, func(i, j int) bool { return spans[i].From < spans[j].From })
	k, reach := 0, 0
	for i := range items {
		it := &items[i]
		for k < len(spans) && spans[k].From < it.To {
			reach = max(reach, spans[k].To)
			k++
		}
		if it.content() && (it.From >= reach || r.swallowed(it, goals)) {
			left = append(left, it.Span)
		}
	}
	return left
}

// swallowed reports whether a deed was read as the name of what a forbidden goal is about: it is one of
// its own, and no account of words would miss it where nothing is to be done.
func (r *reader) swallowed(it *item, goals []Goal) bool {
	if it.cap || !r.deedForm(it, "imperative") {
		return false
	}
	for i := range goals {
		for _, d := range goals[i].Target {
			sure := d.Pronoun || r.lex.Capitals && !r.deedForm(it, "infinitive")
			if goals[i].Forbidden && sure && slices.ContainsFunc(d.Words, func(w Word) bool { return w.Span == it.Span }) {
				return true
			}
		}
	}
	return false
}

// saysBefore reports whether a clause begins with "before": it is done after what stands behind it.
func (r *reader) saysBefore(items, clause []item) bool {
	if len(clause) == 0 {
		return false
	}
	if clause[0].has(lexicon.Conjunction, "before") || clause[0].has(lexicon.Preposition, "before") {
		return true
	}
	at := slices.IndexFunc(items, func(it item) bool { return it.Span == clause[0].Span })
	return at > 0 && items[at-1].has(lexicon.Conjunction, "before")
}
