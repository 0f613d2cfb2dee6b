package page

import (
	"slices"

	"github.com/slipway-qa/slipway/worker/generation/page/shape"
)

const (
	besideGap = 260 // pixels between a label and the field to its right
	aboveGap  = 40
	maxLabel  = 80
)

// labelOf returns the texts by which a field may be called, best first.
func (b *builder) labelOf(i int) []string {
	n := &b.Nodes[i]
	var names []string
	add := func(text string) {
		text = once(shape.Label(shape.WithoutIcons(text)))
		if text != "" && len(text) <= maxLabel && !slices.Contains(names, text) && shape.Lettered(text) {
			names = append(names, text)
		}
	}
	if len(n.Options) == 0 { // the label around a select says its options too
		add(n.Label)
	}
	if n.Name != n.Placeholder && n.Name != n.Title {
		add(n.Name)
	}
	if r := b.record[i]; len(names) == 0 && r >= 0 {
		add(b.cellLabel(i))
	}
	if len(names) == 0 {
		for _, text := range b.wrapperLabel(i) {
			add(text)
		}
	}
	near, above := b.nearLabel(i)
	if n.Placeholder != "" && above {
		add(n.Placeholder) // what is above may be of the whole block
	}
	add(near)
	add(n.Placeholder)
	add(n.Title)
	for _, id := range []string{n.NameAttr, n.TestID, n.ID} {
		if readable(id) {
			add(id)
			break
		}
	}
	return names
}

// once returns a label that markup says twice ("Guest or room Guest or room") once.
func once(text string) string {
	if n := len(text); n > 4 && n%2 == 1 && text[n/2] == ' ' && text[:n/2] == text[n/2+1:] {
		return text[:n/2]
	}
	return text
}

// wrapperLabel returns what the element is called that is around a field and nothing else:
// by its own label, or by the only text in it.
func (b *builder) wrapperLabel(i int) []string {
	for up, k := b.X.Parent(i), 0; up >= 0 && k < 5; up, k = b.X.Parent(up), k+1 {
		n := &b.Nodes[up]
		if b.X.End(up)-up > 40 || b.member[up] >= 0 || n.Role == "form" || n.Tag == "form" || b.severalFields(up) {
			return nil
		}
		if n.Label != "" {
			return []string{n.Label}
		}
		var texts []string
		for _, l := range b.LeavesIn(up, b.X.End(up), 6) {
			if shape.Worded(b.Leaf[l]) && !b.Nodes[l].Hidden && !b.X.Contains(i, l) && !b.InButton(l, up) && !b.heads(l) {
				texts = append(texts, b.Leaf[l])
			}
		}
		switch {
		case len(texts) == 1 && len(texts[0]) <= maxLabel:
			return texts
		case len(texts) > 1 && len(texts) <= maxTold && switched[b.Nodes[i].Role] && len(texts[0]) <= maxLabel && b.aloneIn(up, i):
			return texts[:1] // a setting with what it does below its name
		case len(texts) > 1:
			return nil
		}
	}
	return nil
}

// switched are the roles of what is turned on and off; "" is what is only drawn so.
var switched = map[string]bool{"switch": true, "checkbox": true, "": true}

// maxTold is how many texts a setting has: its name, and what it does.
const maxTold = 3

// aloneIn reports whether nothing else in an element can be used.
func (b *builder) aloneIn(up, i int) bool {
	for j := up + 1; j < b.X.End(up); j++ {
		if n := &b.Nodes[j]; n.Interactive && !n.Hidden && !b.X.Contains(i, j) && !b.X.Contains(j, i) {
			return false
		}
	}
	return true
}

// cellLabel returns the header of the column that a field stands in.
func (b *builder) cellLabel(i int) string {
	for j, k := i, 0; j >= 0 && k < 12; j, k = b.X.Parent(j), k+1 {
		if shape.CellRoles[b.Nodes[j].Role] {
			if r := b.record[j]; r >= 0 {
				if heads := b.headsOf(b.groups[b.Records[r].Group]); b.Nodes[j].Column < len(heads) {
					return b.headerName(heads[b.Nodes[j].Column])
				}
			}
			return shape.Label(b.Nodes[j].ColumnHeader)
		}
	}
	return ""
}

// nearLabel returns the text near a field, and whether it stands above and is no label by tag.
func (b *builder) nearLabel(i int) (text string, above bool) {
	role := b.Nodes[i].Role
	if role == "checkbox" || role == "radio" || role == "switch" {
		return b.nearText(i), false
	}
	text, l := b.textBeforeAt(i)
	return text, l >= 0 && !b.SameLine(l, i) && b.Nodes[l].Tag != "label"
}

// nearText returns the text that stands beside or above a field; right of boxes to tick.
func (b *builder) nearText(i int) string {
	role := b.Nodes[i].Role
	if role == "checkbox" || role == "radio" || role == "switch" {
		if text := b.textAfter(i, 40); text != "" {
			return text
		}
	}
	return b.textBefore(i)
}

// textBefore returns the text left of a node or above it, that is not another field's.
func (b *builder) textBefore(i int) string {
	text, _ := b.textBeforeAt(i)
	return text
}

func (b *builder) textBeforeAt(i int) (string, int) {
	k, _ := slices.BinarySearch(b.Leaves, i)
	left, top, _, _ := b.Box(i)
	for tries := 0; k > 0 && tries < 5; tries++ {
		k--
		l := b.Leaves[k]
		n := &b.Nodes[l]
		if n.Hidden || !shape.Worded(b.Leaf[l]) {
			continue
		}
		if b.InButton(l, -1) || n.Interactive && n.Tag != "label" || len(n.Options) > 0 || len(b.Leaf[l]) > maxLabel ||
			b.fieldBetween(l, i) || b.heads(l) {
			return "", -1
		}
		if b.record[l] != b.record[i] {
			return "", -1
		}
		x1, _, x2, y2 := b.Box(l)
		beside := b.SameLine(l, i) && x2 <= left+4 && left-x2 < besideGap
		above := y2 <= top+6 && top-y2 < aboveGap && x1 < left+b.Nodes[i].Box[2] && x2 > left-30 && shape.Abs(x1-left) < 120
		if above && !beside && shape.TypedRoles[b.Nodes[i].Role] && b.nearerBefore(k, left) {
			continue // labels side by side, with their fields below
		}
		if above && !beside && b.goesOn(k) {
			return "", -1 // the beginning of a sentence
		}
		if tries > 0 && (beside || top-y2 > 26 || shape.Abs(x1-left) > 30) {
			continue // what stands nearer in the text would have been beside it
		}
		if beside || above {
			return b.Leaf[l], l
		}
	}
	return "", -1
}

// nearerBefore reports whether the text before one stands on its line and begins nearer to the
// left edge of a field below both.
func (b *builder) nearerBefore(k, left int) bool {
	if k == 0 {
		return false
	}
	x1, _, _, _ := b.Box(b.Leaves[k])
	p := b.Leaves[k-1]
	before, _, _, _ := b.Box(p)
	return !b.Nodes[p].Hidden && b.SameLine(p, b.Leaves[k]) && shape.Abs(before-left) < shape.Abs(x1-left)
}

// goesOn reports whether another text follows right behind one on its line; the next cell of a table
// is another text.
func (b *builder) goesOn(k int) bool {
	if n := &b.Nodes[b.Leaves[k]]; k+1 >= len(b.Leaves) || n.Tag == "td" || n.Tag == "th" || shape.CellRoles[n.Role] {
		return false
	}
	l, next := b.Leaves[k], b.Leaves[k+1]
	_, _, right, _ := b.Box(l)
	left, _, _, _ := b.Box(next)
	return b.SameLine(l, next) && b.X.Parent(l) == b.X.Parent(next) && left-right < 12 && shape.Lettered(b.Leaf[next])
}

// heads reports whether a text is a heading: it is above a block, and no label.
func (b *builder) heads(l int) bool {
	for up, k := l, 0; up >= 0 && k < 3; up, k = b.X.Parent(up), k+1 {
		if b.Nodes[up].Role == "heading" {
			return true
		}
	}
	return false
}

// fieldBetween reports whether another field stands between a text and a node, beside the text
// or below it: the text is that one's label.
func (b *builder) fieldBetween(l, i int) bool {
	left, _, _, _ := b.Box(l)
	for j := l + 1; j < i; j++ {
		n := &b.Nodes[j]
		if (shape.TypedRoles[n.Role] || n.Role == "checkbox" || n.Role == "radio") && !n.Hidden && !b.X.Contains(j, i) {
			if shape.Abs(n.Box[0]-left) < 40 || b.SameLine(l, j) || !b.SameLine(j, i) {
				return true
			}
		}
	}
	return false
}

// textAfter returns the text right of a node, no further than a gap.
func (b *builder) textAfter(i, gap int) string {
	k, found := slices.BinarySearch(b.Leaves, i)
	if found {
		k++
	}
	for ; k < len(b.Leaves); k++ {
		l := b.Leaves[k]
		if b.Nodes[l].Hidden || b.X.Contains(i, l) {
			continue
		}
		_, _, right, _ := b.Box(i)
		x1, _, _, _ := b.Box(l)
		if b.otherCell(i, l) {
			return ""
		}
		if b.SameLine(i, l) && x1 >= right-4 && x1-right <= gap && len(b.Leaf[l]) <= maxLabel {
			return b.Leaf[l]
		}
		return ""
	}
	return ""
}

// otherCell reports whether two nodes stand in different cells of a table with a head.
func (b *builder) otherCell(i, l int) bool {
	cell := func(j int) int {
		for up, k := j, 0; up >= 0 && k < 6; up, k = b.X.Parent(up), k+1 {
			if shape.CellRoles[b.Nodes[up].Role] {
				return up
			}
		}
		return -1
	}
	c := cell(i)
	return c >= 0 && (b.Nodes[c].ColumnHeader != "" || b.Nodes[c].Role == "columnheader") && cell(l) != c
}

// unitOf returns the unit that is shown right behind a field.
func (b *builder) unitOf(i int) string {
	text := b.textAfter(i, 24)
	if text == "" || len(text) > 8 {
		return ""
	}
	if class, _ := b.values.Unit(text); class != "" || text == "%" {
		return text
	}
	return ""
}

// nameByRecord names the boxes of things that have no name of their own by the thing.
func (b *builder) nameByRecord() {
	switches := map[int]int{} // by record
	for k := range b.Fields {
		if f := &b.Fields[k]; f.Kind == "switch" {
			switches[f.Record]++
		}
	}
	for k := range b.Fields {
		f := &b.Fields[k]
		if f.Record < 0 || f.Kind != "switch" || len(f.Names) > 0 || b.Records[f.Record].Title == "" || switches[f.Record] > 1 {
			continue
		}
		f.Names = []string{b.Records[f.Record].Title}
		f.Label = f.Names[0]
	}
	for k := range b.Controls {
		c := &b.Controls[k]
		if f := b.field[c.Node]; len(c.Names) == 0 && f >= 0 && b.Fields[f].Node == c.Node && b.Fields[f].Label != "" {
			c.Names = []Name{{Text: b.Fields[f].Label, From: "near"}}
		}
	}
}
