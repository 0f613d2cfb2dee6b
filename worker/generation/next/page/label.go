package page

import "slices"

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
		text = label(tidy(text))
		if text != "" && len(text) <= maxLabel && !slices.Contains(names, text) && lettered(text) {
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
	add(b.nearText(i))
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

// cellLabel returns the header of the column that a field stands in.
func (b *builder) cellLabel(i int) string {
	for j := i; j >= 0; j = b.x.Parent(j) {
		if cellRoles[b.Nodes[j].Role] {
			if r := b.record[j]; r >= 0 {
				c := b.groups[b.Records[r].Group]
				if c.header >= 0 {
					if heads := b.cells(c.header); b.Nodes[j].Column < len(heads) {
						return b.headerName(heads[b.Nodes[j].Column])
					}
				}
			}
			return label(b.Nodes[j].ColumnHeader)
		}
	}
	return ""
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
	k, _ := slices.BinarySearch(b.leaves, i)
	left, top, _, _ := b.box(i)
	for tries := 0; k > 0 && tries < 3; tries++ {
		k--
		l := b.leaves[k]
		n := &b.Nodes[l]
		if n.Hidden || !worded(b.leaf[l]) {
			continue
		}
		if b.inButton(l, -1) || n.Interactive && n.Tag != "label" || len(n.Options) > 0 || len(b.leaf[l]) > maxLabel || b.fieldBetween(l, i) {
			return ""
		}
		if r := b.record[i]; r >= 0 && b.record[l] != r {
			return ""
		}
		x1, _, x2, y2 := b.box(l)
		beside := b.sameLine(l, i) && x2 <= left+4 && left-x2 < besideGap
		above := y2 <= top+6 && top-y2 < aboveGap && x1 < left+b.Nodes[i].Box[2] && x2 > left-30 && abs(x1-left) < 120
		if beside || above {
			return b.leaf[l]
		}
		return ""
	}
	return ""
}

// fieldBetween reports whether another field stands between a text and a node: the text is
// that one's label.
func (b *builder) fieldBetween(l, i int) bool {
	for j := l + 1; j < i; j++ {
		n := &b.Nodes[j]
		if (typedRoles[n.Role] || n.Role == "checkbox" || n.Role == "radio") && !n.Hidden && !b.x.Contains(j, i) {
			return true
		}
	}
	return false
}

// textAfter returns the text right of a node, no further than a gap.
func (b *builder) textAfter(i, gap int) string {
	k, found := slices.BinarySearch(b.leaves, i)
	if found {
		k++
	}
	for ; k < len(b.leaves); k++ {
		l := b.leaves[k]
		if b.Nodes[l].Hidden || b.x.Contains(i, l) {
			continue
		}
		_, _, right, _ := b.box(i)
		x1, _, _, _ := b.box(l)
		if b.sameLine(i, l) && x1 >= right-4 && x1-right <= gap && len(b.leaf[l]) <= maxLabel {
			return b.leaf[l]
		}
		return ""
	}
	return ""
}

// unitOf returns the unit that is shown right behind a field.
func (b *builder) unitOf(i int) string {
	text := b.textAfter(i, 24)
	if text == "" || len(text) > 8 {
		return ""
	}
	if class, _ := b.values.unit(text); class != "" || text == "%" {
		return text
	}
	return ""
}
