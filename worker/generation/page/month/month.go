// Package month reads the months that a page shows as days to choose from.
//
// No library of calendars is known here: a month is a run of the numbers from 1 to the length of a
// month, in whatever elements, with at most one other number (of a week) between two days. Its name
// is read from what stands before the days, the nearest first, in any language of the lexicon;
// where nothing names it, year and month are 0 and nothing is chosen by date.
package month

import (
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/lexicon"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// Grid is a run of the numbers from 1 to the length of a month, in whatever elements. Days of the
// months around it are not in it, since their runs are shorter.
type Grid struct {
	Days        []int // nodes by day, from 0
	Year, Month int   // 0 where the page does not show it
}

const (
	shortestMonth = 28
	longestMonth  = 31
	// maxStray is how many other numbers, of weeks, stand between two days.
	maxStray = 1
)

// Read returns the months that are shown.
func Read(m *page.Model) []Grid {
	cells := dayCells(m)
	var list []Grid
	from := 0
	for at := 0; at < len(cells); {
		days := monthRun(cells[at:])
		if len(days) < shortestMonth {
			at++
			continue
		}
		c := Grid{Days: days}
		c.readName(m, from)
		list = append(list, c)
		from = days[len(days)-1] + 1
		for at < len(cells) && cells[at].node < from {
			at++
		}
	}
	return list
}

type dayCell struct{ node, day int }

// dayCells returns the nodes that show a number from 1 to 31 and nothing else; of nodes in each
// other the outermost that reacts.
func dayCells(m *page.Model) []dayCell {
	var list []dayCell
	for i := range m.Nodes {
		n := &m.Nodes[i]
		if n.Hidden || n.Editable || len(n.Options) > 0 {
			continue
		}
		text := n.Text
		if text == "" {
			text = n.Name
		}
		text = strings.TrimSpace(text)
		day, err := strconv.Atoi(text)
		if err != nil || len(text) > 2 || day < 1 || day > longestMonth {
			continue
		}
		if k := len(list) - 1; k >= 0 && list[k].day == day && m.Inside(list[k].node, i) {
			if n.Interactive && !m.Nodes[list[k].node].Interactive {
				list[k].node = i
			}
			continue
		}
		list = append(list, dayCell{i, day})
	}
	return list
}

// monthRun returns the nodes of the days 1, 2, 3 and so on with which some cells begin.
func monthRun(cells []dayCell) []int {
	var days []int
	stray := 0
	for _, c := range cells {
		if c.day == len(days)+1 {
			days, stray = append(days, c.node), 0
			continue
		}
		if stray++; len(days) == 0 || stray > maxStray || len(days) == longestMonth {
			break
		}
	}
	return days
}

// readName reads month and year out of what stands before the days, the nearest first.
func (c *Grid) readName(m *page.Model, from int) {
	for i := c.Days[0] - 1; i >= from && i > c.Days[0]-maxHeader && (c.Year == 0 || c.Month == 0); i-- {
		n := &m.Nodes[i]
		if n.Hidden || m.Inside(i, c.Days[0]) && n.Role != "grid" && n.Role != "table" {
			continue
		}
		text := n.Name
		for _, o := range n.Options {
			if o.Selected {
				text = o.Label
			}
		}
		if n.Editable && n.Value != "" {
			text = n.Value
		}
		year, month := monthIn(text)
		if c.Month == 0 {
			c.Month = month
		}
		if c.Year == 0 {
			c.Year = year
		}
	}
}

// maxHeader is how many nodes before the days are read for their month.
const maxHeader = 60

// monthIn returns the year and month that a short text names.
func monthIn(text string) (year, month int) {
	words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" ,./-\u00a0", r) })
	if len(words) > 5 {
		return 0, 0
	}
	for _, w := range words {
		if n, err := strconv.Atoi(w); err == nil && len(w) == 4 && n > 1800 && n < 2200 {
			year = n
		}
		if month == 0 {
			month = monthNamed(w)
		}
	}
	return year, month
}

// monthNamed returns the month of a name in any language; 0 for other words.
func monthNamed(word string) int {
	word = strings.Trim(word, ".")
	if len(word) < 3 {
		return 0
	}
	for _, code := range lexicon.Codes() {
		for _, e := range lexicon.Language(code).Entries(word) {
			if e.Class == lexicon.Month {
				return int(e.Value)
			}
		}
	}
	return 0
}
