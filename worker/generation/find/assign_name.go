package find

import (
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/lexicon"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// fit is how well a value goes into a place.
type fit struct {
	score float64
	to    Candidate
	label string
	named bool // the text names the field
	// cannot: the field is named, and cannot hold the value.
	cannot bool
	// text is what is left of the value behind the field's label.
	text string
}

// named returns how well the text's name of a field names each field and option; nil where it
// has none, empty where no field is called so.
func (a *assigner) named(f *intent.Field) map[place]Candidate {
	if f.Name == nil {
		return nil
	}
	if len(f.Name.Also) > 0 {
		return a.namedAlso(f)
	}
	w := a.w
	w.Kinds, w.Hidden = []What{Field, Option}, true
	s := newSearcher(a.m, f.Name, w, 0)
	s.enter()
	out := map[place]Candidate{}
	for _, c := range append(s.pick(s.fields()), s.pick(s.options())...) {
		if len(c.Missing) > 0 {
			continue
		}
		p := place{c.Index, -1}
		if c.What == Option {
			p.option = c.Sub
		}
		out[p] = c
	}
	if f.Name.Of != nil {
		for _, c := range s.properties() {
			if c.What == Field && len(c.Missing) == 0 {
				out[place{c.Index, -1}] = c
			}
		}
	}
	if len(out) == 0 {
		a.byRecord(f, s, out)
	}
	if len(out) == 0 && len(f.Name.Words) == 0 && f.Name.Of == nil && (f.Name.Kind == intent.Text_ || f.Name.Kind == intent.Message) {
		a.byKind(f, out)
	}
	return out
}

// byKind takes fields of text that nothing names for "the text", those of several lines first.
func (a *assigner) byKind(f *intent.Field, out map[place]Candidate) {
	for i := range a.m.Fields {
		pf := &a.m.Fields[i]
		if pf.Kind != "text" && pf.Kind != "editor" || pf.ReadOnly || pf.InPlace {
			continue
		}
		c := Candidate{What: Field, Index: i, Sub: -1, Node: pf.Node, Score: 0.75, Used: []Use{{f.Name.NounSpan, "kind"}}}
		if pf.Kind == "editor" || longField(a.m, pf) {
			c.Score = 0.9
		}
		out[place{i, -1}] = c
	}
}

// namedAlso takes the first of several names that is one of a field.
func (a *assigner) namedAlso(f *intent.Field) map[place]Candidate {
	for _, d := range append([]intent.Description{*f.Name}, f.Name.Also...) {
		one := *f
		d.Also = nil
		one.Name = &d
		if out := a.named(&one); len(out) > 0 {
			for p, c := range out {
				c.Used = append(c.Used, Use{f.Name.Span, "called so in brackets"})
				out[p] = c
			}
			return out
		}
	}
	return map[place]Candidate{}
}

// byRecord takes the fields inside the record or container that the text names: "set Paint the
// shed to high priority".
func (a *assigner) byRecord(f *intent.Field, s *searcher, out map[place]Candidate) {
	w := a.w
	w.Kinds = []What{Record, Container}
	found := searchAt(a.m, f.Name, w, 1)
	if len(found.Candidates) == 0 || len(found.Missing) > 0 || found.Ambiguous || found.Plural || found.Candidates[0].Score < 0.8 {
		return
	}
	owner := found.Candidates[0]
	texts, only := 0, -1
	for i := range a.m.Fields {
		pf := &a.m.Fields[i]
		if pf.InPlace { // whose cell it is does not say which one
			continue
		}
		if !a.ix.below(pf.Node, owner.Node) && pf.Record != owner.Index || owner.What == Container && !a.ix.below(pf.Node, owner.Node) {
			continue
		}
		value, _ := a.valueFit(f, pf, place{i, -1})
		if owner.What == Container && value > 0 && (pf.Kind == "text" || pf.Kind == "editor") {
			texts, only = texts+1, i
		}
		if value < 0.5 {
			continue
		}
		c := owner
		c.What, c.Index, c.Node, c.Score = Field, i, pf.Node, owner.Score*0.9*value
		out[place{i, -1}] = c
	}
	if len(out) == 0 && texts == 1 { // the one text that a section asks for
		c := owner
		c.What, c.Index, c.Node, c.Score = Field, only, a.m.Fields[only].Node, owner.Score*0.9
		out[place{only, -1}] = c
	}
}

// fit says how well a value goes into a place.
func (a *assigner) fit(f *intent.Field, p place, named map[place]Candidate) fit {
	pf := &a.m.Fields[p.field]
	out := fit{to: Candidate{What: Field, Index: p.field, Sub: -1, Node: pf.Node, Why: pf.Label}}
	if (pf.Kind == "text" || pf.Kind == "editor") && !f.Off && !f.Keep && Functional(&f.Value, a.w.Lang) {
		return out
	}
	if p.option >= 0 {
		out.to.What, out.to.Sub = Option, p.option
		out.label = pf.Options[p.option].Label
		if n := pf.Options[p.option].Node; n >= 0 {
			out.to.Node = n
		}
	}
	if cut, name, ok := a.cut(f, pf, p); ok {
		value, label := a.valueFit(cut, pf, p)
		out.named, out.text, out.cannot = true, cut.Value.Text, value == 0 && len(pf.Options) > 0
		if label != "" {
			out.label = label
		}
		out.score = 0.58 + 0.4*max(value, 0.15)
		out.to.Score = out.score
		out.to.Used = append(out.to.Used, Use{f.Value.Span, "goes into " + name})
		return out
	}
	value, label := a.valueFit(f, pf, p)
	if label != "" {
		out.label = label
	}
	if value > 0 && pf.Kind == "text" && f.Value.Number != nil && a.preposition(f, pf) > 0 { // "Price from": the end of a range
		value = max(value, a.numberFit(&f.Value, pf))
	}
	name, isNamed := named[p]
	if p.option >= 0 && !isNamed {
		name, isNamed = named[place{p.field, -1}]
		isNamed = isNamed && value > 0.6
	}
	switch {
	case isNamed:
		out.named = true
		out.to.Used = append(out.to.Used, name.Used...)
		if f.Off || f.Keep {
			value = 1
		}
		if a.textKind(pf) == "search" && value > 0 {
			value = max(value, plainFit) // what is typed there says nothing, and it was named
		}
		if value == 0 {
			value = 0.15 // named so, but it cannot hold this: still what was meant
			out.cannot = len(pf.Options) > 0 || pf.Kind == "number" || pf.Kind == "slider" || pf.Kind == "rating"
		}
		out.score = 0.6*name.Score + 0.4*value + a.preposition(f, pf)/4
	case named != nil && !f.Off && !f.Keep:
		// The text names a field, and not this one: only an option that is just the value.
		if value >= 0.9 {
			out.score = 0.55
		}
	case f.Off || f.Keep:
		out.score = value
	default:
		out.score = 0.92*value + a.preposition(f, pf)
		if f.Prep != "" && out.score < 0.5 && f.Value.Number == nil && !f.Value.Quoted && !personal(f.Value.Text) &&
			(pf.Kind == "text" || pf.Kind == "editor") && !a.asksWho(p.field) {
			out.score *= 0.6 // "as a guest" is not what to type into any field
		}
	}
	if out.score > 0 {
		out.to.Used = append(out.to.Used, Use{f.Value.Span, "goes into " + pf.Label})
		for _, v := range f.Value.Also {
			out.to.Used = append(out.to.Used, Use{v.Span, "other word for it"})
		}
		out.to.Score = min(out.score, 1)
	}
	return out
}

// asksWho reports whether a field is the one in front of that for a password: "log in as kim".
func (a *assigner) asksWho(field int) bool {
	if field+1 >= len(a.m.Fields) || a.m.Fields[field].Kind != "text" {
		return false
	}
	n := &a.m.Nodes[a.m.Fields[field+1].Node]
	return n.Password || n.Type == "password"
}

// preposition adds a little where the field is called by the word that joins the value: "to
// Olga" and the field To, "paid by Noor" and the field Paid by.
func (a *assigner) preposition(f *intent.Field, pf *page.Field) float64 {
	if f.Prep == "" {
		return 0
	}
	p := a.ix.phrase([]atom{{text: f.Prep}}, a.w.Lang)
	for _, n := range pf.Names {
		if id := a.ix.id(n); id >= 0 && (p.match(id).hits > 0 || a.leadsName(n, f.Prep) || f.Value.Number != nil && isEnd(n, f.Prep)) {
			return 0.12
		}
	}
	return 0
}

// leadsName reports whether the name of a field begins or ends with a preposition, in its own language:
// "From € a day", "Preis bis". Words of grammar alone match nothing else.
func (a *assigner) leadsName(name, prep string) bool {
	words := strings.Fields(strings.ToLower(name))
	return len(words) > 0 && (a.isPreposition(words[0], prep) || a.isPreposition(words[len(words)-1], prep))
}

// ends are the concepts of words that name the ends of a range.
var ends = map[string][]string{"from": {"minimum", "date_from"}, "to": {"maximum", "date_to"}}

// isEnd reports whether the name of a field begins or ends with a word for the end of a range that a
// preposition stands for: "Max. price", "Preis bis".
func isEnd(name, prep string) bool {
	words := strings.Fields(name)
	if len(words) == 0 {
		return false
	}
	return slices.ContainsFunc([]string{words[0], words[len(words)-1]}, func(w string) bool {
		return lexicon.Means(strings.Trim(w, ".:"), "", ends[prep]...)
	})
}

func (a *assigner) isPreposition(first, prep string) bool {
	if first == strings.ToLower(prep) {
		return true
	}
	for _, code := range []string{a.w.Lang, a.ix.words.page} {
		lex := lexicon.Language(code)
		if lex == nil {
			continue
		}
		e := lex.Entry(strings.Trim(first, ".:"), lexicon.Preposition)
		if e != nil && slices.Contains(e.Names, prep) {
			return true
		}
	}
	return false
}

// unnamed returns the words of the name of a field that the field which took the value, as one
// of its options, does not have.
func (a *assigner) unnamed(f *intent.Field, b *fit) []intent.Span {
	p := a.ix.phrase(append(wordAtoms(f.Name), nounAtoms(f.Name)...), a.w.Lang)
	refs := a.ix.field(&a.m.Fields[b.to.Index])
	refs = append(a.ix.add(refs, b.label, inner, b.to.Node), a.ix.page()...)
	return p.explain(refs).missing
}

// labels takes values that are left over for words of the label of the field beside them:
// "paid, by Noor" and a field Paid by.
func (a *assigner) labels(chosen []int, out *Assignment) {
	for i, j := range chosen {
		if j >= 0 || a.fields[i].Name != nil {
			continue
		}
		for _, k := range []int{i + 1, i - 1} {
			if k < 0 || k >= len(chosen) || chosen[k] < 0 {
				continue
			}
			pf := &a.m.Fields[a.places[chosen[k]].field]
			p := a.ix.phrase(valueAtoms(&a.fields[i].Value), a.w.Lang)
			if pr := p.explain(a.ix.field(pf)[:len(pf.Names)]); len(pr.missing) > 0 || len(pr.used) == 0 {
				continue
			}
			out.use(k, Use{a.fields[i].Value.Span, "label " + pf.Label}, spanOf(&a.fields[i]))
			break
		}
	}
}

// use adds an explained span to the slot of a value, and takes it from what is missing.
func (o *Assignment) use(value int, u Use, span intent.Span) {
	for s := range o.Slots {
		if o.Slots[s].Value == value {
			o.Slots[s].To.Used = append(o.Slots[s].To.Used, u)
		}
	}
	o.Missing = slices.DeleteFunc(o.Missing, func(x intent.Span) bool { return x == span })
}
