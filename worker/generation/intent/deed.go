package intent

import (
	"slices"

	"github.com/slipway-qa/slipway/worker/generation/lexicon"
)

// deed fills the slots of a goal from the phrases of its clause.
type deed struct {
	r     *reader
	s     *sense
	g     Goal
	extra []Goal // "not B": what must not happen, and goals that a list makes
	// name and value are the halves of a field that is not whole yet.
	name    *phrase
	value   *phrase
	prep    string
	last    string       // slot that was filled last
	colon   bool         // behind a colon: values of fields
	by      *Description // what a direction sorts by: "cheapest first"
	before  []Goal       // of the same verb, when a list makes several
	only    bool         // "I only want to see X"
	object_ bool         // the direct object was seen
	labels  bool         // fields of the list have labels
	amount  *phrase      // a number or date that is chosen: "17 with the slider"
	colons  []Field      // labels with colons
	two     bool         // two phrases without a preposition stand behind the verb: "give it a star"
}

// goal reads a clause that says to do something, by one sense of its verb.
func (r *reader) goal(c *clause, s *sense) []Goal {
	d := &deed{r: r, s: s}
	d.g = Goal{Span: clauseSpan(c), Effect: Effect(s.Effect), Verb: s.spans[0], Lemma: s.Lemma, Forbidden: c.forbidden,
		Expected: c.expected, Begun: c.begun,
		State: s.State, Concept: s.Attr("concept"), Risk: s.Risk, How: s.Attr("how")}
	d.g.Words = append(d.g.Words, s.spans[1:]...)
	d.g.On = s.Attr("on") == "on"
	if placed(d.g.Effect) {
		d.g.Place = s.Attr("place")
	}
	d.clitics()
	d.denied()
	if s.Property == string(Unchanged) {
		d.unchanged()
	}
	s.after = d.sorted(s.after)
	s.before, s.after = d.often(s.before), d.manner(d.means(d.often(s.after)))
	before := r.chunks(s.before, &s.VerbForm)
	after := d.pairs(d.adverbs(r.chunks(d.spatial(s.after), &s.VerbForm)))
	bare := 0
	for i := range after {
		if after[i].sep != "" {
			break
		}
		if after[i].prep == nil {
			bare++
		}
	}
	d.two = bare > 1 || bare == 1 && len(d.g.Target) > 0
	d.lead(before, len(after) == 0)
	for i := 0; i < len(after); i++ {
		i += d.phrase(after, i)
	}
	d.flush()
	d.g.Fields = append(d.g.Fields, d.colons...)
	return d.finish()
}

func clauseSpan(c *clause) Span {
	return Span{c.items[0].From, c.items[len(c.items)-1].To}
}

// doubled reports whether the text says itself what a pronoun at the verb stands for: es
// "ponle estrellas a las tortitas".
func (d *deed) doubled() bool {
	for i := range d.s.after {
		if d.s.after[i].mark {
			return false
		}
		if d.s.after[i].has(lexicon.Preposition, "to") && d.s.Attr("iobj") != "" && i+1 < len(d.s.after) {
			return true
		}
	}
	return false
}

// denied takes a negation that forbids the whole deed out of the clause: "klick nicht auf X",
// "versende nichts", and what is left of "ne ... pas".
func (d *deed) denied() {
	s := d.s
	take := func(items []item) []item {
		keep := items[:0:0]
		joined := false
		for i := range items {
			it := &items[i]
			joined = joined || it.mark || it.has(lexicon.Conjunction, "and", "or", "but") && !(d.r.lang == "de" &&
				it.has(lexicon.Conjunction, "but") && !slices.ContainsFunc(items[:i], func(o item) bool { return o.content() }))
			if joined || !it.has(lexicon.Negation) || it.value != nil || it.proper(d.r.lang) || it.has(lexicon.Preposition) ||
				it.has(lexicon.Quantity, "still") || !d.forbids(items, i) {
				keep = append(keep, *it)
				continue
			}
			d.g.Forbidden = true
			d.g.Words = append(d.g.Words, it.Span)
		}
		return keep
	}
	s.before, s.after = take(s.before), take(s.after)
}

// forbids reports whether the negation at i is of the verb and not of what follows it.
func (d *deed) forbids(items []item, i int) bool {
	if d.g.Forbidden && d.r.lang == "fr" {
		return true
	}
	if i+1 >= len(items) || items[i+1].mark {
		return d.r.lang == "de" || items[i].has(lexicon.Quantity, "none")
	}
	next := &items[i+1]
	return d.r.lang == "de" && (next.has(lexicon.Preposition) || next.has(lexicon.Conjunction) ||
		next.has(lexicon.Quantity, "again", "anymore", "more")) && !items[i].has(lexicon.Quantity, "none")
}

// unchanged takes "as it is" out of the clause: it says what the verb already does.
func (d *deed) unchanged() {
	keep := d.s.after[:0:0]
	for i := range d.s.after {
		if d.s.after[i].has(lexicon.State, "unchanged") {
			d.g.Words = append(d.g.Words, d.s.after[i].Span)
			continue
		}
		keep = append(keep, d.s.after[i])
	}
	d.s.after = keep
}

// placed are the effects whose verbs say a place themselves: "go back", "continue".
func placed(e Effect) bool {
	return e == Move || e == Scroll || e == Navigate || e == Page || e == Submit || e == Abandon
}

// clitics takes pronouns that are written with the verb: "guárdala".
func (d *deed) clitics() {
	for _, c := range d.s.Clitics {
		if e := d.r.lex.Entry(c, lexicon.Pronoun); e != nil && e.Name == "i" {
			continue
		}
		if len(d.g.Target) == 0 && !d.s.Reflexive && !d.doubled() {
			d.g.Target = []Description{{Span: d.s.spans[0], Pronoun: true}}
		}
	}
}

// lead takes the phrases before the verb: places of a goal whose verb follows them, objects
// of a verb at the end.
func (d *deed) lead(list []phrase, final bool) {
	list = d.adverbs(list)
	if final {
		for i := 0; i < len(list); i++ {
			i += d.phrase(list, i)
		}
		return
	}
	for i := 0; i < len(list); i++ {
		p := &list[i]
		if len(p.core) == 1 && p.prep == nil && p.core[0].has(lexicon.Quantity, "only") {
			d.only = true
			d.g.Words = append(d.g.Words, p.span())
			continue
		}
		if p.prep == nil {
			i += d.phrase(list, i)
			continue
		}
		for i+1 < len(list) && list[i+1].prep != nil && list[i+1].sep == "" {
			i++
			attach(p, list[i])
		}
		m := d.r.description(p)
		d.g.In = &m
	}
}

// phrase puts list[i] into its slot, and returns how many further ones it took.
func (d *deed) phrase(list []phrase, i int) int {
	p := &list[i]
	if d.allOf(p) {
		return 0
	}
	if p.sep == ":" || p.sep == "(" {
		d.flush()
		d.colon = d.colon || p.sep == ":"
	}
	// What stands behind it and marks no slot is part of it.
	n := 0
	for i+n+1 < len(list) {
		next := &list[i+n+1]
		if next.sep == "" && next.prep != nil && n == 0 && d.verbal(p, i) {
			d.labelled(p, next)
			return 1
		}
		if next.sep == "" && next.prep != nil && i > 0 && p.sep != "" && d.formlike() && d.last != "target" &&
			!next.leads("of", "property", "called") {
			break
		}
		if next.sep == "" && next.sense("to") && p.prep == nil && d.s.Attr("iobj") == "target" && len(d.g.Target) == 0 {
			break // "give four stars to the grinder"
		}
		if next.sep == "" && next.prep != nil && next.leads("except") && p.prep != nil && len(d.g.Target) > 0 {
			break
		}
		if d.placeBefore(p, list[i+n+1:]) || d.dated(p, next) {
			break
		}
		if d.g.Effect == Edit && p.prep != nil && next.sep == "" && next.prep != nil && next.leads("in", "on", "under") &&
			d.slot(p, nil) == "text" {
			break
		}
		if next.sep != "" || next.prep == nil || d.slot(next, p) != "" || next.leads("without") && d.formlike() {
			break
		}
		attach(p, *next)
		n++
	}
	if rest := list[i+n+1:]; d.placeBefore(p, rest) {
		m := d.r.description(p)
		d.g.In = &m
		return n
	}
	d.put(p, i+n+1 < len(list) && list[i+n+1].sep == "" && list[i+n+1].prep != nil)
	return n
}

// dated reports whether a phrase is the day of the whole deed and not of the phrase before it, which
// has a slot of its own: "book a flight from Rome to Oslo on 12 May".
func (d *deed) dated(p, next *phrase) bool {
	return d.formlike() && next.sep == "" && next.leads("on", "in", "at", "for") && next.upto == nil && d.r.dateOf(next) != nil &&
		(len(d.colons) > 0 || p.prep != nil && p.prep.as(lexicon.Preposition) != nil && !p.leads("of"))
}

// placeBefore reports whether a phrase says where something is pressed that stands behind it: "klick
// in der Zeile von Bo auf Löschen".
func (d *deed) placeBefore(p *phrase, rest []phrase) bool {
	if d.g.Effect != Press || len(d.g.Target) > 0 || d.g.In != nil || !p.leads("in", "under") &&
		!(d.r.lang == "de" && p.leads("at", "by", "near", "at_home")) || len(rest) == 0 {
		return false
	}
	next := &rest[0]
	return next.sep == "" && next.prep != nil && next.leads("on") && d.r.lang == "de" || next.sep == "" && next.prep == nil
}

// verbal reports whether a phrase behind others is a verb that names a field: "paid by Noor",
// "paying by card", "rows in an Eight".
func (d *deed) verbal(p *phrase, i int) bool {
	if i == 0 || p.sep == "" || p.prep != nil || len(p.core) != 1 || p.core[0].value != nil || !d.formlike() {
		return false
	}
	return len(p.core[0].verbs) > 0 || d.r.lang != "de" && !p.core[0].cap && !p.core[0].has(lexicon.Pronoun)
}

// labelled makes a field of a verb and the phrase behind it.
func (d *deed) labelled(p, q *phrase) {
	d.flush()
	name := d.r.describe(p.core)
	name.Words, name.State, name.Noun, name.Kind = []Word{{Span: p.core[0].Span, Text: p.core[0].text,
		Lemma: d.r.lex.Lemma(p.core[0].text)}}, nil, "", ""
	f := Field{Name: &name, Prep: q.prep.fold, Value: d.r.value(q)}
	f.Span = Span{name.Span.From, f.Value.Span.To}
	d.g.Fields = append(d.g.Fields, f)
	d.last = "field"
}

// attach puts m behind p: "of" and the like to the innermost, places to the whole.
func attach(p *phrase, m phrase) {
	if n := len(p.mods); n > 0 && !p.mods[n-1].bounded() && !m.leads("in", "on", "under", "near", "except") {
		attach(&p.mods[n-1], m)
		return
	}
	p.mods = append(p.mods, m)
}

// allOf reads "them all": the pronoun is written with the verb or stands before the word.
func (d *deed) allOf(p *phrase) bool {
	n := len(d.g.Target)
	if n == 0 || !d.g.Target[n-1].Pronoun || p.prep != nil || p.sep != "" || len(p.core) != 1 || len(p.mods)+len(p.rel) > 0 ||
		!p.core[0].has(lexicon.Quantity, "all") {
		return false
	}
	t := &d.g.Target[n-1]
	t.All = true
	t.Flags = append(t.Flags, p.span())
	return true
}

// finish settles the goal and adds those that its list made.
func (d *deed) finish() []Goal {
	if g := &d.g; d.amount != nil && g.From != nil && len(g.Target) == 1 && len(g.Fields) == 0 {
		name := g.From
		g.Effect, g.From, g.Target = Set, nil, nil
		g.Fields = []Field{{Name: name, Prep: "as", Value: d.r.value(d.amount),
			Span: Span{min(name.Span.From, d.amount.span().From), max(name.Span.To, d.amount.span().To)}}}
	}
	if d.g.Measure == nil {
		d.g.Measure = d.by
	} else if d.by != nil && d.by.Extreme != nil && d.by.Extreme.Measure == "date" && d.r.ofAge(d.g.Measure) {
		d.g.Descending = !d.g.Descending // "by age, the oldest first"
	}
	if d.only && d.object_ && len(d.g.Target) > 0 {
		d.g.Target[0].Only = true // "I want to see open posts only"
	}
	d.r.settle(&d.g, d.s)
	for i := range d.extra {
		if d.extra[i].Forbidden {
			d.extra[i].Effect, d.extra[i].State = d.g.Effect, d.g.State
		}
	}
	for i := range d.before {
		d.r.settle(&d.before[i], d.s)
	}
	if d.only && len(d.g.Target) > 0 {
		d.g.Target[0].Only = true
	}
	return append(append(d.before, d.g), d.extra...)
}
