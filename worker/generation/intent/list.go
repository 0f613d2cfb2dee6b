package intent

import (
	"github.com/slipway-qa/slipway/worker/generation/lexicon"
	"slices"
)

// object takes a phrase without a preposition: the direct object, a further one of the list,
// or a value of a field.
func (d *deed) object(p *phrase, more bool) {
	joined := p.sep == "," || p.sep == "and" || p.sep == "or" || p.sep == "but" || p.sep == ":" || p.sep == "(" || p.sep == ">"
	switch n := len(d.g.Target); {
	case p.sep == ">" && n > 0 && len(d.g.Fields) == 0: // "File > Export": what is opened on the way
		way := d.g
		way.Effect, way.Target = Open, d.g.Target[n-1:]
		d.before = append(d.before, way)
		d.g.Target = []Description{d.r.description(p)}
	case d.last == "" || !joined && !d.object_:
		d.object_ = true
		d.first(p, more)
	case !joined:
		d.second(p)
	case d.colon && d.g.Effect == Rate && (d.g.Amount == nil || p.quoted()):
		d.field(p)
	case d.g.Effect == Rate && d.g.Amount != nil:
		d.sibling(p)
	default:
		d.member(p, more)
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
	if d.r.lang != "de" || !slices.Contains(d.s.Attrs("need"), "person") && d.s.Attr("concept") != "assign" ||
		len(p.core) < 4 || !p.core[0].has(lexicon.Article) {
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
		d.member(p, false)
	case d.g.Effect == Edit && d.g.Text == nil:
		d.fill("text", p)
	case d.g.Become == nil && d.g.Effect != Choose && d.g.Effect != Press:
		d.fill("become", p)
	default:
		d.g.Target = append(d.g.Target, d.r.description(p))
	}
}

// member takes a further member of a list.
func (d *deed) member(p *phrase, more bool) {
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
		v.UnitClass = "count"
		rows := Description{Span: p.span(), Kind: PageKind}
		d.extra = append(d.extra, Goal{Span: p.span(), Effect: Page, Verb: p.core[0].Span, Words: []Span{p.span()},
			Amount: &v, Target: []Description{{Span: p.span(), Kind: Row, Having: []Description{rows}}}})
		d.last = "field"
		return
	}
	f := d.r.field(p)
	if f.Name == nil && d.labels && d.r.lang == "de" && len(p.core) > 1 && p.core[0].cap && p.core[0].value == nil {
		name := Description{Span: p.core[0].Span, Words: []Word{{Span: p.core[0].Span, Text: p.core[0].text,
			Lemma: d.r.lex.Lemma(p.core[0].text)}}}
		f.Name, f.Value = &name, d.r.value(&phrase{core: p.core[1:], mods: p.mods})
	}
	d.labels = d.labels || f.Name != nil && d.colon
	d.g.Fields = append(d.g.Fields, f)
	d.last = "field"
}
