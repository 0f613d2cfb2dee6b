package page

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/worker/generation/next/page/value"
)

// leastDays is how many days in a row make a calendar.
const leastDays = 26

// months returns the days of calendars that are no tables: texts that count up to the end of a
// month.
func (b *builder) months(taken map[int]bool) []*cluster {
	var list []*cluster
	var run []int
	last := 0
	flush := func() {
		if len(run) >= leastDays {
			list = append(list, b.month(run))
		}
		run, last = nil, 0
	}
	for _, l := range b.leaves {
		if b.Nodes[l].Hidden {
			continue
		}
		n, err := strconv.Atoi(b.leaf[l])
		day := err == nil && n >= 1 && n <= 31 && !taken[l] && !taken[max(b.x.Parent(l), 0)]
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
func (b *builder) month(days []int) *cluster {
	c := &cluster{kind: "calendar", header: -1, sure: true, node: b.x.Common(days[0], days[len(days)-1])}
	for _, l := range days {
		cell := l
		if up := b.x.Parent(l); up >= 0 && up != c.node && len(b.leavesIn(up, b.x.End(up), 2)) == 1 {
			cell = up
		}
		c.members = append(c.members, cell)
	}
	return c
}

// describeDays gives the days of a calendar their dates: by the month that is written above.
func (b *builder) describeDays(g int) {
	group := &b.Groups[g]
	first := b.Records[group.Records[0]].Node
	year, month := b.monthAbove(first)
	if year == 0 {
		return
	}
	at := time.Date(year, time.Month(month), 1, 0, 0, 0, 0, time.UTC)
	before := 0
	for before < len(group.Records) && b.dayNumber(b.Records[group.Records[before]].Node) != 1 {
		before++
	}
	for k, r := range group.Records {
		record := &b.Records[r]
		day := at.AddDate(0, 0, k-before)
		if day.Day() != b.dayNumber(record.Node) {
			return
		}
		seconds := float64(day.Unix())
		record.Attributes = append(record.Attributes, Attribute{Node: record.Node, Text: day.Format(time.DateOnly), Type: Date, Number: &seconds})
		if day.Month() != at.Month() {
			record.States = append(record.States, "outside")
		}
		if c := b.control[record.Node]; c >= 0 {
			b.Controls[c].Names = append(b.Controls[c].Names, Name{Text: day.Format(time.DateOnly), From: "label"})
		}
	}
}

// monthAbove returns the year and month that are written before a calendar; 0 unknown.
func (b *builder) monthAbove(node int) (year, month int) {
	k := b.leafFrom[node]
	for tries := 0; tries < 14 && k-1-tries >= 0; tries++ {
		l := b.leaves[k-1-tries]
		for _, text := range []string{b.leaf[l], b.leaf[l] + " " + b.leaf[b.leaves[min(k-tries, len(b.leaves)-1)]]} {
			if y, m := b.monthOf(text); y > 0 {
				return y, m
			}
		}
	}
	return 0, 0
}

func (b *builder) monthOf(text string) (year, month int) {
	if len(text) > 40 || len(strings.Fields(text)) > 4 {
		return 0, 0
	}
	for _, p := range value.Scan(text, b.lang) {
		if len(p.Digits) == 4 {
			year = int(*p.Number)
		}
	}
	if year < 1500 {
		return 0, 0
	}
	got := b.values.Read("1 " + strings.TrimSpace(strings.NewReplacer(fmt.Sprint(year), "", ",", "").Replace(text)) + " " + fmt.Sprint(year))
	if got.Type != Date || got.Number == nil {
		return 0, 0
	}
	at := time.Unix(int64(*got.Number), 0).UTC()
	return at.Year(), int(at.Month())
}

// dayControls makes controls of the days of calendars that listen only all together.
func (b *builder) dayControl(i int) bool {
	r := b.member[i]
	return r >= 0 && b.groups[b.Records[r].Group].kind == "calendar" && !b.holdsControl(i)
}

var drawnBoxWords = words("checkbox expander twisty switcher")

// drawnBox reports whether a node is a box to tick or a sign that opens, by what the code calls
// it: the thing that it stands in listens for it.
func (b *builder) drawnBox(i int) bool {
	n := &b.Nodes[i]
	return b.record[i] >= 0 && b.member[i] < 0 && n.Role == "" && !n.Hidden && len(b.x.Children(i)) < 2 && b.leaf[i] == "" &&
		n.Box[2] > 4 && n.Box[2] <= 40 && n.Box[3] <= 40 && classWord(n, drawnBoxWords) && !b.besideReal(i)
}

// besideReal reports whether a real box stands where one is drawn.
func (b *builder) besideReal(i int) bool {
	up := b.x.Parent(i)
	for k := 0; up >= 0 && k < 2; up, k = b.x.Parent(up), k+1 {
		if b.member[up] >= 0 {
			return false
		}
		for _, j := range b.x.Children(up) {
			if r := b.Nodes[j].Role; r == "checkbox" || r == "radio" {
				return true
			}
		}
	}
	return false
}

// switchesDrawn makes fields of switches and boxes that have no role.
func (b *builder) switchesDrawn() {
	for k := range b.Controls {
		c := &b.Controls[k]
		i := c.Node
		if b.field[i] >= 0 || b.Nodes[i].Role != "" || c.Role != "switch" && c.Role != "checkbox" || b.leaf[i] != "" {
			continue
		}
		f := Field{Node: i, Kind: "switch", Value: "false", Names: b.labelOf(i)}
		if n := &b.Nodes[i]; classWord(n, chosenWords) || n.Checked == "true" || slices.Contains(n.Hints, "checked") {
			f.Value = "true"
		}
		if len(f.Names) > 0 {
			f.Label = f.Names[0]
		}
		b.addField(f)
	}
}
