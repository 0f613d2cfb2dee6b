package find

import (
	"regexp"
	"slices"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
	"github.com/slipway-qa/slipway/worker/generation/word"
)

// is evaluates whether the subjects show, hold or are what the claim says.
func (k *claimer) is() {
	if len(k.c.Subject) == 0 {
		k.e.Known, k.e.Holds = true, true
		k.valuesShown(!k.c.Not)
		return
	}
	k.e.Known, k.e.Holds = true, true
	for i := range k.c.Subject {
		d := &k.c.Subject[i]
		if k.wide(d) {
			k.use(d.Span, "the page")
			k.valuesShown(!k.c.Not)
			continue
		}
		ok, known := k.windowIs(d)
		if !known {
			k.e.Known, k.e.Holds = false, false
			continue
		}
		k.e.Holds = k.e.Holds && ok
	}
}

// wide reports whether a subject is no more than the page: "the page shows", or "it says" of
// several words where nothing was said that it could be.
func (k *claimer) wide(d *intent.Description) bool {
	if len(k.c.Values) == 0 || len(d.Words) > 0 || len(d.State) > 0 || d.Of != nil || len(k.c.Be) > 0 {
		return false
	}
	if d.Kind == intent.PageKind && d.Ordinal == 0 {
		return true
	}
	if !d.Pronoun || d.Noun != "" || d.Extreme != nil || d.Ordinal != 0 || len(d.Having) > 0 {
		return false
	}
	for i := range k.c.Values {
		if v := &k.c.Values[i]; !v.Quoted && len(split(v.Text)) < 2 {
			return false
		}
	}
	return len(k.w.Among) == 0 || k.c.Values[0].Quoted
}

// named evaluates a claim about a thing of which only the kind is said: "the button should say
// Finish" is a button of that name.
func (k *claimer) named(d *intent.Description) (holds, known bool) {
	all := true
	for i := range k.c.Values {
		v := &k.c.Values[i]
		x := *d
		x.Quoted = v.Quoted
		for _, a := range valueAtoms(v) {
			x.Words = append(x.Words, intent.Word{Span: v.Span, Text: a.text})
		}
		f, ok := k.look(&x)
		if ok = ok && k.says(d, &f.Candidates[0]); ok {
			k.found(&f, d)
			k.use(v.Span, "is "+f.Candidates[0].Why)
			k.e.Checks = append(k.e.Checks, Check{Kind: "visible", Node: f.Candidates[0].Node, Group: -1, Text: v.Text})
		} else if k.c.Not {
			k.e.Checks = append(k.e.Checks, Check{Kind: "hidden", Node: -1, Group: -1, Text: v.Text})
		}
		all = all && ok
	}
	return all != k.c.Not, all || k.c.Not
}

// says reports whether a candidate may be the dialog or message that a text stands in: neither is a line
// in a list, and a dialog is no text at all.
func (k *claimer) says(d *intent.Description, c *Candidate) bool {
	switch {
	case opened[d.Kind]:
		return c.What == Container
	case d.Kind == intent.Message:
		return len(c.Assumed) == 0 && (c.What == Record || c.Node < 0 || k.m.RecordAt(c.Node) < 0)
	}
	return true
}

// holdsAll evaluates whether a list or section has all the values in it.
func (k *claimer) holdsAll(d *intent.Description) bool {
	ds := []intent.Description{*d}
	if d.Noun == "" && len(d.Words) == 1 {
		n := *d
		n.Words, n.Noun, n.NounSpan = nil, d.Words[0].Text, d.Words[0].Span
		ds = append(ds, n)
	}
	within := k.w.Within
	defer func() { k.w.Within = within }()
	for i := range ds {
		for _, c := range k.places(&ds[i]) {
			k.w.Within = within
			if c.What != Control {
				k.w.Within = c.Node
			}
			before := k.e
			all := true
			for j := range k.c.Values {
				v := &k.c.Values[j]
				x, ok := k.quoted(v.Text, v.Span)
				all = all && ok
				if ok {
					k.use(v.Span, "in "+c.Why)
					k.e.Checks = append(k.e.Checks, Check{Kind: "visible", Node: x.Node, Group: -1, Text: v.Text})
				}
			}
			if all {
				k.found(&Found{Candidates: []Candidate{c}}, d)
				k.e.Why += c.Why + " holds them; "
				return true
			}
			if k.e = before; k.c.Not && c.What != Control {
				for j := range k.c.Values {
					if v := &k.c.Values[j]; !k.unheard(v) {
						k.use(v.Span, "not in "+c.Why)
					}
					k.e.Checks = append(k.e.Checks, Check{Kind: "contains", Node: c.Node, Group: -1, Text: k.c.Values[j].Text, Not: true})
				}
				k.found(&Found{Candidates: []Candidate{c}}, d)
				return false
			}
		}
	}
	return false
}

// outside are kinds of text that stand outside the records of lists.
var outside = map[intent.Kind]bool{intent.Total: true, intent.Count: true, intent.Message: true, intent.Heading: true}

// subjectIs evaluates the claim for one subject.
func (k *claimer) subjectIs(d *intent.Description) (holds, known bool) {
	w := k.w
	w.Hidden = true
	if outside[d.Kind] && d.Of == nil && len(d.Having) == 0 {
		w.Kinds = []What{Line, Field, Attribute, Container, Column}
	}
	if k.c.Property == intent.Contains && len(k.c.Values) > 0 && k.holdsAll(d) != k.c.Not {
		return true, true
	}
	if d.Pronoun && len(d.Words)+len(d.State)+len(d.Having) == 0 && d.Noun == "" && d.Extreme == nil && d.Ordinal == 0 && len(w.Among) == 0 {
		k.e.Missing = append(k.e.Missing, d.Span)
		k.e.Why += "what is meant is not known; "
		return false, false
	}
	if d.Kind != "" && len(d.Words)+len(d.State)+len(d.Having)+len(k.c.Be) == 0 && d.Of == nil && d.Ordinal == 0 &&
		d.Extreme == nil && len(k.c.Values) > 0 {
		if ok, kn := k.named(d); kn {
			return ok, true
		}
	}
	f := Description(k.m, d, w)
	if len(f.Candidates) == 0 || len(f.Missing) > 0 || f.Candidates[0].Score < Enough {
		k.e.Missing = append(k.e.Missing, missingOf(&f, d)...)
		k.e.Why += said(d) + " was not found; "
		return false, false
	}
	if f.Plural {
		k.found(&f, d)
		all := true
		for i := range f.Candidates {
			ok, kn := k.candidateIs(&f.Candidates[i], d)
			all, known = all && ok, known || kn
		}
		return all, known
	}
	var best *Candidate
	for i := range f.Candidates {
		c := &f.Candidates[i]
		if len(c.Missing) > 0 || c.Score < f.Candidates[0].Score-0.15 {
			break
		}
		if f.Ambiguous && c.What == Record && f.Candidates[0].What == Record && i > 0 {
			break // one of several records: which one is not said
		}
		checks := k.e.Checks
		ok, kn := k.candidateIs(c, d)
		if !ok { // another one may be meant
			k.e.Checks = checks
		}
		if kn && best == nil || ok {
			best, holds, known = c, ok, true
		}
		if ok {
			break
		}
	}
	if best != nil {
		k.found(&Found{Candidates: []Candidate{*best}, Uncertain: f.Uncertain}, d)
	}
	return holds, known
}

// candidateIs evaluates the claim for one thing.
func (k *claimer) candidateIs(c *Candidate, d *intent.Description) (holds, known bool) {
	holds, known = true, len(k.c.Values)+len(k.c.Be) > 0
	if c.What == Column {
		return k.inColumn(c, d)
	}
	if k.c.Not && len(k.c.Values) == 1 && len(k.c.Be) == 0 && k.anyNumber(&k.c.Values[0]) {
		return k.numberless(c, d)
	}
	for i := range k.c.Values {
		if !k.value(c, d, &k.c.Values[i]) {
			if holds = false; k.c.Not && k.unheard(&k.c.Values[i]) {
				return false, false
			}
		}
	}
	for i := range k.c.Be {
		ok, kn := k.be(c, d, &k.c.Be[i])
		holds, known = holds && ok, known && kn
	}
	return holds != k.c.Not, known
}

// anyNumber reports whether a value says no more than that there is a number: "a number behind it".
func (k *claimer) anyNumber(v *intent.Value) bool {
	if v.Quoted || v.Number != nil || v.Date != nil {
		return false
	}
	said := slices.DeleteFunc(split(v.Text), func(w string) bool { return isGrammar(w, k.w.Lang) })
	return len(said) == 1 && k.ix.words.anyOf(k.ix.words.concepts(said[0], langsOf(k.w.Lang)...), "number", "quantity")
}

// numberless evaluates whether a thing shows no number any more: it is known of one that showed one before.
func (k *claimer) numberless(c *Candidate, d *intent.Description) (holds, known bool) {
	number := func(m *page.Model, c *Candidate) string {
		on := &claimer{ix: indexOf(m), m: m, w: Want{Within: -1}}
		for _, e := range on.texts(c) {
			if n := digitsIn.FindString(e.text); n != "" {
				return n
			}
		}
		return ""
	}
	if k.before == nil {
		return number(k.m, c) == "", true
	}
	f := Description(k.before, d, Want{Kinds: []What{c.What}, Lang: k.w.Lang, Within: -1, Hidden: true})
	if len(f.Candidates) == 0 || len(f.Missing) > 0 || f.Plural {
		return false, false
	}
	was := number(k.before, &f.Candidates[0])
	if was == "" {
		return false, false
	}
	k.use(k.c.Values[0].Span, "it shows no number")
	k.e.Why += c.Why + " showed " + was + "; "
	k.e.Checks = append(k.e.Checks, Check{Kind: "contains", Node: c.Node, Group: -1, Text: was, Not: true})
	return number(k.m, c) == "", true
}

var digitsIn = regexp.MustCompile(`\d+`)

// unheard reports whether a value is words of the text alone, which the page has not shown, now or
// before: that something does not show them says nothing.
func (k *claimer) unheard(v *intent.Value) bool {
	if v.Quoted || v.Number != nil || v.Date != nil {
		return false
	}
	for _, m := range []*page.Model{k.m, k.before} {
		if m == nil {
			continue
		}
		on := &claimer{ix: indexOf(m), m: m, w: Want{Within: -1}}
		_, shown := on.quoted(v.Text, v.Span)
		if shown || slices.ContainsFunc(m.Fields, func(f page.Field) bool {
			return slices.ContainsFunc(f.Options, func(o page.Option) bool { return word.Contains(o.Label, v.Text) })
		}) {
			return false
		}
	}
	return true
}

// be evaluates a state of a thing.
func (k *claimer) be(c *Candidate, d *intent.Description, st *intent.State) (holds, known bool) {
	holds, known = k.state(c, st)
	if known {
		k.e.Checks = append(k.e.Checks, Check{Kind: "state", Node: c.Node, Group: -1, State: st.Name, Not: st.Not != k.c.Not})
		k.use(st.Span, "state")
		k.e.Why += c.Why + pick2(holds, " is ", " is not ") + st.Name + "; "
		return holds != st.Not, true
	}
	v := intent.Value{Span: st.Span, Text: st.Name}
	checks := k.e.Checks
	ok := k.value(c, d, &v)
	if st.Not {
		k.e.Checks = append(checks, Check{Kind: "contains", Node: c.Node, Group: -1, Text: st.Text, Not: !k.c.Not})
	}
	if !ok {
		k.use(st.Span, "not shown")
	}
	return ok != st.Not, true
}

// state says whether a thing is in a state that its kind can be in.
func (k *claimer) state(c *Candidate, st *intent.State) (holds, known bool) {
	switch k.ix.words.stateClass(st.Name) {
	case "visible":
		return k.visible(c), true
	case "hidden", "gone":
		return !k.visible(c), true
	case "empty":
		if c.What == Container {
			return k.empty(c.Node), true
		}
	}
	switch c.What {
	case Field:
		if holds, known = k.ix.fieldState(&k.m.Fields[c.Index], st.Name); known {
			return holds, true
		}
	case Option:
		if o := &k.m.Fields[c.Index].Options[c.Sub]; k.ix.words.stateClass(st.Name) == "selected" || k.ix.words.stateClass(st.Name) == "checked" {
			return o.Selected, true
		} else if o.Disabled && k.ix.words.stateClass(st.Name) == "disabled" {
			return true, true
		}
	case Record:
		if has, _ := k.ix.recordState(c.Index, st.Name); has {
			return true, true
		}
		for _, x := range k.m.Records[c.Index].Controls {
			if h, kn := k.ix.nodeState(k.m.Controls[x].Node, st.Name); kn && h && k.m.Nodes[k.m.Controls[x].Node].Checked != "" {
				return true, true
			}
		}
		return false, false
	}
	return k.ix.nodeState(c.Node, st.Name)
}

// empty reports whether no record stands in a node.
func (k *claimer) empty(node int) bool {
	for r := range k.m.Records {
		if k.ix.below(k.m.Records[r].Node, node) && k.m.Records[r].Node != node && !k.m.Nodes[k.m.Records[r].Node].Hidden {
			return false
		}
	}
	return true
}
