package shape

import (
	"slices"
	"strconv"
	"strings"
)

var tableRoles = []string{"table", "grid", "treegrid"}

// CellRoles are the roles of cells.
var CellRoles = map[string]bool{"cell": true, "gridcell": true, "columnheader": true, "rowheader": true}

// tables returns the rows of tables and grids by role, and the days of calendars.
func (b *Page) tables() []*Cluster {
	rows, order := map[int][]int{}, []int{}
	for i := range b.Nodes {
		if b.Nodes[i].Role != "row" || b.Nodes[i].Hidden {
			continue
		}
		if b.noThing(i) {
			continue
		}
		t := b.X.Around(b.X.Parent(i), tableRoles...)
		if t < 0 {
			t = b.X.Parent(i)
		}
		if t < 0 {
			continue
		}
		if rows[t] == nil {
			order = append(order, t)
		}
		rows[t] = append(rows[t], i)
	}
	var list []*Cluster
	var loose []int // headers that have no rows of their own
	for _, t := range order {
		c := b.table(t, rows[t])
		switch {
		case len(c.Members) > 0:
			list = append(list, c)
		case c.Header >= 0 && len(loose) < 20:
			loose = append(loose, c.Header)
		}
	}
	for _, c := range list {
		for _, head := range loose {
			if c.Header < 0 && b.fits(head, c.Members[0]) {
				c.Header = head
			}
		}
	}
	return list
}

func (b *Page) leafCount(rows []int) int {
	count := 0
	for _, i := range rows {
		count += len(b.LeavesIn(i, b.X.End(i), 2))
	}
	return count
}

// noThing reports whether a row is of the head of a table, or lays out a bar or other tables.
func (b *Page) noThing(row int) bool {
	for up, k := b.X.Parent(row), 0; up >= 0 && k < 6; up, k = b.X.Parent(up), k+1 {
		n := &b.Nodes[up]
		if n.Role == "columnheader" || n.Role == "toolbar" || ClassWord(n, PagerWords) {
			return true
		}
		if n.Tag == "thead" && !b.headRow(row) {
			return true
		}
	}
	for j := row + 1; j < b.Stop(row); j++ {
		if r := b.Nodes[j].Role; r == "row" || r == "table" || r == "grid" {
			return true
		}
	}
	return false
}

func (b *Page) headRow(row int) bool {
	for _, j := range b.Cells(row) {
		if b.Nodes[j].Role == "columnheader" && b.LeafFrom[b.X.End(j)] > b.LeafFrom[j] {
			return true
		}
	}
	return false
}

// table returns the rows of a table that are things.
func (b *Page) table(t int, rows []int) *Cluster {
	c := &Cluster{Node: t, Kind: "table", Header: -1, Sure: true, Pattern: Pattern{Tag: "tr", Role: "row"}}
	if days := b.days(rows); len(days) >= 21 {
		c.Kind, c.Members = "calendar", days
		return c
	}
	most := 0
	for _, i := range rows {
		most = max(most, len(b.Cells(i)))
	}
	for k, i := range rows {
		cells := b.Cells(i)
		heads := 0
		for _, j := range cells {
			if b.Nodes[j].Role == "columnheader" {
				heads++
			}
		}
		switch {
		case len(b.LeavesIn(i, b.X.End(i), 2)) == 0 && (len(cells) == 0 || !b.HoldsControl(i) || len(rows) > 1 && b.leafCount(rows) > 0):
		case heads > 0 && heads*2 > len(cells) || k == 0 && heads == 0 && b.boldRow(cells) && len(rows) > 2 && !b.boldRow(b.Cells(rows[1])):
			if c.Header < 0 || len(cells) >= len(b.Cells(c.Header)) {
				c.Header = i
			}
		case len(cells) == 1 && most > 1 || b.footer(i):
		default:
			c.Members = append(c.Members, i)
		}
	}
	b.withoutSums(c)
	if c.Header < 0 && b.formTable(c, rows) {
		c.Members = nil
	}
	return c
}

// formTable reports whether a table lays out a form: rows of labels, and rows of fields.
func (b *Page) formTable(c *Cluster, rows []int) bool {
	fields := 0
	for _, i := range rows {
		if !slices.Contains(c.Members, i) && b.severalTyped(i) {
			fields++
		}
	}
	return fields > 0 && fields >= len(c.Members)
}

// withoutSums leaves out the last rows where nothing can be done as in all rows before: they
// sum these up.
func (b *Page) withoutSums(c *Cluster) {
	usable := func(i int) bool {
		for j := i + 1; j < b.Stop(i); j++ {
			if StrongRoles[b.Nodes[j].Role] {
				return true
			}
		}
		return false
	}
	for n := len(c.Members); n > 1 && !usable(c.Members[n-1]); n-- {
		if n == 2 && (!usable(c.Members[0]) || len(b.Cells(c.Members[1])) >= len(b.Cells(c.Members[0]))) {
			return
		}
		for _, i := range c.Members[:min(n-2, 20)] {
			if !usable(i) {
				return
			}
		}
		if len(b.Cells(c.Members[n-1])) >= len(b.Cells(c.Members[0])) && b.filledCells(c.Members[n-1])*2 > b.filledCells(c.Members[0]) {
			return
		}
		c.Members = c.Members[:n-1]
	}
}

func (b *Page) filledCells(row int) int {
	count := 0
	for _, j := range b.Cells(row) {
		if len(b.LeavesIn(j, b.X.End(j), 1)) > 0 {
			count++
		}
	}
	return count
}

func (b *Page) boldRow(cells []int) bool {
	bold := 0
	for _, j := range cells {
		if b.Nodes[j].Bold && Worded(b.Leaf[j]) {
			bold++
		}
	}
	return bold > 1 && bold*3 >= len(cells)*2
}

// footer reports whether a row is of the foot of its table: sums, not things.
func (b *Page) footer(i int) bool {
	up := b.X.Parent(i)
	return up >= 0 && b.Nodes[up].Tag == "tfoot"
}

// Cells returns the cells of a row.
func (b *Page) Cells(row int) []int {
	var list []int
	for j := row + 1; j < b.Stop(row); j++ {
		if CellRoles[b.Nodes[j].Role] {
			list = append(list, j)
			j = b.X.End(j) - 1
		}
	}
	return list
}

// fits reports whether a header that stands alone heads a row: as many cells, or above them.
func (b *Page) fits(header, row int) bool {
	heads, cells := b.Cells(header), b.Cells(row)
	if len(cells) == 0 || len(heads) < len(cells) || len(heads) > len(cells)+2 || b.Nodes[header].Box[1] > b.Nodes[row].Box[1] {
		return false
	}
	above := 0
	for k, j := range cells {
		if h := heads[len(heads)-len(cells)+k]; Abs(b.Nodes[h].Box[0]-b.Nodes[j].Box[0]) < 12 {
			above++
		}
	}
	return above*10 >= len(cells)*7
}

// days returns the cells of a month: seven a row, each with the number of its day.
func (b *Page) days(rows []int) []int {
	var list []int
	for _, i := range rows {
		cells := b.Cells(i)
		if len(cells) < 7 || len(cells) > 8 {
			continue
		}
		for _, j := range cells {
			if b.DayNumber(j) > 0 {
				list = append(list, j)
			}
		}
	}
	rise := 0
	for k := 1; k < len(list); k++ {
		if b.DayNumber(list[k]) == b.DayNumber(list[k-1])+1 {
			rise++
		}
	}
	if rise*10 < len(list)*8 {
		return nil
	}
	return list
}

// DayNumber returns the day that a cell is of, 0 where its first text is no day.
func (b *Page) DayNumber(cell int) int {
	text := ""
	if list := b.LeavesIn(cell, b.X.End(cell), 1); len(list) > 0 {
		text = b.Leaf[list[0]]
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

// Abs returns a number without its sign.
func Abs(n int) int { return max(n, -n) }
