package plan

import (
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/snapshot"
)

// calendar is a month that a page shows as days to choose from: a run of the numbers from
// 1 to the length of a month, in whatever elements. Days of the months before and after
// are not in it, because their runs are shorter.
type calendar struct {
	root        int   // the nearest node around the days and their header; -1: the page
	days        []int // nodes by day, from 0
	year, month int   // 0 where the page does not show it
	// The lists or fields in which the header has the month and the year; -1 without.
	monthField, yearField int
	previous, next        int // nodes that lead to other months; -1 without
	previousYear          int
	nextYear              int
}

const (
	shortestDays = 28 // of a month
	longestDays  = 31
)

// calendars returns the months that are shown, in the order of the document.
func (v *view) calendars(dayFirst bool) []calendar {
	days := dayCells(v, dayFirst)
	var found []calendar
	from := 0
	for at := 0; at < len(days); {
		run := dayRun(days[at:])
		if len(run) < shortestDays {
			at++
			continue
		}
		c := calendar{days: make([]int, len(run))}
		for i, cell := range run {
			c.days[i] = cell.node
			if cell.full.month > 0 {
				c.year, c.month = cell.full.year, cell.full.month
			}
		}
		complete(v, &c, from)
		found = append(found, c)
		from = c.days[len(run)-1] + 1
		for at < len(days) && days[at].node < from {
			at++
		}
	}
	return found
}

// dayCell is a node that shows the number of a day.
type dayCell struct {
	node, day int
	full      moment // where its name is a whole date
}

// dayRun returns the cells of the days 1, 2, 3 and so on of one month. The number of a
// week may stand between two of them.
func dayRun(cells []dayCell) []dayCell {
	var run []dayCell
	for skipped := 0; len(cells) > 0 && len(run) < longestDays && skipped < 2; cells = cells[1:] {
		if cells[0].day == len(run)+1 && (len(run) == 0 || cells[0].full.month == run[0].full.month) {
			run, skipped = append(run, cells[0]), 0
			continue
		}
		if len(run) == 0 {
			return nil
		}
		skipped++
	}
	return run
}

// dayCells returns the nodes that show a number from 1 to 31 and nothing else. Of nodes
// in each other the outermost interactive one counts, else the innermost.
func dayCells(v *view, dayFirst bool) []dayCell {
	var cells []dayCell
	for i := range v.Nodes {
		n := &v.Nodes[i]
		if n.Hidden || n.Editable || len(n.Options) > 0 {
			continue
		}
		cell, ok := dayCellOf(v, i, dayFirst)
		if !ok {
			continue
		}
		if len(cells) > 0 {
			last := &cells[len(cells)-1]
			if last.day == cell.day && v.inside(i, last.node) {
				if !v.Nodes[last.node].Interactive && n.Interactive {
					last.node = i
				}
				if cell.full.month > 0 {
					last.full = cell.full
				}
				continue
			}
		}
		cells = append(cells, cell)
	}
	return cells
}

func dayCellOf(v *view, i int, dayFirst bool) (dayCell, bool) {
	n := &v.Nodes[i]
	number := dayNumber(v, i)
	for _, text := range []string{n.Name, n.Title, n.Description} {
		if len(text) < 6 {
			continue
		}
		if full, ok := readDay(text, dayFirst); ok && (number == full.day || number == 0 && n.Interactive) {
			return dayCell{i, full.day, full}, true
		}
	}
	return dayCell{node: i, day: number}, number > 0
}

// dayNumber returns the number that a node shows; 0 for any other text.
func dayNumber(v *view, i int) int {
	n := &v.Nodes[i]
	text := n.Text
	if text == "" {
		text = n.Name
	}
	if text == "" && v.last[i]-i <= 3 {
		text = v.shown(i)
	}
	text = strings.TrimSpace(text)
	if text == "" || len(text) > 2 || strings.Trim(text, "0123456789") != "" {
		return 0
	}
	if day := numberIn(text); day <= longestDays {
		return day
	}
	return 0
}

// complete finds the header of a calendar and what leads to other months. From is the
// node behind the month before it, where the page shows several.
func complete(v *view, c *calendar, from int) {
	c.monthField, c.yearField = -1, -1
	c.previous, c.next, c.previousYear, c.nextYear = -1, -1, -1, -1
	c.root = meet(v, c.days[0], c.days[len(c.days)-1])
	// Out from the days to the first container with a month and a year.
	for known := c.month > 0 && c.year > 0; ; {
		readHeader(v, c, max(from, c.root+1))
		whole := known || c.month > 0 && c.year > 0
		findArrows(v, c, from)
		if whole && (c.previous >= 0 || c.next >= 0) || c.root < 0 {
			return
		}
		up := v.Nodes[c.root].Parent
		if up < 0 && v.last[c.root]-c.root > 20*longestDays {
			return
		}
		c.root = up
	}
}

// meet returns the nearest node that two nodes are in.
func meet(v *view, a, b int) int {
	for a >= 0 && !v.inside(b, a) {
		a = v.Nodes[a].Parent
	}
	return a
}

// readHeader reads month and year before the first day, the nearest ones.
func readHeader(v *view, c *calendar, from int) {
	readMonthly, readYearly := c.month > 0, c.year > 0
	for i := c.days[0] - 1; i >= from; i-- {
		n := &v.Nodes[i]
		if n.Hidden || c.root >= 0 && !v.inside(i, c.root) {
			continue
		}
		text := n.Name
		if len(n.Options) > 0 {
			text = selectedLabel(n)
		} else if n.Editable {
			text = n.Value
		} else if n.Text != "" {
			text = n.Text
		}
		if v.last[i] > c.days[0] { // it is around the days
			continue
		}
		year, month := readMonth(text)
		if month == 0 && len(n.Options) >= 1 && len(n.Options) <= 12 && year == 0 {
			month = monthOfOption(n)
		}
		if month > 0 && (!readMonthly || c.month == month) {
			if c.monthField < 0 && (len(n.Options) > 1 || n.Editable) {
				c.monthField = i
			}
			c.month, readMonthly = month, true
		}
		if year > 0 && (!readYearly || c.year == year) {
			if c.yearField < 0 && (len(n.Options) > 1 || n.Editable && !n.ReadOnly) {
				c.yearField = i
			}
			c.year, readYearly = year, true
		}
	}
}

func selectedLabel(n *snapshot.Node) string {
	for _, o := range n.Options {
		if o.Selected {
			return o.Label
		}
	}
	return ""
}

// monthOfOption returns the month of a list of months that are numbers.
func monthOfOption(n *snapshot.Node) int {
	for i, o := range n.Options {
		if o.Selected && len(n.Options) == 12 {
			return i + 1
		}
	}
	return 0
}

// Words of controls that lead to other months, in names, titles and hints.
var (
	backWords   = []string{"prev", "previous", "back", "left", "earlier", "zurück", "voriger", "vorheriger", "‹", "<", "«", "←", "◀", "◄", "❮"}
	onWords     = []string{"next", "forward", "right", "later", "weiter", "nächster", "›", ">", "»", "→", "▶", "►", "❯"}
	yearlyWords = []string{"year", "jahr", "super", "double", "years", "decade", "«", "»", "<<", ">>", "d"}
)

// findArrows finds what leads to other months: by name or hints, nearest to the days.
func findArrows(v *view, c *calendar, from int) {
	last := len(v.Nodes) - 1
	if c.root >= 0 {
		last = v.last[c.root]
	}
	for i := max(c.root, 0); i <= last; i++ {
		n := &v.Nodes[i]
		if !n.Interactive && n.Reacts == "" || n.Hidden || n.Disabled || n.Editable || v.last[i] > c.days[0] && i < c.days[0] ||
			i > c.days[0] && i < c.days[len(c.days)-1] || i < from && c.root < 0 {
			continue
		}
		words := arrowWords(n, v.shown(i))
		back, on := hasAny(words, backWords), hasAny(words, onWords)
		if back == on {
			continue
		}
		yearly := hasAny(words, yearlyWords) && !hasAny(words, []string{"month", "monat"})
		at := &c.next
		switch {
		case back && yearly:
			at = &c.previousYear
		case back:
			at = &c.previous
		case yearly:
			at = &c.nextYear
		}
		if *at < 0 || i < c.days[0] { // the nearest before the days
			*at = i
		}
	}
	completeArrows(v, c)
}

// completeArrows takes two arrows that only seem to be of years for those of months,
// where there are no others.
func completeArrows(v *view, c *calendar) {
	if c.previous < 0 && c.next < 0 {
		c.previous, c.next = c.previousYear, c.nextYear
		c.previousYear, c.nextYear = -1, -1
	}
}

// arrowWords returns the words by which a control may say where it leads.
func arrowWords(n *snapshot.Node, shown string) []string {
	var words []string
	for _, text := range []string{n.Name, n.Title, n.Description, shown} {
		if len(text) <= 40 {
			words = append(words, strings.Fields(strings.ToLower(text))...)
		}
	}
	for _, hint := range n.Hints {
		words = append(words, strings.FieldsFunc(strings.ToLower(hint), func(r rune) bool { return r == '-' || r == '_' })...)
	}
	return words
}

// hasAny reports whether one of the words is in a list.
func hasAny(words, list []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(list, w) })
}

// monthsTo returns how many months lie between what a calendar shows and a month.
func (c *calendar) monthsTo(year, month int) int {
	return (year-c.year)*12 + month - c.month
}
