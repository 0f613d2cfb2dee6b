package shape

import (
	"strconv"
)

// leastDays is how many days in a row make a calendar.
const leastDays = 26

// months returns the days of calendars that are no tables: texts that count up to the end of a
// month.
func (b *Page) months(taken map[int]bool) []*Cluster {
	var list []*Cluster
	var run []int
	last := 0
	flush := func() {
		if len(run) >= leastDays {
			list = append(list, b.month(run))
		}
		run, last = nil, 0
	}
	for _, l := range b.Leaves {
		if b.Nodes[l].Hidden {
			continue
		}
		n, err := strconv.Atoi(b.Leaf[l])
		day := err == nil && n >= 1 && n <= 31 && !taken[l] && !taken[max(b.X.Parent(l), 0)]
		switch {
		case day && (last == 0 || n == last+1 || n == 1 && last >= 28):
			run, last = append(run, l), n
		case day:
			flush()
			run, last = []int{l}, n
		default:
			flush()
		}
	}
	flush()
	return list
}

// month returns the calendar of some days, each the innermost element around its number that
// is not around another one's.
func (b *Page) month(days []int) *Cluster {
	c := &Cluster{Kind: "calendar", Header: -1, Sure: true, Node: b.X.Common(days[0], days[len(days)-1])}
	for _, l := range days {
		cell := l
		if up := b.X.Parent(l); up >= 0 && up != c.Node && len(b.LeavesIn(up, b.X.End(up), 2)) == 1 {
			cell = up
		}
		c.Members = append(c.Members, cell)
	}
	return c
}
