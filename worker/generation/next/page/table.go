package page

import (
	"slices"
	"strconv"
	"strings"
)

var tableRoles = []string{"table", "grid", "treegrid"}

var cellRoles = map[string]bool{"cell": true, "gridcell": true, "columnheader": true, "rowheader": true}

// tables returns the rows of tables and grids by role, and the days of calendars.
func (b *builder) tables() []*cluster {
	rows, order := map[int][]int{}, []int{}
	for i := range b.Nodes {
		if b.Nodes[i].Role != "row" || b.Nodes[i].Hidden {
			continue
		}
		if b.noThing(i) {
			continue
		}
		t := b.x.Around(b.x.Parent(i), tableRoles...)
		if t < 0 {
			t = b.x.Parent(i)
		}
		if t < 0 {
			continue
		}
		if rows[t] == nil {
			order = append(order, t)
		}
		rows[t] = append(rows[t], i)
	}
	var list []*cluster
	var loose []int // headers that have no rows of their own
	for _, t := range order {
		c := b.table(t, rows[t])
		switch {
		case len(c.members) > 0:
			list = append(list, c)
		case c.header >= 0 && len(loose) < 20:
			loose = append(loose, c.header)
		}
	}
	for _, c := range list {
		for _, head := range loose {
			if c.header < 0 && b.fits(head, c.members[0]) {
				c.header = head
			}
		}
	}
	return list
}

func (b *builder) leafCount(rows []int) int {
	count := 0
	for _, i := range rows {
		count += len(b.leavesIn(i, b.x.End(i), 2))
	}
	return count
}

// noThing reports whether a row is of the head of a table, or lays out a bar or other tables.
func (b *builder) noThing(row int) bool {
	for up, k := b.x.Parent(row), 0; up >= 0 && k < 6; up, k = b.x.Parent(up), k+1 {
		n := &b.Nodes[up]
		if n.Role == "columnheader" || n.Role == "toolbar" || classWord(n, pagerWords) {
			return true
		}
		if n.Tag == "thead" && !b.headRow(row) {
			return true
		}
	}
	for j := row + 1; j < b.stop(row); j++ {
		if r := b.Nodes[j].Role; r == "row" || r == "table" || r == "grid" {
			return true
		}
	}
	return false
}

func (b *builder) headRow(row int) bool {
	for _, j := range b.cells(row) {
		if b.Nodes[j].Role == "columnheader" && b.leafFrom[b.x.End(j)] > b.leafFrom[j] {
			return true
		}
	}
	return false
}

// table returns the rows of a table that are things.
func (b *builder) table(t int, rows []int) *cluster {
	c := &cluster{node: t, kind: "table", header: -1, sure: true, pattern: pattern{tag: "tr", role: "row"}}
	if days := b.days(rows); len(days) >= 21 {
		c.kind, c.members = "calendar", days
		return c
	}
	most := 0
	for _, i := range rows {
		most = max(most, len(b.cells(i)))
	}
	for k, i := range rows {
		cells := b.cells(i)
		heads := 0
		for _, j := range cells {
			if b.Nodes[j].Role == "columnheader" {
				heads++
			}
		}
		switch {
		case len(b.leavesIn(i, b.x.End(i), 2)) == 0 && (len(cells) == 0 || !b.holdsControl(i) || len(rows) > 1 && b.leafCount(rows) > 0):
		case heads > 0 && heads*2 > len(cells) || k == 0 && heads == 0 && b.boldRow(cells) && len(rows) > 2 && !b.boldRow(b.cells(rows[1])):
			if c.header < 0 || len(cells) >= len(b.cells(c.header)) {
				c.header = i
			}
		case len(cells) == 1 && most > 1 || b.footer(i):
		default:
			c.members = append(c.members, i)
		}
	}
	b.withoutSums(c)
	if c.header < 0 && b.formTable(c, rows) {
		c.members = nil
	}
	return c
}

// formTable reports whether a table lays out a form: rows of labels, and rows of fields.
func (b *builder) formTable(c *cluster, rows []int) bool {
	fields := 0
	for _, i := range rows {
		if !slices.Contains(c.members, i) && b.severalTyped(i) {
			fields++
		}
	}
	return fields > 0 && fields >= len(c.members)
}

// withoutSums leaves out the last rows where nothing can be done as in all rows before: they
// sum these up.
func (b *builder) withoutSums(c *cluster) {
	usable := func(i int) bool {
		for j := i + 1; j < b.stop(i); j++ {
			if strongRoles[b.Nodes[j].Role] {
				return true
			}
		}
		return false
	}
	for n := len(c.members); n > 2 && !usable(c.members[n-1]); n-- {
		for _, i := range c.members[:min(n-2, 20)] {
			if !usable(i) {
				return
			}
		}
		if len(b.cells(c.members[n-1])) >= len(b.cells(c.members[0])) && b.filledCells(c.members[n-1])*2 > b.filledCells(c.members[0]) {
			return
		}
		c.members = c.members[:n-1]
	}
}

func (b *builder) filledCells(row int) int {
	count := 0
	for _, j := range b.cells(row) {
		if len(b.leavesIn(j, b.x.End(j), 1)) > 0 {
			count++
		}
	}
	return count
}

func (b *builder) boldRow(cells []int) bool {
	bold := 0
	for _, j := range cells {
		if b.Nodes[j].Bold && worded(b.leaf[j]) {
			bold++
		}
	}
	return bold > 1 && bold*3 >= len(cells)*2
}

// footer reports whether a row is of the foot of its table: sums, not things.
func (b *builder) footer(i int) bool {
	up := b.x.Parent(i)
	return up >= 0 && b.Nodes[up].Tag == "tfoot"
}

// cells returns the cells of a row.
func (b *builder) cells(row int) []int {
	var list []int
	for j := row + 1; j < b.stop(row); j++ {
		if cellRoles[b.Nodes[j].Role] {
			list = append(list, j)
			j = b.x.End(j) - 1
		}
	}
	return list
}

// fits reports whether a header that stands alone heads a row: as many cells, or above them.
func (b *builder) fits(header, row int) bool {
	heads, cells := b.cells(header), b.cells(row)
	if len(cells) == 0 || len(heads) < len(cells) || len(heads) > len(cells)+2 || b.Nodes[header].Box[1] > b.Nodes[row].Box[1] {
		return false
	}
	above := 0
	for k, j := range cells {
		if h := heads[len(heads)-len(cells)+k]; abs(b.Nodes[h].Box[0]-b.Nodes[j].Box[0]) < 12 {
			above++
		}
	}
	return above*10 >= len(cells)*7
}

// days returns the cells of a month: seven a row, each with the number of its day.
func (b *builder) days(rows []int) []int {
	var list []int
	for _, i := range rows {
		cells := b.cells(i)
		if len(cells) < 7 || len(cells) > 8 {
			continue
		}
		for _, j := range cells {
			if b.dayNumber(j) > 0 {
				list = append(list, j)
			}
		}
	}
	rise := 0
	for k := 1; k < len(list); k++ {
		if b.dayNumber(list[k]) == b.dayNumber(list[k-1])+1 {
			rise++
		}
	}
	if rise*10 < len(list)*8 {
		return nil
	}
	return list
}

// dayNumber returns the day that a cell is of, 0 where its first text is no day.
func (b *builder) dayNumber(cell int) int {
	text := ""
	if list := b.leavesIn(cell, b.x.End(cell), 1); len(list) > 0 {
		text = b.leaf[list[0]]
	}
	if text == "" {
		text = b.Nodes[cell].Name
	}
	if f := strings.Fields(text); len(f) > 0 {
		if n, err := strconv.Atoi(strings.Trim(f[0], ".日")); err == nil && n >= 1 && n <= 31 && len(f) <= 2 {
			return n
		}
	}
	return 0
}

func abs(n int) int { return max(n, -n) }

// tableColumns returns the columns of a table with a header.
func (b *builder) tableColumns(c *cluster) []Column {
	if c.header < 0 {
		return b.slotless(c)
	}
	var list []Column
	for _, j := range b.headsOf(c) {
		list = append(list, b.columnOf(j))
	}
	return list
}

// headsOf returns the heads of the columns of a table.
func (b *builder) headsOf(c *cluster) []int {
	if c.header < 0 || len(c.members) == 0 {
		return nil
	}
	if c.heads == nil {
		c.heads = b.cells(c.header)
		if more := len(c.heads) - len(b.cells(c.members[0])); more > 0 && !b.x.Contains(c.node, c.header) {
			c.heads = c.heads[more:] // of the numbers before the rows
		}
	}
	return c.heads
}

// slotless returns columns without names, as many as the widest row has cells.
func (b *builder) slotless(c *cluster) []Column {
	most := 0
	for _, i := range c.members {
		most = max(most, len(b.cells(i)))
	}
	list := make([]Column, min(most, 100))
	for k := range list {
		list[k].Node = -1
	}
	return list
}

var (
	sortWords  = words("sort sortable sorting sorted sorter sorters order orderable")
	orderWords = map[string]string{"ascending": "ascending", "descending": "descending"}
	risesWords = words("asc ascending up sorted-asc")
	fallsWords = words("desc descending down sorted-desc")
)

// columnOf returns the column that a header is of.
func (b *builder) columnOf(j int) Column {
	n := &b.Nodes[j]
	col := Column{Name: b.headerName(j), Node: j, Sorts: b.sorts(j), Sorted: orderWords[n.Sort]}
	if col.Sorted == "" && n.Sort == "" && classWord(n, sortWords) {
		rises, falls := classWord(n, risesWords), classWord(n, fallsWords)
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
	if n.Sort != "" || hinted(n, sortWords) || strings.Contains(n.Reacts, "cursor") {
		return true
	}
	if n.Interactive && strings.Contains(n.Reacts, "tabindex") {
		return true
	}
	for k := j + 1; k < b.x.End(j); k++ {
		if m := &b.Nodes[k]; m.Interactive && m.Role != "checkbox" && (m.Role == "button" || m.Role == "link" || strings.Contains(m.Reacts, "cursor")) {
			return true
		}
	}
	return false
}

// headerName returns what a header shows: its name also says what its icons are called.
func (b *builder) headerName(j int) string {
	var parts []string
	for _, k := range b.leavesIn(j, b.x.End(j), 8) {
		n := &b.Nodes[k]
		if lettered(b.leaf[k]) && !n.Hidden && n.Box[2] > 12 {
			parts = append(parts, b.leaf[k])
		}
	}
	if len(parts) > 0 {
		return label(strings.Join(parts, " "))
	}
	if n := &b.Nodes[j]; n.Title != "" {
		return label(n.Title)
	}
	if b.checkInside(j) {
		return "" // what it is called is the box that is in it
	}
	return label(tidy(b.Nodes[j].Name))
}
