package page

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/worker/generation/page/shape"
	"github.com/slipway-qa/slipway/worker/generation/page/value"
)

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
	for before < len(group.Records) && b.DayNumber(b.Records[group.Records[before]].Node) != 1 {
		before++
	}
	for k, r := range group.Records {
		record := &b.Records[r]
		day := at.AddDate(0, 0, k-before)
		if day.Day() != b.DayNumber(record.Node) {
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
	k := b.LeafFrom[node]
	for tries := 0; tries < 14 && k-1-tries >= 0; tries++ {
		l := b.Leaves[k-1-tries]
		for _, text := range []string{b.Leaf[l], b.Leaf[l] + " " + b.Leaf[b.Leaves[min(k-tries, len(b.Leaves)-1)]]} {
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
	for _, p := range value.Scan(text, b.Code) {
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

// dayControl reports whether an element becomes a control: a day of a calendar that listens only
// for all of its days together.
func (b *builder) dayControl(i int) bool {
	r := b.member[i]
	return r >= 0 && b.groups[b.Records[r].Group].Kind == "calendar" && !b.HoldsControl(i)
}

var drawnBoxWords = shape.Words("checkbox expander twisty switcher")

// drawnBox reports whether a node is a box to tick or a sign that opens, by what the code calls
// it: the thing that it stands in listens for it.
func (b *builder) drawnBox(i int) bool {
	n := &b.Nodes[i]
	return b.record[i] >= 0 && b.member[i] < 0 && n.Role == "" && !n.Hidden && len(b.X.Children(i)) < 2 && b.Leaf[i] == "" &&
		n.Box[2] > 4 && n.Box[2] <= 40 && n.Box[3] <= 40 && shape.ClassWord(n, drawnBoxWords) && !b.besideReal(i)
}

// besideReal reports whether a real box stands where one is drawn.
func (b *builder) besideReal(i int) bool {
	up := b.X.Parent(i)
	for k := 0; up >= 0 && k < 2; up, k = b.X.Parent(up), k+1 {
		if b.member[up] >= 0 {
			return false
		}
		for _, j := range b.X.Children(up) {
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
		if b.field[i] >= 0 || b.Nodes[i].Role != "" || c.Role != "switch" && c.Role != "checkbox" || b.Leaf[i] != "" {
			continue
		}
		f := Field{Node: i, Kind: "switch", Value: "false", Names: b.labelOf(i)}
		if n := &b.Nodes[i]; shape.ClassWord(n, shape.ChosenWords) || n.Checked == "true" || slices.Contains(n.Hints, "checked") {
			f.Value = "true"
		}
		b.addField(f)
	}
}
