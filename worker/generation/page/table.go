package page

import (
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/page/shape"
)

// tableColumns returns the columns of a table with a header.
func (b *builder) tableColumns(c *shape.Cluster) []Column {
	if c.Header < 0 {
		return b.slotless(c)
	}
	var list []Column
	for _, j := range b.headsOf(c) {
		list = append(list, b.columnOf(j))
	}
	return list
}

// headsOf returns the heads of the columns of a table.
func (b *builder) headsOf(c *shape.Cluster) []int {
	if c.Header < 0 || len(c.Members) == 0 {
		return nil
	}
	if b.headCells[c] == nil {
		b.headCells[c] = b.Cells(c.Header)
		if more := len(b.headCells[c]) - len(b.Cells(c.Members[0])); more > 0 && !b.X.Contains(c.Node, c.Header) {
			b.headCells[c] = b.headCells[c][more:] // of the numbers before the rows
		}
	}
	return b.headCells[c]
}

// slotless returns columns without names, as many as the widest row has cells.
func (b *builder) slotless(c *shape.Cluster) []Column {
	most := 0
	for _, i := range c.Members {
		most = max(most, len(b.Cells(i)))
	}
	list := make([]Column, min(most, 100))
	for k := range list {
		list[k].Node = -1
	}
	return list
}

var (
	sortWords  = shape.Words("sort sortable sorting sorted sorter sorters order orderable")
	orderWords = map[string]string{"ascending": "ascending", "descending": "descending"}
	risesWords = shape.Words("asc ascending up sorted-asc")
	fallsWords = shape.Words("desc descending down sorted-desc")
)

// columnOf returns the column that a header is of.
func (b *builder) columnOf(j int) Column {
	n := &b.Nodes[j]
	col := Column{Name: b.headerName(j), Node: j, Sorts: b.sorts(j), Sorted: orderWords[n.Sort]}
	if col.Sorted == "" && n.Sort == "" && shape.ClassWord(n, sortWords) {
		rises, falls := shape.ClassWord(n, risesWords), shape.ClassWord(n, fallsWords)
		switch {
		case rises && !falls:
			col.Sorted = "ascending"
		case falls && !rises:
			col.Sorted = "descending"
		}
	}
	return col
}

// sorts reports whether the head of a column can be pressed to sort by it.
func (b *builder) sorts(j int) bool {
	n := &b.Nodes[j]
	if n.Sort != "" || shape.Hinted(n, sortWords) || strings.Contains(n.Reacts, "cursor") {
		return true
	}
	if n.Interactive && strings.Contains(n.Reacts, "tabindex") {
		return true
	}
	for k := j + 1; k < b.X.End(j); k++ {
		if m := &b.Nodes[k]; m.Interactive && m.Role != "checkbox" && (m.Role == "button" || m.Role == "link" ||
			strings.Contains(m.Reacts, "cursor")) {
			return true
		}
	}
	return false
}

// headerName returns what a header shows: its name also says what its icons are called.
func (b *builder) headerName(j int) string {
	var parts []string
	for _, k := range b.LeavesIn(j, b.X.End(j), 8) {
		n := &b.Nodes[k]
		if shape.Lettered(b.Leaf[k]) && !n.Hidden && n.Box[2] > 12 {
			parts = append(parts, b.Leaf[k])
		}
	}
	if len(parts) > 0 {
		return shape.Label(strings.Join(parts, " "))
	}
	if n := &b.Nodes[j]; n.Title != "" {
		return shape.Label(n.Title)
	}
	if b.CheckInside(j) {
		return "" // what it is called is the box that is in it
	}
	return shape.Label(shape.WithoutIcons(b.Nodes[j].Name))
}
