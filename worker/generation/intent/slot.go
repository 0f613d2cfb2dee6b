package intent

import (
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/lexicon"
)

// slot returns the slot that a phrase with a preposition takes in this deed, "" where it
// belongs to the phrase before it.
func (d *deed) slot(p, before *phrase) string {
	if p.prep != nil && p.prep.means {
		return "with"
	}
	if d.g.Effect == Edit && d.s.Particle != "" && p.leads("of") && len(d.g.Target) == 0 && before == nil {
		return "target" // es "cambia el nombre de la lista"
	}
	if d.ranges(p) {
		return "range"
	}
	if p.upto != nil && d.r.dateOf(p.upto) != nil && d.formlike() {
		return "field"
	}
	if p.leads("of", "called") && (d.s.Slot(p.prep.text) == "" || before != nil && before.prep != nil || !d.takesFrom(p)) {
		return ""
	}
	if p.leads("except") || (p.leads("with") || d.r.lang == "fr" && p.leads("to") && len(p.core) > 1) && before != nil &&
		d.r.description(p).Extreme != nil { // "the flight with the shortest duration"
		return ""
	}
	if p.leads("instead") {
		return "from"
	}
	slot := d.s.Slot(p.prep.fold)
	if e := p.prep.as(lexicon.Preposition); slot == "" && d.g.Effect == Remove && e != nil && e.Name == "from" &&
		len(strings.Fields(p.prep.fold)) > 1 {
		slot = "from"
	}
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
	case slot == "to" && d.g.Effect == Copy && d.g.To != nil && len(d.g.Target) == 1 && d.g.Target[0].In == nil:
		d.g.Target[0].In, d.g.To = d.g.To, nil // "the code in the table into the field": the first is where it is
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
	if v := p.core[max(0, len(p.core)-1):]; d.g.Effect == Complete && p.leads("with") && len(v) > 0 && v[0].value != nil &&
		v[0].value.UnitClass == "rating" {
		return "field" // "return the book with three stars"
	}
	if slot == "" && d.g.Effect == Move && p.leads("by") && p.holdsValue() {
		return "field"
	}
	if d.r.lang == "es" && slot == "to" && len(d.g.Target) == 0 && !d.object_ && before == nil && d.properName(p) && d.g.Effect == Add {
		return "target" // "invita a Lena"
	}
	if slot == "" && (d.g.Effect == Move || d.g.Effect == Act || d.g.Effect == Add) && p.prep.has(lexicon.Pronoun, "in_it") {
		return "to" // "verschiebe X hinein", "mets-y X"
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
	if d.g.Effect == Choose && p.leads("with", "via", "through") && d.r.satisfies(p, holdsOne) {
		return "from"
	}
	switch d.g.Effect {
	case Select, Rate:
		if p.leads("as") { // "mark the review as helpful": what it becomes, and nothing that it has
			return "field"
		}
	case Add, Submit, Act, SignIn, Abandon:
		if p.leads("in", "on", "under", "near", "of", "about") {
			return ""
		}
		return "field"
	case Press, Remove, Open, Complete, Expand, Close:
		if (p.leads("with", "via", "through") || p.sense("via")) && d.r.instrument(p) {
			return "with"
		}
	case Edit, Set, Increase, Decrease:
		if p.leads("with") && d.g.Effect == Set {
			return "field"
		}
	}
	return ""
}

// holdsOne are the kinds of control that hold what is chosen: "select 17 with the slider".
var holdsOne = []string{string(Slider), string(FieldKind), string(List), string(Radio)}

// container reports whether a phrase names something that holds others.
func (d *deed) container(p *phrase) bool {
	for i := range p.core {
		if e := p.core[i].as(lexicon.Noun_); e != nil && (holder(Kind(e.Name)) || e.Name == string(List) ||
			e.Name == string(Column) || e.Name == string(Tab)) {
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
		for i := range p.core {
			if p.core[i].has(lexicon.Month) || p.core[i].has(lexicon.Unit, "duration") && !p.core[i].cap {
				return false // fr "la demande du mois de juin"
			}
		}
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
	if p.neg != nil && p.neg.has(lexicon.Quantity, "none") && p.prep == nil && d.last != "" && d.settles() && !p.others() {
		q := *p
		q.neg = nil
		d.extra = append(d.extra, Goal{Span: p.span(), Effect: Toggle, Verb: p.neg.Span, Lemma: d.g.Lemma,
			Target: []Description{d.r.description(&q)}})
		return
	}
	if p.neg != nil && p.prep == nil && d.last != "" && (p.others() || !(d.formlike() && p.neg.has(lexicon.Quantity, "none"))) {
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
	if d.colon && d.g.In != nil && d.g.In.Quoted && len(d.g.Target)+len(d.g.Fields) == 0 && p.prep != nil {
		s := Span{p.prep.From, p.span().To} // 'under "Remarks" enter: without onions'
		d.g.Fields = append(d.g.Fields, Field{Name: d.g.In, Value: Value{Span: s, Text: d.r.source[s.From:s.To], Quoted: true}, Span: s})
		d.g.Effect, d.g.In, d.last = Set, nil, "field"
		return
	}
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

// fill puts p into a slot by its name.
func (d *deed) fill(slot string, p *phrase) {
	g := &d.g
	switch slot {
	case "target", "of":
		if g.Effect == Choose && p.measurable() && len(g.Target) == 0 {
			d.amount = p
		}
		if f, ok := d.chosenDate(p); ok {
			g.Effect, g.Fields = Set, append(g.Fields, f)
			break
		}
		g.Target = append(g.Target, d.r.description(p))
	case "name":
		if d.g.Effect == Choose {
			m := d.r.description(p)
			g.From = &m
			break
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
	case "range": // "choose the cabin from 3 to 7 May": two choices
		if len(g.Target) == 0 {
			g.Effect, g.Fields = Set, append(g.Fields, d.r.field(p))
			break
		}
		d.extra = append(d.extra, Goal{Span: p.span(), Effect: Set, Verb: g.Verb, Lemma: g.Lemma, Fields: []Field{d.r.field(p)}})
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
	if p.prep.means || d.r.instrument(p) && !p.holdsValue() {
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
