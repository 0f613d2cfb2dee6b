package intent

import (
	"github.com/slipway-qa/slipway/worker/generation/next/lexicon"
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
	last    string // slot that was filled last
	colon   bool   // behind a colon: values of fields
	before  []Goal // of the same verb, when a list makes several
	only    bool   // "I only want to see X"
	object_ bool   // the direct object was seen
	labels  bool   // fields of the list have labels
	two     bool   // two phrases without a preposition stand behind the verb: "give it a star"
}

// goal reads a clause that says to do something, by one sense of its verb.
func (r *reader) goal(c *clause, s *sense) []Goal {
	d := &deed{r: r, s: s}
	d.g = Goal{Span: clauseSpan(c), Effect: Effect(s.Effect), Verb: s.spans[0], Lemma: s.Lemma, Forbidden: c.forbidden, Expected: c.expected, Begun: c.begun,
		State: s.State, Concept: s.Attr("concept"), Risk: s.Risk}
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
	before := r.chunks(s.before, &s.VerbForm)
	after := d.adverbs(r.chunks(d.spatial(s.after), &s.VerbForm))
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
			joined = joined || it.mark || it.has(lexicon.Conjunction, "and", "or", "but")
			if joined || !it.has(lexicon.Negation) || it.value != nil || it.proper(d.r.lang) || it.has(lexicon.Preposition) || it.has(lexicon.Quantity, "still") || !d.forbids(items, i) {
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
	return d.r.lang == "de" && (next.has(lexicon.Preposition) || next.has(lexicon.Conjunction) || next.has(lexicon.Quantity, "again", "anymore", "more")) && !items[i].has(lexicon.Quantity, "none")
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

// spatial takes out adverbs of place ("back", "to the top") for verbs that have one.
func (d *deed) spatial(items []item) []item {
	out := items[:0:0]
	for i := range items {
		it := &items[i]
		if it.has(lexicon.Preposition, "of") && i > 0 && d.g.Effect == Move && d.g.Place != "" && items[i-1].has(lexicon.Place) && len(d.s.Attrs("to")) > 0 {
			to := *it // "to the top of Doing"
			to.fold = d.s.Attrs("to")[0]
			to.entries = []lexicon.Entry{{Class: lexicon.Preposition, Name: "to", Names: []string{"to"}}}
			out = append(out, to)
			continue
		}
		if e := it.as(lexicon.Place); e != nil && it.value == nil && !it.proper(d.r.lang) && (d.g.Effect == Move || d.g.Effect == Scroll || d.g.Effect == Navigate) && e.Name != "here" {
			d.g.Place = e.Name
			d.g.Words = append(d.g.Words, it.Span)
			continue
		}
		out = append(out, items[i])
	}
	return out
}

// adverbs takes out phrases that are an adverb of the deed: "descending", "twice", "only".
func (d *deed) adverbs(list []phrase) []phrase {
	out := list[:0:0]
	for i := range list {
		p := &list[i]
		if len(p.core) == 1 && p.prep == nil && p.core[0].value == nil && len(p.mods)+len(p.rel) == 0 && (p.core[0].has(lexicon.Quantity, "only") || p.core[0].has(lexicon.Place, "here") && !p.core[0].has(lexicon.Pronoun, "in it")) {
			d.only = d.only || p.core[0].has(lexicon.Quantity, "only")
			d.g.Words = append(d.g.Words, p.span())
			continue
		}
		if d.onlyAdverbs(p) {
			d.g.Words = append(d.g.Words, p.span())
			continue
		}
		if d.g.Effect == Sort && d.order(p) {
			continue
		}
		if e := direction(p); e != nil {
			d.g.Descending = e.Attr("order") == "max"
			d.g.Words = append(d.g.Words, d.directionSpans(p)...)
			if len(p.core) == 0 {
				continue
			}
		}
		out = append(out, *p)
	}
	return out
}

// order reads "the shortest first" and "from the cheapest to the most expensive" as a
// direction of sorting.
func (d *deed) order(p *phrase) bool {
	var e *lexicon.Entry
	first := false
	for i := range p.core {
		it := &p.core[i]
		for k := range it.entries {
			m := &it.entries[k]
			if m.Class == lexicon.Measure && m.Attr("order") != "" && m.Attr("form") != "direction" && e == nil {
				e = m
			}
		}
		first = first || e != nil && (ordinalPlace(it) == 1 || it.as(lexicon.Ordinal) != nil && it.as(lexicon.Ordinal).Value == 1)
	}
	if bare := p.prep == nil && p.sep == "," && e != nil && len(d.r.describe(p.core).Words) == 0; bare {
		first = true
	}
	if e == nil || !first && !p.leads("from", "to", "of", "until") {
		return false
	}
	d.g.Words = append(d.g.Words, p.span())
	if first || !p.leads("to", "until") {
		d.g.Descending = e.Attr("order") == "max"
	}
	if d.g.Measure == nil && e.Attr("of") != "degree" {
		d.g.Measure = &Description{Span: p.span(), Extreme: &Extreme{Span: p.span(), Measure: e.Name, Max: d.g.Descending}}
	}
	return true
}

// onlyAdverbs reports whether a phrase is "yet", "again" or the like and no thing.
func (d *deed) onlyAdverbs(p *phrase) bool {
	if p.prep != nil {
		return p.leads("instead") && len(p.core) > 0 && p.core[0].has(lexicon.Question)
	}
	for i := range p.core {
		if !p.core[i].has(lexicon.Quantity, "again", "still", "too", "already", "anymore", "more") || p.core[i].has(lexicon.Quantity, "other") || len(p.core) > 1 {
			return false
		}
	}
	return len(p.core) > 0 && len(p.rel) == 0 && len(p.mods) == 0
}

// direction returns the sense of a phrase that says how to sort.
func direction(p *phrase) *lexicon.Entry {
	if len(p.core) == 0 {
		return nil
	}
	for i := range p.core {
		for k := range p.core[i].entries {
			e := &p.core[i].entries[k]
			if e.Class == lexicon.Measure && e.Attr("form") == "direction" {
				return e
			}
		}
	}
	return nil
}

// directionSpans takes the words of direction out of p.
func (d *deed) directionSpans(p *phrase) []Span {
	var spans []Span
	var keep []item
	for i := range p.core {
		it := p.core[i]
		if e := direction(&phrase{core: []item{it}}); e != nil {
			spans = append(spans, it.Span)
			continue
		}
		keep = append(keep, it)
	}
	p.core = keep
	return spans
}

// phrase puts list[i] into its slot, and returns how many further ones it took.
func (d *deed) phrase(list []phrase, i int) int {
	p := &list[i]
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
		if next.sep == "" && next.prep != nil && i > 0 && p.sep != "" && d.formlike() && d.last != "target" && !next.leads("of", "property", "called") {
			break
		}
		if next.sep == "" && next.prep != nil && next.leads("except") && p.prep != nil && len(d.g.Target) > 0 {
			break
		}
		if d.g.Effect == Edit && p.prep != nil && next.sep == "" && next.prep != nil && next.leads("in", "on", "under") && d.slot(p, nil) == "text" {
			break
		}
		if next.sep != "" || next.prep == nil || d.slot(next, p) != "" || next.leads("without") && d.formlike() {
			break
		}
		attach(p, *next)
		n++
	}
	d.put(p, i+n+1 < len(list) && list[i+n+1].sep == "" && list[i+n+1].prep != nil)
	return n
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
	name.Words, name.State, name.Noun, name.Kind = []Word{{Span: p.core[0].Span, Text: p.core[0].text, Lemma: d.r.lex.Lemma(p.core[0].text)}}, nil, "", ""
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

// slot returns the slot that a phrase with a preposition takes in this deed, "" where it
// belongs to the phrase before it.
func (d *deed) slot(p, before *phrase) string {
	if dated := p.upto != nil && d.r.dateOf(p.upto) != nil; dated && d.formlike() {
		return "field"
	}
	if p.leads("of", "called") && (d.s.Slot(p.prep.text) == "" || before != nil && before.prep != nil || !d.takesFrom(p)) {
		return ""
	}
	if p.leads("except") {
		return ""
	}
	if p.leads("instead") {
		return "from"
	}
	slot := d.s.Slot(p.prep.fold)
	dated := d.r.dateOf(p) != nil || p.upto != nil
	switch {
	case (slot == "to" || slot == "from") && dated && !d.formlike() && d.g.Effect != Move:
		return ""
	case slot == "name" && d.s.Object() == "target" && d.g.Effect == Set && !p.leads("as"):
		return ""
	case slot == "name" && d.s.Object() == "target" && d.formlike():
		return "field"
	case d.g.Effect == Press && slot == "" && len(d.g.Target) == 0 && before == nil && p.leads("on", "in", "to", "at") && d.last == "":
		return "target"
	case slot == "to" && d.g.Effect == Set && d.s.Object() == "value" && !d.container(p):
		return "name"
	case slot == "to" && d.g.Effect == Add && d.r.labelled(p.core, p) > 0 && !p.quoted() && !d.container(p):
		return "field"
	case slot == "to" && (d.g.To != nil || dated && d.g.Effect != Move), slot == "from" && dated, slot == "become" && d.g.Become != nil:
		return "field"
	case slot == "amount" && d.g.Amount != nil:
		return "field"
	case slot == "amount" && !p.holdsValue() && !p.leads("as"):
		return ""
	case slot == "name" && d.g.Effect == Choose && dated:
		return ""
	case d.g.Effect == Choose && slot == "name" && p.holdsValue() && p.leads("for"):
		return ""
	}
	if p.leads("with") && p.quoted() && slot != "text" && slot != "value" && d.g.Effect != Open && d.g.Effect != Choose && d.g.Effect != Edit {
		return "field"
	}
	if slot == "target" && before != nil && before.prep == nil && !p.leads("for") {
		return ""
	}
	if slot == "field" || slot == "name" && p.leads("of") {
		return ""
	}
	if d.g.Effect == Remove && slot == "from" && d.properName(p) {
		return ""
	}
	if slot != "" {
		return slot
	}
	switch d.g.Effect {
	case Add, Submit, Act, SignIn, Abandon:
		if p.leads("in", "on", "under", "near", "of", "about") {
			return ""
		}
		return "field"
	case Press, Remove, Open, Complete, Expand, Close:
		if p.leads("with", "via", "through") && d.r.instrument(p) {
			return "with"
		}
	case Edit, Set, Increase, Decrease:
		if p.leads("with") && d.g.Effect == Set {
			return "field"
		}
	}
	return ""
}

// container reports whether a phrase names something that holds others.
func (d *deed) container(p *phrase) bool {
	for i := range p.core {
		if e := p.core[i].as(lexicon.Noun_); e != nil && (holder(Kind(e.Name)) || e.Name == string(List) || e.Name == string(Column) || e.Name == string(Tab)) {
			return true
		}
	}
	return false
}

// takesFrom reports whether "de X" says where something is taken from and not whose it is.
func (d *deed) takesFrom(p *phrase) bool {
	switch d.g.Effect {
	case Move:
		return true
	case Remove, Decrease, Complete:
		return p.prep.has(lexicon.Article) || len(p.core) > 0 && p.core[0].has(lexicon.Article) && !d.dayOf(p)
	case Choose, Select:
		return d.r.satisfies(p, []string{string(List), string(Menu), string(FieldKind), string(Table)})
	}
	return false
}

func (d *deed) dayOf(p *phrase) bool { return d.r.dateOf(p) != nil }

// quoted reports whether a quotation stands in the phrase.
func (p *phrase) quoted() bool {
	for i := range p.core {
		if p.core[i].quoted() {
			return true
		}
	}
	return false
}

// properName reports whether a phrase is a name and no kind of thing.
func (d *deed) properName(p *phrase) bool {
	for i := range p.core {
		if p.core[i].has(lexicon.Noun_) || p.core[i].has(lexicon.Article) {
			return false
		}
	}
	return len(p.core) > 0 && (p.core[0].proper(d.r.lang) || p.core[0].cap && d.r.lang == "de" && len(p.core[0].entries) == 0)
}

// instrument reports whether a phrase names a control.
func (r *reader) instrument(p *phrase) bool {
	for i := range p.core {
		if p.core[i].has(lexicon.Noun_, string(Button), string(Icon), string(Link), string(Menu), string(Switch), string(CheckBox)) {
			return true
		}
	}
	return false
}

// put puts a whole phrase into the goal.
func (d *deed) put(p *phrase, more bool) {
	if n := len(d.g.Target); p.leads("except") && n > 0 {
		d.g.Target[n-1].Except = append(d.g.Target[n-1].Except, d.r.description(p))
		return
	}
	if p.neg != nil && p.neg.has(lexicon.Quantity, "none") && p.prep == nil && d.last != "" && d.settles() {
		q := *p
		q.neg = nil
		d.extra = append(d.extra, Goal{Span: p.span(), Effect: Toggle, Verb: p.neg.Span, Lemma: d.g.Lemma, Target: []Description{d.r.description(&q)}})
		return
	}
	if p.neg != nil && p.prep == nil && d.last != "" && !(d.formlike() && p.neg.has(lexicon.Quantity, "none")) {
		d.flush()
		d.exclude(p)
		return
	}
	if p.prep != nil && d.s.Attr("iobj") == "target" && p.sense("to") && len(d.g.Target) == 0 {
		d.fill("target", p)
		return
	}
	if p.prep != nil && !p.leads("without", "lacking") {
		if p.bounded() && d.r.dateOf(p) == nil && d.s.Slot(p.prep.fold) == "" {
			d.stray(p)
			return
		}
		if slot := d.slot(p, nil); slot != "" && !(slot == "from" && p.core != nil && len(p.core) == 0) {
			d.fill(slot, p)
			return
		}
		d.stray(p)
		return
	}
	if p.leads("without", "lacking") || p.neg != nil {
		d.off(p)
		return
	}
	d.object(p, more)
}

// settles reports whether the deed is of kind to settle options: "no X" beside them turns X off.
func (d *deed) settles() bool {
	return d.g.Effect == Toggle || d.g.Effect == Complete || d.g.Effect == Choose || d.g.Effect == Confirm
}

// off takes "no cake", "without mozzarella".
func (d *deed) off(p *phrase) {
	d.flush()
	q := *p
	q.neg = nil
	v := d.r.value(&q)
	name := d.r.description(&phrase{core: q.core, mods: q.mods, rel: q.rel})
	d.g.Fields = append(d.g.Fields, Field{Name: &name, Value: Value{}, Off: true, Span: v.Span})
	d.last = "off"
}

// exclude makes "not B" behind A a goal of its own that must not happen.
func (d *deed) exclude(p *phrase) {
	q := *p
	q.neg = nil
	g := Goal{Span: p.span(), Effect: d.g.Effect, Verb: d.g.Verb, Lemma: d.g.Lemma, Forbidden: true, On: d.g.On}
	desc := d.r.description(&q)
	if n := len(d.g.Fields); n > 0 && len(d.g.Target) == 0 {
		f := d.g.Fields[n-1]
		f.Value = d.r.value(&q)
		g.Fields = []Field{f}
	} else {
		g.Target = []Description{desc}
		g.Become = d.g.Become
	}
	d.extra = append(d.extra, g)
}

// object takes a phrase without a preposition: the direct object, a further one of the list,
// or a value of a field.
func (d *deed) object(p *phrase, more bool) {
	joined := p.sep == "," || p.sep == "and" || p.sep == "or" || p.sep == "but" || p.sep == ":" || p.sep == "(" || p.sep == ">"
	switch {
	case d.last == "" || !joined && !d.object_:
		d.object_ = true
		d.first(p, more)
	case !joined:
		d.second(p)
	case d.g.Effect == Rate && d.g.Amount != nil:
		d.sibling(p)
	case d.colon && d.g.Effect == Rate:
		d.field(p)
	case d.colon || d.formlike() && (p.sep == "," || d.last == "field" || d.last == "value" || d.last == "name"):
		d.again(p, more)
	default:
		d.again(p, more)
	}
}

// sibling begins a further rating: "the breakfast 5".
func (d *deed) sibling(p *phrase) {
	g := d.g
	g.Target, g.Amount, g.Fields = nil, nil, nil
	g.Span = p.span()
	if n := len(p.core); n > 1 && p.core[n-1].value != nil {
		v := d.r.value(&phrase{core: p.core[n-1:]})
		g.Amount = &v
		g.Target = []Description{d.r.describe(p.core[:n-1])}
	} else {
		g.Amount = d.g.Amount
		g.Target = []Description{d.r.description(p)}
	}
	d.extra = append(d.extra, g)
}

// perPage reports whether a phrase is a number of things on a page: "10 per page".
func (r *reader) perPage(p *phrase) bool {
	if len(p.core) == 0 || !p.core[0].number {
		return false
	}
	if len(p.core) == 1 {
		return len(p.mods) == 1 && p.mods[0].leads("per")
	}
	d := r.describe(p.core)
	return r.pageWord(&d)
}

// formlike reports whether values that follow are fields of a form.
func (d *deed) formlike() bool {
	switch d.g.Effect {
	case Add, Submit, Act, SignIn, Set, Edit:
		return true
	}
	return false
}

// first takes the direct object.
func (d *deed) first(p *phrase, more bool) {
	if p = d.dative(p); p == nil {
		return
	}
	slot := d.s.Object()
	if d.s.Attr("iobj") == "target" && len(d.g.Target) == 0 && slot != "target" && (d.two || !p.holdsValue()) {
		d.fill("target", p)
		return
	}
	if d.g.Effect == Set && slot == "target" {
		slot = "name"
	}
	d.fill(slot, p)
}

// dative cuts a person off an object in German, where no preposition stands between: "das
// Ticket Jule Meier" of "weise das Ticket Jule Meier zu".
func (d *deed) dative(p *phrase) *phrase {
	if d.r.lang == "de" && d.two && len(p.core) > 1 && p.core[0].has(lexicon.Article, "dative") && len(d.s.Attrs("to")) > 0 && d.g.To == nil {
		to := d.r.description(p)
		d.g.To, d.object_ = &to, false
		return nil
	}
	if d.r.lang != "de" || !contains(d.s.Attrs("need"), "person") && d.s.Attr("concept") != "assign" || len(p.core) < 4 || !p.core[0].has(lexicon.Article) {
		return p
	}
	for i := 2; i < len(p.core); i++ {
		if !p.core[i].cap || p.core[i].value != nil {
			return p
		}
	}
	to := d.r.describe(p.core[2:])
	d.g.To = &to
	q := *p
	q.core = p.core[:2]
	return &q
}

// second takes another phrase behind the object without a preposition: "give it five stars",
// "make Diego an admin", "call yourself Kim".
func (d *deed) second(p *phrase) {
	switch {
	case d.s.Attr("iobj") == "target" && d.g.Amount == nil && d.s.Object() != "target":
		d.fill(d.s.Object(), p)
	case d.g.Effect == Set && d.name != nil && d.value == nil:
		d.fill("value", p)
	case d.g.Effect == Set || d.formlike():
		d.again(p, false)
	case d.g.Effect == Edit && d.g.Text == nil:
		d.fill("text", p)
	case d.g.Become == nil && d.g.Effect != Choose && d.g.Effect != Press:
		d.fill("become", p)
	default:
		d.g.Target = append(d.g.Target, d.r.description(p))
	}
}

// again takes a further member of a list.
func (d *deed) again(p *phrase, more bool) {
	if more && d.splits() {
		d.split(p)
		return
	}
	switch d.last {
	case "target", "exclude", "direction":
		if d.colon {
			d.field(p)
			return
		}
		if d.formlike() && p.sep == "," && !d.likeTarget(p) {
			d.field(p)
			return
		}
		if p.sep == ">" || !d.formlike() || p.sep != ":" {
			d.g.Target = append(d.g.Target, d.r.description(p))
			return
		}
		d.field(p)
	case "name", "value", "field", "off", "become", "with", "to", "for":
		d.flush()
		if d.g.Effect == Set && more {
			d.first(p, more)
			return
		}
		if d.last == "to" && d.g.To != nil && (!d.formlike() || p.sep == "and") {
			d.g.To.Or = append(d.g.To.Or, d.r.description(p))
			return
		}
		if d.g.Effect == Set && d.s.Object() == "value" && more {
			d.first(p, more)
			return
		}
		d.field(p)
	case "measure":
		d.field(p)
	default:
		d.field(p)
	}
}

// splits reports whether a further member of a list with a phrase of its own behind it begins
// a goal of its own: "Bicycle as the kind and Zweirad as the brand", "A to X and B to Y".
func (d *deed) splits() bool {
	switch d.g.Effect {
	case Choose, Move, Complete, Edit, Increase, Decrease, Remove, Rate:
		return d.g.From != nil || d.g.To != nil || d.g.Become != nil || d.g.Amount != nil || d.g.Text != nil
	}
	return false
}

// split puts the goal so far aside and begins another of the same verb.
func (d *deed) split(p *phrase) {
	d.flush()
	d.before = append(d.before, d.g)
	g := d.g
	g.Target, g.From, g.To, g.Become, g.Amount, g.Text, g.Fields, g.Words = nil, nil, nil, nil, nil, nil, nil, nil
	d.g, d.last = g, ""
	d.first(p, true)
}

// likeTarget reports whether a further member of a list looks like the target: both are
// quoted, or both have an article.
func (d *deed) likeTarget(p *phrase) bool {
	if len(d.g.Target) == 0 || len(p.core) == 0 {
		return false
	}
	first := d.g.Target[len(d.g.Target)-1]
	if first.Quoted && p.core[0].quoted() {
		return true
	}
	return p.core[0].has(lexicon.Article) && first.Span.To < p.core[0].From
}

// field takes a phrase for the value of a field, with its label where it has one.
func (d *deed) field(p *phrase) {
	d.flush()
	if d.r.perPage(p) { // "10 per page"
		v := d.r.value(&phrase{core: p.core[:1]})
		rows := Description{Span: p.span(), Kind: PageKind}
		d.extra = append(d.extra, Goal{Span: p.span(), Effect: Page, Verb: p.core[0].Span, Words: []Span{p.span()}, Amount: &v, Target: []Description{{Span: p.span(), Kind: Row, Having: []Description{rows}}}})
		d.last = "field"
		return
	}
	f := d.r.field(p)
	if f.Name == nil && d.labels && d.r.lang == "de" && len(p.core) > 1 && p.core[0].cap && p.core[0].value == nil {
		name := Description{Span: p.core[0].Span, Words: []Word{{Span: p.core[0].Span, Text: p.core[0].text, Lemma: d.r.lex.Lemma(p.core[0].text)}}}
		f.Name, f.Value = &name, d.r.value(&phrase{core: p.core[1:], mods: p.mods})
	}
	d.labels = d.labels || f.Name != nil && d.colon
	d.g.Fields = append(d.g.Fields, f)
	d.last = "field"
}

// stray takes a phrase with a preposition that no slot of the frame has, and nothing before it
// that it belongs to.
func (d *deed) stray(p *phrase) {
	m := d.r.description(p)
	switch {
	case p.leads("in", "on", "under", "at", "near", "among"):
		if d.g.In == nil {
			d.g.In = &m
			return
		}
		d.g.Fields = append(d.g.Fields, Field{Prep: p.prep.fold, Value: d.r.value(p), Span: m.Span})
	case p.leads("with", "via", "through") && d.g.With == nil && d.r.instrument(p):
		d.g.With = &m
	case p.leads("to", "into") && d.g.To == nil && d.g.Effect != Choose:
		d.g.To = &m
	case len(d.g.Target) == 0 && !d.formlike() && d.g.Effect != Search:
		d.r.modifyEmpty(&d.g, p, m)
	default:
		d.g.Fields = append(d.g.Fields, Field{Prep: p.prep.fold, Value: d.r.value(p), Span: m.Span})
		d.last = "field"
	}
}

// modifyEmpty makes a phrase with a preposition the target where there is none.
func (r *reader) modifyEmpty(g *Goal, p *phrase, m Description) {
	if len(m.Compare) == 0 {
		if c := r.comparison(p); c != nil {
			m = Description{Span: m.Span, Compare: []Comparison{*c}}
		}
	}
	g.Target = append(g.Target, m)
}

// fill puts p into a slot by its name.
func (d *deed) fill(slot string, p *phrase) {
	g := &d.g
	switch slot {
	case "target", "of":
		g.Target = append(g.Target, d.r.description(p))
	case "name":
		if d.g.Effect == Choose {
			m := d.r.description(p)
			g.From = &m
			break
		}
		if p.leads("as") && d.s.Object() == "target" && d.name != nil && d.value == nil {
			d.value, d.name = d.name, nil // "fill in Kai as the name"
		}
		d.half(&d.name, p)
	case "from", "become", "amount":
		d.flush()
		d.slotted(slot, p)
	case "value":
		if m := d.r.description(p); holder(m.Kind) && !m.Quoted && !p.holdsValue() && p.prep == nil {
			d.g.In = &m
			break
		}
		d.half(&d.value, p)
	case "to":
		d.flush()
		m := d.r.description(p)
		g.To = &m
		if p.leads("before", "after", "below", "above") {
			g.Place = p.senses[0]
		}
	case "text":
		v := d.r.value(p)
		g.Text = &v
	case "measure", "by":
		m := d.r.description(p)
		g.Measure = &m
	case "with":
		d.withSlot(p)
	default:
		d.flush()
		f := d.r.field(p)
		if p.prep != nil && f.Name == nil {
			f.Prep = p.prep.fold
		}
		g.Fields = append(g.Fields, f)
	}
	d.last = slot
	if slot == "for" {
		d.last = "field"
	}
}

// slotted fills From, Become or Amount.
func (d *deed) slotted(slot string, p *phrase) {
	switch slot {
	case "from":
		m := d.r.description(p)
		d.g.From = &m
	case "become":
		v := d.r.value(p)
		d.g.Become = &v
	case "amount":
		v := d.r.value(p)
		if one := 1.0; v.Number == nil && len(p.core) > 1 && p.core[0].has(lexicon.Article, "indefinite") {
			v.Number, v.Unit = &one, v.Text
		}
		d.g.Amount = &v
	}
}

// holder reports whether a kind holds fields and is none itself.
func holder(k Kind) bool {
	switch k {
	case Form, Dialog, Section, Table, Frame, PageKind, Card, Row:
		return true
	}
	return false
}

// withSlot takes "with ...": an instrument, or the value of a field.
func (d *deed) withSlot(p *phrase) {
	if d.r.instrument(p) && !p.holdsValue() {
		m := d.r.description(p)
		d.g.With = &m
		return
	}
	f := d.r.field(p)
	if f.Name == nil {
		f.Prep = p.prep.fold
	}
	d.g.Fields = append(d.g.Fields, f)
}

// half takes one half of a field; a second one of the same kind begins the next field.
func (d *deed) half(at **phrase, p *phrase) {
	if *at != nil {
		d.flush()
	}
	q := *p
	*at = &q
	if p.prep != nil {
		d.prep = p.prep.fold
	}
	if d.name != nil && d.value != nil {
		d.flush()
	}
}

// flush makes a field of the halves.
func (d *deed) flush() {
	if d.name == nil && d.value == nil {
		return
	}
	f := Field{Prep: d.prep}
	switch {
	case d.value == nil && d.g.Effect == Set:
		f = d.r.field(d.name)
		if f.Name == nil && d.name.prep == nil && !d.name.holdsValue() && len(d.g.Fields) == 0 && (d.s.Attr("need") != "person" || !d.name.core[len(d.name.core)-1].cap) {
			d.g.Target = append(d.g.Target, d.r.description(d.name))
			d.name = nil
			return
		}
	case d.name != nil && d.value.quoted() && d.r.labelled(d.value.core, d.value) > 0 && d.g.To == nil && d.prep != "as":
		f = d.r.field(d.value)
		to := d.r.description(d.name)
		d.g.To = &to
	case d.name == nil:
		f = d.r.field(d.value)
		f.Prep = d.prep
	case d.value != nil && d.value.upto != nil && d.r.dateOf(d.value.upto) == nil:
		d.rangeOf()
		return
	default:
		name := d.r.description(d.name)
		f.Name = &name
		if d.value != nil {
			f.Value = d.r.value(d.value)
			f.Span = Span{min(name.Span.From, f.Value.Span.From), max(name.Span.To, f.Value.Span.To)}
		}
	}
	d.g.Fields = append(d.g.Fields, f)
	d.name, d.value, d.prep = nil, nil, ""
}

// rangeOf makes a filter of a field that is set to a range: "limit the price to 60 to 100".
func (d *deed) rangeOf() {
	name := d.r.description(d.name)
	c := d.r.comparison(d.value)
	c.Measure = &name
	d.g.Effect = Filter
	d.g.Target = append(d.g.Target, Description{Span: Span{min(name.Span.From, c.Span.From), max(name.Span.To, c.Span.To)}, Compare: []Comparison{*c}})
	d.name, d.value, d.prep = nil, nil, ""
}

// finish settles the goal and adds those that its list made.
func (d *deed) finish() []Goal {
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
