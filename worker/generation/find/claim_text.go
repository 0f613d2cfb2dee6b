package find

import (
	"strconv"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/word"
)

// evidence is a text of the subject that a value may be compared with.
type evidence struct {
	text string
	node int
	kind string // text or value
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
	if n, ok := leading(v); ok {
		for _, place := range k.places(d) {
			if g, number := k.numberIn(place.Node); place.What != Control && number == n {
				if number > 0 {
					k.countAll(g)
				}
				k.use(v.Span, "counted")
				k.e.Why += place.Why + " has " + v.Text + "; "
				return true
			}
		}
	}
	k.e.Why += c.Why + " does not show " + v.Text + "; "
	if k.c.Not {
		k.e.Checks = append(k.e.Checks, Check{Kind: "contains", Node: c.Node, Group: -1, Text: v.Text, Not: true})
		k.use(v.Span, "not shown")
	}
	return false
}

// leading returns the number that a value of several words begins with: "3 cards".
func leading(v *intent.Value) (int, bool) {
	words := split(v.Text)
	if len(words) < 2 || v.Quoted {
		return 0, false
	}
	n, err := strconv.Atoi(words[0])
	if err != nil && v.Number != nil {
		return int(*v.Number), true
	}
	return n, err == nil
}

// numberIn returns the largest list in a node, and how many of its records stand there.
func (k *claimer) numberIn(node int) (group, most int) {
	n := map[int]int{}
	for i := range k.m.Records {
		r := &k.m.Records[i]
		if k.ix.below(r.Node, node) && r.Node != node && !k.m.Nodes[r.Node].Hidden {
			if n[r.Group]++; n[r.Group] > most {
				group, most = r.Group, n[r.Group]
			}
		}
	}
	return group, most
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
		if c.Index < 0 { // a cell that can be pressed
			break
		}
		for _, n := range m.Controls[c.Index].Names {
			add(n.Text, c.Node, "text")
		}
	case Line:
		out = k.lineTexts(c, out)
	case Container:
		if c.Node < 0 { // the whole page
			break
		}
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
	for i := c.Index + 1; i < len(m.Lines) && i <= c.Index+4; i++ {
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
