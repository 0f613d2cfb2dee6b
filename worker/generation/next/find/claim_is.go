package find

import (
	"github.com/slipway-qa/slipway/worker/generation/next/intent"
	"github.com/slipway-qa/slipway/worker/generation/next/word"
)

// evidence is a text of the subject that a value may be compared with.
type evidence struct {
	text string
	node int
	kind string // text or value
}

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
		ok, known := k.subjectIs(d)
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
		if ok {
			k.found(&f, d)
			k.use(v.Span, "is "+f.Candidates[0].Why)
			k.e.Checks = append(k.e.Checks, Check{Kind: "visible", Node: f.Candidates[0].Node, Group: -1, Text: v.Text})
		}
		all = all && ok
	}
	return all != k.c.Not, all || k.c.Not
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
			k.e = before
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
	if d.Kind != "" && len(d.Words)+len(d.State)+len(d.Having)+len(k.c.Be) == 0 && d.Of == nil && d.Ordinal == 0 && d.Extreme == nil && len(k.c.Values) > 0 {
		if ok, kn := k.named(d); kn {
			return ok, true
		}
	}
	f := search(k.m, d, w)
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
		ok, kn := k.candidateIs(c, d)
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
	for i := range k.c.Values {
		if !k.value(c, d, &k.c.Values[i]) {
			holds = false
		}
	}
	for i := range k.c.Be {
		ok, kn := k.be(c, d, &k.c.Be[i])
		holds, known = holds && ok, known && kn
	}
	return holds != k.c.Not, known
}

// inColumn evaluates the claim for what the things that were spoken of show in a column.
func (k *claimer) inColumn(c *Candidate, d *intent.Description) (holds, known bool) {
	name := k.m.Groups[c.Index].Columns[c.Sub].Name
	holds = true
	for _, x := range k.w.Among {
		if x.What != Record || x.Index >= len(k.m.Records) {
			continue
		}
		for i := range k.m.Records[x.Index].Attributes {
			if k.m.Records[x.Index].Attributes[i].Name != name {
				continue
			}
			a := Candidate{What: Attribute, Index: x.Index, Sub: i, Node: k.m.Records[x.Index].Attributes[i].Node, Why: x.Why}
			ok, kn := k.candidateIs(&a, d)
			holds, known = holds && ok, known || kn
		}
	}
	return holds && known, known
}

// value compares a value with what a thing shows, besides the words that it was found by.
func (k *claimer) value(c *Candidate, d *intent.Description, v *intent.Value) bool {
	p := k.ix.phrase(append(wordAtoms(d), nounAtoms(d)...), k.w.Lang)
	for _, e := range k.texts(c) {
		if !k.equals(e.text, v, p) {
			continue
		}
		k.use(v.Span, "is "+e.text)
		k.e.Checks = append(k.e.Checks, Check{Kind: e.kind, Node: e.node, Group: -1, Text: v.Text, Not: k.c.Not})
		k.e.Why += c.Why + " shows " + e.text + "; "
		return true
	}
	if v.Number != nil && len(split(v.Text)) > 1 {
		for _, place := range k.places(d) {
			if place.What != Control && k.numberIn(place.Node) == int(*v.Number) {
				k.use(v.Span, "counted")
				k.e.Why += place.Why + " has " + v.Text + "; "
				return true
			}
		}
	}
	k.e.Why += c.Why + " does not show " + v.Text + "; "
	if k.c.Not {
		k.use(v.Span, "not shown")
	}
	return false
}

// numberIn returns how many records of the largest list stand in a node.
func (k *claimer) numberIn(node int) int {
	n, most := map[int]int{}, 0
	for i := range k.m.Records {
		r := &k.m.Records[i]
		if k.ix.below(r.Node, node) && r.Node != node && !k.m.Nodes[r.Node].Hidden {
			n[r.Group]++
			most = max(most, n[r.Group])
		}
	}
	return most
}

// texts returns what a thing shows.
func (k *claimer) texts(c *Candidate) []evidence {
	m := k.m
	var out []evidence
	add := func(s string, node int, kind string) {
		if s != "" {
			out = append(out, evidence{s, node, kind})
		}
	}
	switch c.What {
	case Record:
		rec := &m.Records[c.Index]
		for i := range rec.Attributes {
			add(rec.Attributes[i].Text, rec.Attributes[i].Node, "text")
		}
		for _, f := range k.ix.inside[c.Index] {
			add(m.Fields[f].Value, m.Fields[f].Node, "value")
			for _, o := range m.Fields[f].Options {
				if o.Selected {
					add(o.Label, m.Fields[f].Node, "value")
				}
			}
		}
		for _, i := range rec.Controls {
			for _, n := range m.Controls[i].Names[:min(1, len(m.Controls[i].Names))] {
				add(n.Text, m.Controls[i].Node, "text")
			}
		}
		add(m.Nodes[rec.Node].Text, rec.Node, "text")
	case Attribute:
		a := &m.Records[c.Index].Attributes[c.Sub]
		add(a.Text, a.Node, "text")
	case Field:
		f := &m.Fields[c.Index]
		add(f.Value, f.Node, "value")
		for _, o := range f.Options {
			if o.Selected {
				add(o.Label, f.Node, "value")
			}
		}
	case Control:
		add(m.Nodes[c.Node].Value, c.Node, "value")
		add(m.Nodes[c.Node].Text, c.Node, "text")
		for _, n := range m.Controls[c.Index].Names {
			add(n.Text, c.Node, "text")
		}
	case Line:
		out = k.lineTexts(c, out)
	case Container:
		add(m.Nodes[c.Node].Text, c.Node, "text")
		for i := range m.Lines {
			if k.ix.below(m.Lines[i].Node, c.Node) {
				add(m.Lines[i].Text, m.Lines[i].Node, "text")
			}
		}
	}
	return out
}

// lineTexts returns a line and what stands beside and after it, where labels have their values.
func (k *claimer) lineTexts(c *Candidate, out []evidence) []evidence {
	m := k.m
	out = append(out, evidence{m.Nodes[c.Node].Name, c.Node, "text"})
	if c.Index < 0 {
		return out
	}
	l := &m.Lines[c.Index]
	out[len(out)-1].text = l.Text
	for i := c.Index + 1; i < len(m.Lines) && i <= c.Index+2; i++ {
		next := &m.Lines[i]
		if next.Container != l.Container || next.Record != l.Record {
			break
		}
		if k.beside(l.Node, next.Node) || i == c.Index+1 && l.Heading > 0 {
			out = append(out, evidence{next.Text, next.Node, "text"})
		}
	}
	return out
}

// beside reports whether the second node stands right of or right below the first.
func (k *claimer) beside(a, b int) bool {
	x, y := k.m.Nodes[a].Box, k.m.Nodes[b].Box
	row := y[1] < x[1]+x[3] && x[1] < y[1]+y[3]
	under := y[0] < x[0]+x[2] && x[0] < y[0]+y[2] && y[1]-(x[1]+x[3]) < 24
	return row || under || k.m.Nodes[a].Parent == k.m.Nodes[b].Parent
}

// equals reports whether a text is or contains a value, in words that the subject was not found
// by.
func (k *claimer) equals(text string, v *intent.Value, subject *phrase) bool {
	id := k.ix.id(text)
	if id < 0 {
		return false
	}
	if v.Number != nil && k.ix.hasNumber(id, *v.Number, subject.match(id)) {
		return true
	}
	if v.Date != nil && k.ix.words.hasDate(text, v.Date) {
		return true
	}
	p := k.ix.phrase(valueAtoms(v), k.w.Lang)
	m := p.match(id)
	if m.hits < len(p.atoms) || len(p.atoms) > 1 && !m.run {
		return word.Contains(text, v.Text)
	}
	if k.c.Op == "=" && k.c.Property == intent.Is && v.Quoted && !m.whole {
		return word.Contains(text, v.Text)
	}
	return !m.meets(subject.match(id))
}

// be evaluates a state of a thing.
func (k *claimer) be(c *Candidate, d *intent.Description, st *intent.State) (holds, known bool) {
	k.e.Checks = append(k.e.Checks, Check{Kind: "state", Node: c.Node, Group: -1, State: st.Name, Not: st.Not != k.c.Not})
	holds, known = k.state(c, st)
	if known {
		k.use(st.Span, "state")
		k.e.Why += c.Why + pick2(holds, " is ", " is not ") + st.Name + "; "
		return holds != st.Not, true
	}
	v := intent.Value{Span: st.Span, Text: st.Name}
	ok := k.value(c, d, &v)
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
