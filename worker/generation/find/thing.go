package find

import (
	"slices"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// things returns what the description may mean besides records: fields, options, controls,
// containers, columns and lines.
func (s *searcher) things() []Candidate {
	var out []Candidate
	s = s.sideAsName().nextAsWord()
	for _, k := range []struct {
		what What
		list func() []Candidate
	}{
		{Field, s.fields}, {Option, s.options}, {Control, s.controls}, {Container, s.containers}, {Column, s.columnHeads}, {Line, s.lines},
	} {
		if s.wants(k.what) {
			out = append(out, s.pick(k.list())...)
		}
	}
	return out
}

// sideAsName takes what a thing has or is of for its name where it has no other: "the page about
// holidays", "the warnings of the water level". What it is of leaves the noun to be proved.
func (s *searcher) sideAsName() *searcher {
	sides, owned := s.d.Having, s.d.Of != nil && s.d.Noun != ""
	if owned {
		sides = append(slices.Clone(sides), *s.d.Of)
	}
	if len(s.d.Words) > 0 || len(sides) != 1 || len(sides[0].Words) == 0 || sides[0].Pronoun ||
		len(sides[0].Compare)+len(sides[0].Having) > 0 || sides[0].Of != nil {
		return s
	}
	d := *s.d
	d.Words, d.Having, d.Of = sides[0].Words, nil, nil
	t := *s
	t.d, t.joined, t.owned = &d, nil, owned
	t.words = s.ix.phrase(wordAtoms(&d), s.w.Lang)
	return &t
}

// nextAsWord takes "next" for part of the name of a control: "the next week".
func (s *searcher) nextAsWord() *searcher {
	if !s.d.Next || s.d.Pronoun {
		return s
	}
	t := *s
	t.joined = nil
	span := s.d.Span
	if len(s.d.Flags) > 0 {
		span = s.d.Flags[0]
	}
	t.words = s.ix.phrase(append([]atom{{span: span, text: "next"}}, s.words.atoms...), s.w.Lang)
	return &t
}

// pick applies what is said of the set to candidates of one kind.
func (s *searcher) pick(cs []Candidate) []Candidate {
	cs = s.related(cs)
	if s.d.Ordinal != 0 && len(cs) > 0 {
		if named := s.ordinalNamed(cs); len(named) > 0 {
			return named
		}
		return s.ordinal(cs)
	}
	if s.d.Extreme != nil {
		return s.extremeOption(cs)
	}
	if len(s.d.Compare) > 0 {
		return nil // only records can be bounded
	}
	return cs
}

// ordinalNamed returns the candidates that have the ordinal in their name: "Last location".
func (s *searcher) ordinalNamed(cs []Candidate) []Candidate {
	var out []Candidate
	for _, c := range cs {
		if len(c.Missing) == 0 && s.ix.words.ordinalIn(c.Why, s.d.Ordinal) {
			out = append(out, c)
		}
	}
	return out
}

// thing makes a candidate of something with texts; false where nothing of it is meant.
func (s *searcher) thing(w What, index, sub, node int, refs []ref) (Candidate, bool) {
	pr := s.words.explain(refs)
	n := len(s.words.atoms)
	if n > 0 && !pr.own {
		return Candidate{}, false
	}
	pr, named := s.thingNoun(w, index, node, refs, pr, n)
	if n == 0 && !pr.own && (len(pr.used) == 0 || !s.selects() && !s.d.All && !s.d.Both && s.d.Count == 0) {
		if s.d.Kind == "" || len(pr.used) == 0 || w == Line {
			return Candidate{}, false
		}
		pr.score *= 0.8 // "the dialog": the only one there is
	}
	c := Candidate{What: w, Index: index, Sub: sub, Node: node, Score: pr.score, Used: pr.used, Missing: pr.missing}
	s.thingStates(&c, refs)
	s.thingSides(&c, refs)
	if len(refs) > 0 {
		c.Why = s.ix.texts[refs[0].text].source
	}
	c.Score *= s.standing(node)
	if w == Container && n > 0 && !s.words.wholeOf(refs) {
		c.Score *= 0.85 // a section is not what one word of its heading says
	}
	if index >= 0 {
		c.Score *= max(s.kindOf(w, node, index), named)
	}
	s.useInside(&c)
	return c, true
}

// thingStates proves the states that the description asks for.
func (s *searcher) thingStates(c *Candidate, refs []ref) {
	for i := range s.d.State {
		st := &s.d.State[i]
		holds, known := s.ix.nodeState(c.Node, st.Name)
		if c.What == Field && !known {
			holds, known = s.ix.fieldState(&s.m.Fields[c.Index], st.Name)
		}
		if known && holds != st.Not {
			c.Used = append(c.Used, Use{st.Span, "state"})
			continue
		}
		if word := s.ix.phrase([]atom{{span: st.Span, text: st.Text}}, s.w.Lang); st.Text != "" && !st.Not {
			if p := word.explain(refs); len(p.missing) == 0 {
				c.Used = append(c.Used, p.used...)
				continue
			}
		}
		c.Missing = append(c.Missing, st.Span)
		c.Score *= 0.5
	}
}

// thingSides proves what else is said of a thing by the texts of it and around it.
func (s *searcher) thingSides(c *Candidate, refs []ref) {
	sides := s.d.Having
	if s.d.Of != nil && !s.d.Of.Pronoun {
		sides = append(append([]intent.Description{}, sides...), *s.d.Of)
	}
	for i := range sides {
		d := &sides[i]
		p := s.ix.phrase(append(wordAtoms(d), nounAtoms(d)...), s.w.Lang).explain(refs)
		if len(d.Words) > 0 && d.Noun != "" {
			p = s.forgive(p, d)
		}
		c.Used = append(c.Used, p.used...)
		c.Missing = append(c.Missing, p.missing...)
		switch {
		case len(p.missing) > 0:
			c.Score *= 0.5
		case len(p.used) > 0:
			c.Score = (2*c.Score + p.score) / 3
		}
	}
}

func (s *searcher) fields() []Candidate {
	var out []Candidate
	for i := range s.m.Fields {
		f := &s.m.Fields[i]
		if f.Hidden && !s.w.Hidden && s.depth == 0 || !s.eligible(f.Node) || !s.among(Field, f.Node) {
			continue
		}
		if c, ok := s.thing(Field, i, -1, f.Node, s.ix.field(f)); ok {
			if f.Record >= 0 && f.Record < len(s.m.Records) && s.m.Records[f.Record].Title == f.Label {
				c.Score *= 0.94 // the box of a row, that has no other name
			}
			out = append(out, c)
		}
	}
	return out
}

// field returns the texts of a field.
func (ix *index) field(f *page.Field) []ref {
	var refs []ref
	for i, n := range f.Names {
		if i == 0 || n == f.Label || !ix.labelled(n) {
			refs = ix.add(refs, n, title, f.Node)
		}
	}
	if len(f.Names) == 0 {
		refs = ix.add(refs, f.Label, title, f.Node)
	}
	if f.Kind == "editor" || longField(ix.m, f) {
		refs = ix.add(refs, "text", inner, f.Node) // what people call it where it has no label
	}
	if f.Kind == "editor" && !ix.m.Nodes[f.Node].Editable { // it draws its lines itself, as those for code do
		refs = ix.add(refs, "code", inner, f.Node)
	}
	refs = ix.add(refs, f.Group, around, f.Node)
	refs = ix.add(refs, f.Unit, inner, f.Node)
	return ix.around(refs, f.Record, f.Container)
}

func (s *searcher) options() []Candidate {
	var out []Candidate
	for i := range s.m.Fields {
		f := &s.m.Fields[i]
		if len(f.Options) == 0 || f.Hidden && !s.w.Hidden || !s.eligible(f.Node) {
			continue
		}
		owner := s.ix.ownerRefs(f)
		for j := range f.Options {
			o := &f.Options[j]
			node := o.Node
			if node < 0 {
				node = f.Node
			}
			refs := append(s.ix.add(nil, o.Label, title, node), owner...)
			if c, ok := s.thing(Option, i, j, node, refs); ok {
				out = append(out, c)
			}
		}
	}
	return out
}

// ownerRefs returns the texts of a field as those around its options.
func (ix *index) ownerRefs(f *page.Field) []ref {
	refs := ix.field(f)
	for i := range refs {
		refs[i].role = around
	}
	return refs
}

func (s *searcher) controls() []Candidate {
	var out []Candidate
	drawn := s.asDrawn()
	for i := range s.m.Controls {
		c := &s.m.Controls[i]
		if c.Hidden && !s.w.Hidden && c.Reveal < 0 || !s.eligible(c.Node) || !s.among(Control, c.Node) {
			continue
		}
		refs := s.ix.control(c)
		if len(s.w.Kinds) > 0 && s.w.Kinds[0] != Control && !s.both().wholeOf(refs) && !s.words.wholeOf(refs) {
			continue // "the request" is not the button "Send the request"
		}
		cand, ok := s.thing(Control, i, -1, c.Node, refs)
		if drawn != nil && (!ok || len(cand.Missing) > 0) {
			cand, ok = drawn.thing(Control, i, -1, c.Node, refs)
		}
		if ok {
			out = append(out, cand)
		}
	}
	return out
}

// control returns the texts of a control and of what it stands in.
func (ix *index) control(c *page.Control) []ref {
	var refs []ref
	for _, n := range c.Names {
		refs = ix.add(refs, n.Text, title, c.Node)
	}
	if asks(c) {
		refs = ix.add(refs, "question", inner, c.Node)
	}
	if c.Record >= 0 && c.Record < len(ix.m.Records) {
		rec := &ix.m.Records[c.Record]
		refs = ix.add(refs, rec.Title, around, rec.Node)
		for i := range rec.Attributes {
			refs = ix.add(refs, rec.Attributes[i].Text, around, rec.Attributes[i].Node)
		}
		return ix.around(refs, rec.Parent, c.Container)
	}
	if c.Icon {
		refs = ix.beside(refs, c.Node)
	}
	return ix.around(refs, -1, c.Container)
}

func (s *searcher) containers() []Candidate {
	var out []Candidate
	for i := range s.m.Containers {
		c := &s.m.Containers[i]
		if c.Hidden && !s.w.Hidden && c.Opener < 0 || !s.eligible(c.Node) {
			continue
		}
		if cand, ok := s.thing(Container, i, -1, c.Node, s.ix.container(i)); ok {
			out = append(out, cand)
		}
	}
	for g := range s.m.Groups {
		if !s.eligible(s.m.Groups[g].Node) {
			continue
		}
		if cand, ok := s.groupNamed(g); ok {
			cand.Score *= 0.95
			out = append(out, cand)
		}
	}
	return out
}

func (s *searcher) columnHeads() []Candidate {
	var out []Candidate
	for g := range s.m.Groups {
		gr := &s.m.Groups[g]
		for j := range gr.Columns {
			c := &gr.Columns[j]
			node := c.Node
			if node < 0 {
				node = gr.Node
			}
			if c.Name == "" || !s.eligible(node) {
				continue
			}
			refs := s.ix.add(nil, c.Name, title, node)
			refs = s.ix.add(refs, gr.Title, around, gr.Node)
			cand, ok := s.thing(Column, g, j, node, refs)
			if !ok || len(cand.Missing) > 0 {
				cand, ok = s.thing(Column, g, j, node, s.typeWords(refs, gr, c))
			}
			if ok {
				out = append(out, cand)
			}
		}
	}
	return out
}

func (s *searcher) lines() []Candidate {
	var out []Candidate
	for i := range s.m.Lines {
		l := &s.m.Lines[i]
		if !s.eligible(l.Node) || !s.among(Line, l.Node) {
			continue
		}
		if c, ok := s.thing(Line, i, -1, l.Node, s.ix.line(l)); ok {
			out = append(out, c)
		}
	}
	return out
}

// line returns the texts of a line.
func (ix *index) line(l *page.Line) []ref {
	refs := ix.add(nil, l.Text, title, l.Node)
	if l.Record >= 0 && l.Record < len(ix.m.Records) {
		refs = ix.add(refs, ix.m.Records[l.Record].Title, around, l.Node)
	}
	return ix.around(refs, -1, l.Container)
}
