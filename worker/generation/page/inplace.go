package page

import (
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/page/shape"
)

// codeEditors makes one field of an editor that draws its text out of many elements.
func (b *builder) codeEditors() {
	for i := range b.Nodes {
		n := &b.Nodes[i]
		if n.Hidden || n.Editable || !shape.CodeEditor(n) || b.X.Parent(i) >= 0 && b.field[b.X.Parent(i)] >= 0 {
			continue
		}
		f := Field{Node: i, Kind: "editor", Names: b.labelOf(i), Value: b.TextOf(i)}
		f.Names = slices.DeleteFunc(f.Names, func(name string) bool { return strings.HasPrefix(f.Value, name) || len(name) > 60 })
		k := b.addField(f)
		for j := i + 1; j < b.Stop(i); j++ {
			b.field[j] = k
		}
	}
}

var handleWords = shape.Words("handle thumb knob irs noUi")

// handles finds the knobs of sliders without a role.
func (b *builder) handles() {
	for i := range b.Nodes {
		n := &b.Nodes[i]
		if n.Hidden || n.Role != "" || !shape.ClassWord(n, handleWords) || len(b.X.Children(i)) > 1 || n.Box[2] > 60 ||
			n.Box[3] > 60 || b.field[i] >= 0 || n.Box[2] < 8 {
			continue
		}
		if b.X.Around(i, "slider", "switch", "dialog", "row") >= 0 ||
			shape.ClassWord(n, shape.Words("drag resize resizer switch")) || !b.slides(i) {
			continue
		}
		f := Field{Node: i, Kind: "slider", Names: b.labelOf(i)}
		if track := b.X.Parent(i); len(f.Names) == 0 && track >= 0 {
			f.Names = b.labelOf(track) // the label stands above the track, wherever the knob is
		}
		b.addField(f)
	}
}

// slides reports whether the code calls what is around a knob a slider.
func (b *builder) slides(i int) bool {
	for up, k := i, 0; up >= 0 && k < 4; up, k = b.X.Parent(up), k+1 {
		if shape.ClassWord(&b.Nodes[up], shape.Words("slider range irs noUi rangeslider")) {
			return true
		}
	}
	return false
}

// shown finds values that the page only shows, with their labels: "Total: 12.40", a term and
// its definition.
func (b *builder) shown() {
	for k := 1; k < len(b.Leaves); k++ {
		l, before := b.Leaves[k], b.Leaves[k-1]
		n, m := &b.Nodes[l], &b.Nodes[before]
		if n.Hidden || b.record[l] >= 0 || b.field[l] >= 0 || b.control[l] >= 0 || b.field[before] >= 0 || len(n.Options) > 0 ||
			len(b.Leaf[l]) > maxLabel {
			continue
		}
		term := m.Tag == "dt" && n.Tag == "dd"
		colon := strings.HasSuffix(b.Leaf[before], ":") && b.SameLine(before, l) && b.X.Parent(l) == b.X.Parent(before)
		if !term && !colon || !shape.Worded(b.Leaf[before]) || len(b.Leaf[before]) > 60 || b.InButton(l, -1) {
			continue
		}
		name := shape.Label(b.Leaf[before])
		b.addField(Field{Node: l, Kind: "shown", Names: []string{name}, Value: b.Leaf[l], ReadOnly: true})
	}
}

// inPlace finds texts that become fields when they are pressed twice, and cells of sheets.
func (b *builder) inPlace() {
	for i := range b.Nodes {
		n := &b.Nodes[i]
		if n.Hidden || b.field[i] >= 0 || len(b.Fields) > shape.MaxMembers || b.record[i] < 0 {
			continue
		}
		cell := n.Role == "gridcell" || n.Role == "cell"
		leaf := len(b.X.Children(i)) == 0 && b.Leaf[i] != "" && len(b.Leaf[i]) <= 100
		pressed := strings.Contains(n.Reacts, "dblclick")
		cell = cell && !b.HoldsControl(i) && (pressed || b.sheet(i) || n.Role == "gridcell" && b.member[i] < 0)
		if !cell && !(pressed && leaf) {
			continue
		}
		f := Field{Node: i, Kind: "text", InPlace: true, Value: b.wordsOf(i), ReadOnly: n.ReadOnly}
		if cell {
			f.Names = []string{b.cellLabel(i)}
		}
		b.addField(f)
	}
}

// wordsOf returns what is read in a node without the signs that stand beside it.
func (b *builder) wordsOf(i int) string {
	leaves := slices.Clone(b.LeavesIn(i, b.X.End(i), shape.MaxLeaves))
	if slices.ContainsFunc(leaves, func(l int) bool { return shape.Lettered(b.Leaf[l]) }) {
		leaves = slices.DeleteFunc(leaves, func(l int) bool { return !shape.Lettered(b.Leaf[l]) || b.Nodes[l].Hidden })
	}
	return b.joined(leaves)
}

var sheetWords = shape.Words("spreadsheet jexcel jss handsontable luckysheet tabulator ht excel sheet revogrid")

// sheet reports whether a cell is one of a spreadsheet.
func (b *builder) sheet(i int) bool {
	for up, k := b.X.Parent(i), 0; up >= 0 && k < 6; up, k = b.X.Parent(up), k+1 {
		if shape.ClassWord(&b.Nodes[up], sheetWords) {
			return true
		}
	}
	return false
}
