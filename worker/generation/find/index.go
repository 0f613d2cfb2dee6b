package find

import (
	"github.com/slipway-qa/slipway/worker/generation/page"
	"github.com/slipway-qa/slipway/worker/generation/word"
)

// role is what a text is to the thing that has it.
type role uint8

// The roles, nearest to the thing first.
const (
	title   role = iota // what it is called
	value               // of an attribute
	label               // name of an attribute
	state               // a state that it has
	inner               // name of a control or field inside it
	around              // title of a record or container around it
	whole               // title of the group or page, header, counter
	roleEnd             // number of roles
)

// weight is what a word is worth that a text of the role explains.
var weight = [roleEnd]float64{title: 1, value: 0.96, label: 0.9, state: 0.92, inner: 0.85, around: 0.86, whole: 0.86}

var roleNames = [roleEnd]string{
	title: "title", value: "attribute", label: "column", state: "state", inner: "control", around: "in", whole: "group",
}

// ref is a text of a thing.
type ref struct {
	text int // in index.texts
	role role
	node int
	name string // of an attribute
	sub  int    // which attribute
	far  int    // of what stands around: how many others stand between
}

// columnText marks texts of a group that are names of its columns.
const columnText = -2

// index is what all searches of one model share: its texts, prepared once, and which things
// have them. It is kept in Model.Memo.
type index struct {
	m     *page.Model
	ids   map[string]int
	texts []text
	// ends holds for each node the last node below it: nodes are in the order of the document.
	ends []int
	// records are the texts of each record, nil before they are asked for.
	records [][]ref
	groups  [][]ref
	general []ref
	// inside are the fields by record.
	inside map[int][]int
	labels map[string]bool // of the fields, nil before they are asked for
	words  *words
	lists  int // one more than how many lists there are, 0 before they are counted
	// comparers are by the language of what is looked for.
	comparers map[string]*word.Comparer
}

// indexOf returns the index of a model.
func indexOf(m *page.Model) *index {
	if ix, ok := m.Memo.(*index); ok && ix.m == m {
		return ix
	}
	ix := &index{
		m: m, ids: make(map[string]int, len(m.Lines)+len(m.Records)), records: make([][]ref, len(m.Records)),
		groups: make([][]ref, len(m.Groups)), inside: map[int][]int{}, words: wordsOf(m),
		comparers: map[string]*word.Comparer{},
	}
	ix.ends = subtrees(m)
	for i := range m.Containers {
		// A section that only its heading shows holds what follows it.
		if c := &m.Containers[i]; c.Node >= 0 && c.Node < len(ix.ends) {
			ix.ends[c.Node] = max(ix.ends[c.Node], min(c.End, len(ix.ends))-1)
		}
	}
	for i := range m.Fields {
		if r := m.Fields[i].Record; r >= 0 {
			ix.inside[r] = append(ix.inside[r], i)
		}
	}
	m.Memo = ix
	return ix
}

// subtrees returns for each node the index of the last one below it.
func subtrees(m *page.Model) []int {
	ends := make([]int, len(m.Nodes))
	for i := range ends {
		ends[i] = i
	}
	for i := len(m.Nodes) - 1; i > 0; i-- {
		if p := m.Nodes[i].Parent; p >= 0 && p < i {
			ends[p] = max(ends[p], ends[i])
		}
	}
	return ends
}

// below reports whether node is outer or stands in it.
func (ix *index) below(node, outer int) bool {
	return outer >= 0 && outer < len(ix.ends) && node >= outer && node <= ix.ends[outer]
}

// holds reports whether a node is in outer, or in the section that outer is the heading of.
func (ix *index) holds(outer, node int) bool {
	return ix.below(node, outer) || node > outer && node <= ix.section(outer)
}

// section returns the index of the last node of the section that only a heading shows; -1.
func (ix *index) section(heading int) int {
	for i := range ix.m.Containers {
		if c := &ix.m.Containers[i]; c.Node == heading && c.End-1 > ix.ends[heading] {
			return c.End - 1
		}
	}
	return -1
}

// nested reports whether one of two nodes is or holds the other.
func (ix *index) nested(a, b int) bool { return ix.below(a, b) || ix.below(b, a) }

// id returns the number of a text, which is prepared when it is first seen; -1 of "".
func (ix *index) id(s string) int {
	if s == "" {
		return -1
	}
	if i, ok := ix.ids[s]; ok {
		return i
	}
	i := len(ix.texts)
	ix.texts = append(ix.texts, text{source: s})
	ix.ids[s] = i
	return i
}

// add appends a text to refs, where it is one.
func (ix *index) add(refs []ref, s string, as role, node int) []ref {
	if i := ix.id(s); i >= 0 {
		refs = append(refs, ref{text: i, role: as, node: node, sub: -1})
	}
	return refs
}

// record returns the texts of a record itself and of the records and containers around it.
func (ix *index) record(r int) []ref {
	if ix.records[r] == nil {
		ix.records[r] = ix.around(ix.ownTexts(r), ix.m.Records[r].Parent, ix.containerOf(ix.m.Records[r].Node))
	}
	return ix.records[r]
}

// ownTexts returns the texts of a record: title, attributes, states, what its fields hold.
func (ix *index) ownTexts(r int) []ref {
	rec := &ix.m.Records[r]
	refs := ix.add(nil, rec.Title, title, rec.Node)
	for i := range rec.Attributes {
		a := &rec.Attributes[i]
		if t := ix.id(a.Text); t >= 0 && a.Text != rec.Title {
			refs = append(refs, ref{text: t, role: value, node: a.Node, name: a.Name, sub: i})
		}
		if t := ix.id(a.Name); t >= 0 {
			refs = append(refs, ref{text: t, role: label, node: a.Node, name: a.Name, sub: i})
		}
	}
	for _, s := range rec.States {
		refs = ix.add(refs, s, state, rec.Node)
	}
	for _, f := range ix.inside[r] {
		refs = ix.fieldInRecord(refs, &ix.m.Fields[f])
	}
	for _, c := range rec.Controls {
		for _, n := range ix.m.Controls[c].Names {
			refs = ix.add(refs, n.Text, inner, ix.m.Controls[c].Node)
		}
	}
	return refs
}

// fieldInRecord adds what a field shows of the record that it stands in.
func (ix *index) fieldInRecord(refs []ref, f *page.Field) []ref {
	refs = ix.add(refs, f.Value, value, f.Node)
	for _, o := range f.Options {
		if o.Selected && o.Label != f.Value {
			refs = ix.add(refs, o.Label, value, f.Node)
		}
	}
	for _, n := range f.Names {
		refs = ix.add(refs, n, inner, f.Node)
	}
	return refs
}

// around adds the titles of the records and containers around a thing.
func (ix *index) around(refs []ref, record, container int) []ref {
	for n := 0; record >= 0 && record < len(ix.m.Records) && n < 16; n++ {
		rec := &ix.m.Records[record]
		refs = ix.add(refs, rec.Title, around, rec.Node)
		for i := range rec.Attributes {
			refs = ix.add(refs, rec.Attributes[i].Text, around, rec.Attributes[i].Node)
		}
		record = rec.Parent
	}
	far := 0
	for n := 0; container >= 0 && container < len(ix.m.Containers) && n < 32; n++ {
		c := &ix.m.Containers[container]
		if t := ix.id(c.Title); t >= 0 && (len(refs) == 0 || refs[len(refs)-1].text != t) {
			refs = append(refs, ref{text: t, role: around, node: c.Node, sub: -1, far: far})
			far++
		}
		container = c.Parent
	}
	return refs
}

// containerOf returns the innermost container around a node, -1 without one.
func (ix *index) containerOf(node int) int {
	if ix.m.Index() != nil {
		c := ix.m.ContainerAt(node)
		for n := 0; c >= 0 && ix.m.Containers[c].Node == node && n < 8; n++ {
			c = ix.m.Containers[c].Parent
		}
		return c
	}
	best := -1
	for i := range ix.m.Containers {
		if n := ix.m.Containers[i].Node; ix.below(node, n) && node != n && (best < 0 || n >= ix.m.Containers[best].Node) {
			best = i
		}
	}
	return best
}

// group returns the texts that may name the things of a group.
func (ix *index) group(g int) []ref {
	if g < 0 || g >= len(ix.groups) {
		return nil
	}
	if ix.groups[g] == nil {
		gr := &ix.m.Groups[g]
		refs := ix.add([]ref{}, gr.Title, whole, gr.Node)
		for _, c := range gr.Columns {
			if t := ix.id(c.Name); t >= 0 {
				refs = append(refs, ref{text: t, role: whole, node: c.Node, sub: columnText})
			}
		}
		if gr.Counter >= 0 && gr.Counter < len(ix.m.Nodes) {
			refs = ix.add(refs, ix.m.Nodes[gr.Counter].Name, whole, gr.Counter)
		}
		ix.groups[g] = ix.around(refs, -1, ix.containerOf(gr.Node))
	}
	return ix.groups[g]
}

// page returns the texts that say what the whole page is about.
func (ix *index) page() []ref {
	if ix.general == nil {
		ix.general = ix.add([]ref{}, ix.m.Title, whole, -1)
		for i := range ix.m.Lines {
			if l := &ix.m.Lines[i]; l.Heading > 0 && l.Record < 0 {
				ix.general = ix.add(ix.general, l.Text, whole, l.Node)
			}
		}
		for i := range ix.m.Controls {
			if c := &ix.m.Controls[i]; c.Record < 0 && len(c.Names) > 0 {
				ix.general = ix.add(ix.general, c.Names[0].Text, whole, c.Node)
			}
		}
	}
	return ix.general
}

// labelled reports whether a text is the label of a field: what stands near another field, and is
// the label of this one, does not name that other one.
func (ix *index) labelled(text string) bool {
	if ix.labels == nil {
		ix.labels = make(map[string]bool, len(ix.m.Fields))
		for i := range ix.m.Fields {
			ix.labels[ix.m.Fields[i].Label] = true
		}
	}
	return ix.labels[text]
}
