package page

import (
	"slices"
	"strings"
)

// codeEditors makes one field of an editor that draws its text out of many elements.
func (b *builder) codeEditors() {
	for i := range b.Nodes {
		n := &b.Nodes[i]
		if n.Hidden || n.Editable || !codeEditor(n) || b.x.Parent(i) >= 0 && b.field[b.x.Parent(i)] >= 0 {
			continue
		}
		f := Field{Node: i, Kind: "editor", Names: b.labelOf(i), Value: b.textOf(i)}
		f.Names = slices.DeleteFunc(f.Names, func(name string) bool { return strings.HasPrefix(f.Value, name) || len(name) > 60 })
		if len(f.Names) > 0 {
			f.Label = f.Names[0]
		}
		k := b.addField(f)
		for j := i + 1; j < b.stop(i); j++ {
			b.field[j] = k
		}
	}
}

var handleWords = words("handle thumb knob irs noUi")

// handles finds the knobs of sliders without a role.
func (b *builder) handles() {
	for i := range b.Nodes {
		n := &b.Nodes[i]
		if n.Hidden || n.Role != "" || !classWord(n, handleWords) || len(b.x.Children(i)) > 1 || n.Box[2] > 60 || n.Box[3] > 60 || b.field[i] >= 0 || n.Box[2] < 8 {
			continue
		}
		if b.x.Around(i, "slider", "switch", "dialog", "row") >= 0 || classWord(n, words("drag resize resizer switch")) || !b.slides(i) {
			continue
		}
		f := Field{Node: i, Kind: "slider", Names: b.labelOf(i)}
		if len(f.Names) > 0 {
			f.Label = f.Names[0]
		}
		b.addField(f)
	}
}

// slides reports whether the code calls what is around a knob a slider.
func (b *builder) slides(i int) bool {
	for up, k := i, 0; up >= 0 && k < 4; up, k = b.x.Parent(up), k+1 {
		if classWord(&b.Nodes[up], words("slider range irs noUi rangeslider")) {
			return true
		}
	}
	return false
}

// shown finds values that the page only shows, with their labels: "Total: 12.40", a term and
// its definition.
func (b *builder) shown() {
	for k := 1; k < len(b.leaves); k++ {
		l, before := b.leaves[k], b.leaves[k-1]
		n, m := &b.Nodes[l], &b.Nodes[before]
		if n.Hidden || b.record[l] >= 0 || b.field[l] >= 0 || b.control[l] >= 0 || b.field[before] >= 0 || len(n.Options) > 0 || len(b.leaf[l]) > maxLabel {
			continue
		}
		term := m.Tag == "dt" && n.Tag == "dd"
		colon := strings.HasSuffix(b.leaf[before], ":") && b.sameLine(before, l) && b.x.Parent(l) == b.x.Parent(before)
		if !term && !colon || !worded(b.leaf[before]) || len(b.leaf[before]) > 60 || b.inButton(l, -1) {
			continue
		}
		name := label(b.leaf[before])
		b.addField(Field{Node: l, Kind: "shown", Label: name, Names: []string{name}, Value: b.leaf[l], ReadOnly: true})
	}
}

// inPlace finds texts that become fields when they are pressed twice, and cells of sheets.
func (b *builder) inPlace() {
	for i := range b.Nodes {
		n := &b.Nodes[i]
		if n.Hidden || b.field[i] >= 0 || len(b.Fields) > maxMembers || b.record[i] < 0 {
			continue
		}
		cell := n.Role == "gridcell" || n.Role == "cell"
		leaf := len(b.x.Children(i)) == 0 && b.leaf[i] != "" && len(b.leaf[i]) <= 100
		pressed := strings.Contains(n.Reacts, "dblclick")
		cell = cell && !b.holdsControl(i) && (pressed || b.sheet(i) || n.Role == "gridcell" && b.member[i] < 0)
		if !cell && !(pressed && leaf) {
			continue
		}
		f := Field{Node: i, Kind: "text", InPlace: true, Value: b.wordsOf(i), ReadOnly: n.ReadOnly}
		if cell {
			f.Label = b.cellLabel(i)
			f.Names = []string{f.Label}
		}
		b.addField(f)
	}
}

// wordsOf returns what is read in a node without the signs that stand beside it.
func (b *builder) wordsOf(i int) string {
	leaves := slices.Clone(b.leavesIn(i, b.x.End(i), maxLeaves))
	if slices.ContainsFunc(leaves, func(l int) bool { return lettered(b.leaf[l]) }) {
		leaves = slices.DeleteFunc(leaves, func(l int) bool { return !lettered(b.leaf[l]) || b.Nodes[l].Hidden })
	}
	return b.joined(leaves)
}

var sheetWords = words("spreadsheet jexcel jss handsontable luckysheet tabulator ht excel sheet revogrid")

// sheet reports whether a cell is one of a spreadsheet.
func (b *builder) sheet(i int) bool {
	for up, k := b.x.Parent(i), 0; up >= 0 && k < 6; up, k = b.x.Parent(up), k+1 {
		if classWord(&b.Nodes[up], sheetWords) {
			return true
		}
	}
	return false
}
