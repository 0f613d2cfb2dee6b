package method_test

import (
	"testing"

	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/method"
	"github.com/slipway-qa/slipway/worker/generation/page"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// TestCellOfATableThatListens edits a cell in place where only its table listens, and steps a text that
// is for reading.
func TestCellOfATableThatListens(t *testing.T) {
	for _, inPlace := range []bool{true, false} {
		m := nodes(snapshot.Node{Ref: "cell", Tag: "div", Role: "gridcell", Name: "7", Text: "7"})
		m.Fields = []page.Field{{Node: 0, Kind: "text", Label: "Stock", Names: []string{"Stock"}, Value: "7", InPlace: inPlace, Record: -1}}
		f := find.Candidate{What: find.Field, Sub: -1}
		ways := method.FillWays(&method.Task{Model: m, Goal: &intent.Goal{Effect: intent.Set}, Lang: "en", Inside: -1, Near: -1},
			&f, &intent.Value{Text: "14"}, false)
		if !inPlace && len(ways) > 0 || inPlace &&
			(len(ways) == 0 || told(m, &ways[0]) != "double_click cell, press_key Control+a, type_keys, press_key Enter") {
			t.Errorf("in place %v: %+v", inPlace, ways)
		}
	}
}

// TestTurnOfTwoMonths turns months that stand side by side by the only button for it that is seen.
func TestTurnOfTwoMonths(t *testing.T) {
	var list []snapshot.Node
	for k, title := range []string{"June 2031", "July 2031"} {
		cal := "cal" + title
		on, back := button("on "+title, cal, "›"), button("back "+title, cal, "‹")
		on.Hidden, back.Hidden = k == 0, k == 1
		list = append(list, snapshot.Node{Ref: cal, Tag: "div", Role: "region"}, snapshot.Node{Ref: "head" + title,
			Label: cal, Tag: "h3", Role: "heading", Name: title, Text: title, Level: 3}, on, back)
		for d := range 30 + k {
			list = append(list, button(title+method.NumberText(float64(d+1)), cal, method.NumberText(float64(d+1))))
		}
	}
	m := nodes(list...)
	task := &method.Task{Model: m, Goal: &intent.Goal{Effect: intent.Set}, Lang: "en", Inside: -1}
	for date, want := range map[intent.Date]string{
		{Year: 2031, Month: 7, Day: 28}: "click July 203128", {Year: 2031, Month: 8, Day: 2}: "click on July 2031",
		{Year: 2031, Month: 5, Day: 2}: "click back June 2031",
	} {
		ways := method.DayWays(task, &date)
		if len(ways) == 0 || told(m, &ways[0]) != want {
			t.Errorf("%+v: %v, want %s", date, ways, want)
		}
	}
}

// TestPartOfAnOption takes the only option that came of which a value is a part.
func TestPartOfAnOption(t *testing.T) {
	option := func(ref, name string) snapshot.Node {
		return snapshot.Node{Ref: ref, Tag: "li", Role: "option", Name: name, Text: name, Interactive: true}
	}
	for text, want := range map[string]string{"Madrid": "click madrid", "São Paulo": "click paulo", "Europe": "", "Rome": ""} {
		m := nodes(option("oslo", "Europe/Oslo"), option("madrid", "Europe/Madrid"), option("paulo", "America/Sao_Paulo"))
		ways := method.Offered(&method.Task{Model: m, Goal: &intent.Goal{Effect: intent.Set}, Lang: "es", Inside: -1,
			News: []int{0, 1, 2}}, &intent.Value{Text: text})
		got := ""
		if len(ways) > 0 {
			got = told(m, &ways[0])
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// TestOpenOnesAreActive presses "Active" beside "Completed" for the open ones, and not where nothing says
// that it is about what is done.
func TestOpenOnesAreActive(t *testing.T) {
	target := intent.Description{Pronoun: true, State: []intent.State{{Text: "open", Name: "open"}}}
	for other, want := range map[string]string{"Completed": "click active", "Erledigt": "click active", "Archive": ""} {
		m := nodes(button("all", "", "All"), button("active", "", "Active"), button("other", "", other))
		goal := &intent.Goal{Effect: intent.Filter, Lemma: "show", Target: []intent.Description{target}}
		ways := method.Ways(&method.Task{Model: m, Goal: goal, Lang: "en", Inside: -1, Near: -1})
		got := ""
		if len(ways) > 0 {
			got = told(m, &ways[0])
		}
		if got != want {
			t.Errorf("%s: %q, want %q", other, got, want)
		}
	}
}

// TestOrderByWhatComesFirst chooses the order that is called by what comes first in it, in another
// language, and by the same measure only.
func TestOrderByWhatComesFirst(t *testing.T) {
	order := snapshot.Node{Ref: "order", Tag: "select", Role: "combobox", Name: "Order", Interactive: true,
		Options: []snapshot.Option{{Label: "newest first", Value: "new", Selected: true}, {Label: "best first", Value: "good"},
			{Label: "worst first", Value: "bad"}}}
	whole := intent.Span{From: 5, To: 20}
	for _, c := range []struct {
		measure    string
		said       intent.Span // the measure, and what stands beside it is not read
		descending bool
		want       string
	}{{"rating", whole, true, "best first"}, {"date", whole, true, "newest first"}, {"price", whole, false, ""},
		{"rating", intent.Span{From: 5, To: 9}, true, ""}} {
		m := nodes(order)
		goal := &intent.Goal{Effect: intent.Sort, Lemma: "sort", Descending: c.descending,
			Measure: &intent.Description{Span: whole, Extreme: &intent.Extreme{Span: c.said, Measure: c.measure, Max: c.descending}}}
		ways := method.Ways(&method.Task{Model: m, Goal: goal, Lang: "de", Inside: -1, Near: -1})
		got := ""
		if len(ways) > 0 && ways[0].Acts[0].Args.OptionValue != nil {
			got = *ways[0].Acts[0].Args.OptionValue
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.measure, got, c.want)
		}
	}
}
