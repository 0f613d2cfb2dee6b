package effect_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/slipway-qa/slipway/worker/generation/effect"
	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// table returns the model of a page with a list: rows of cells apart by "|". A row that begins
// with "x" is ticked. The ref of a row is its text's unless the row names one: "@r1 Milk".
func table(lines []string, rows ...string) *page.Model {
	s := &snapshot.Snapshot{URL: "http://page/", Nodes: []snapshot.Node{{Ref: "list", Parent: -1, Tag: "ul", Role: "list"}}}
	m := &page.Model{Snapshot: s, Front: -1, Groups: []page.Group{{Node: 0, Kind: "list", Title: "Things"}}}
	for i, row := range rows {
		ref := "row " + row
		if strings.HasPrefix(row, "@") {
			ref, row, _ = strings.Cut(row[1:], " ")
		}
		r := page.Record{Node: len(s.Nodes), Index: i, Parent: -1}
		if rest, ok := strings.CutPrefix(row, "x "); ok {
			row, r.States = rest, []string{"checked"}
		}
		s.Nodes = append(s.Nodes, snapshot.Node{Ref: ref, Parent: 0, Tag: "li", Role: "listitem"})
		for k, cell := range strings.Split(row, "|") {
			s.Nodes = append(s.Nodes, snapshot.Node{Ref: fmt.Sprint(ref, k), Parent: r.Node, Tag: "span", Role: "text", Name: cell})
			a := page.Attribute{Name: fmt.Sprint("column ", k), Node: len(s.Nodes) - 1, Text: cell, Type: page.Text}
			var n float64
			if _, err := fmt.Sscanf(cell, "%g", &n); err == nil {
				a.Type, a.Number = page.Number, &n
			}
			r.Attributes = append(r.Attributes, a)
		}
		r.Title = r.Attributes[0].Text
		m.Records = append(m.Records, r)
		m.Groups[0].Records = append(m.Groups[0].Records, i)
	}
	for k := range 3 {
		m.Groups[0].Columns = append(m.Groups[0].Columns, page.Column{Name: fmt.Sprint("column ", k), Node: -1})
	}
	for _, line := range lines {
		s.Nodes = append(s.Nodes, snapshot.Node{Ref: "line " + line, Parent: -1, Tag: "p", Role: "text", Name: line})
		m.Lines = append(m.Lines, page.Line{Node: len(s.Nodes) - 1, Text: line, Record: -1, Container: -1, Live: true})
	}
	return m
}

// withField adds a field to the first record.
func withField(m *page.Model) *page.Model {
	m.Nodes = append(m.Nodes, snapshot.Node{Ref: "field", Parent: m.Records[0].Node, Tag: "input", Role: "textbox", HasValue: true})
	m.Fields = append(m.Fields, page.Field{Node: len(m.Nodes) - 1, Kind: "text", Label: "Amount", Record: 0, Container: -1})
	return m
}

func record(m *page.Model, i int) find.Candidate {
	return find.Candidate{What: find.Record, Index: i, Node: m.Records[i].Node, Sub: -1, Score: 1}
}

func named(words string) []intent.Description {
	d := intent.Description{}
	for _, w := range strings.Fields(words) {
		d.Words = append(d.Words, intent.Word{Text: w})
	}
	return []intent.Description{d}
}

func TestJudge(t *testing.T) {
	three := []string{"Salt|3", "Salsa|1", "Milk|2"}
	rooms := []string{"Room 1|a", "Room 2|b", "Room 12|c"}
	five := 5.0
	cases := []struct {
		name          string
		goal          intent.Goal
		before, after *page.Model
		target        int // a record, -1 none, -2 the second column
		want          effect.State
	}{
		{"the row is gone", intent.Goal{Effect: intent.Remove}, table(nil, three...), table(nil, "Salsa|1", "Milk|2"), 0, effect.Reached},
		{"another row is gone", intent.Goal{Effect: intent.Remove}, table(nil, three...), table(nil, "Salt|3", "Milk|2"), 0, effect.Wrong},
		{"two rows are gone", intent.Goal{Effect: intent.Remove}, table(nil, three...), table(nil, "Milk|2"), 0, effect.Wrong},
		{"what is left is no list", intent.Goal{Effect: intent.Remove}, table(nil, "Salt|3", "Salsa|1"), table([]string{"Salsa"}),
			0, effect.Reached},
		{"both are gone", intent.Goal{Effect: intent.Remove}, table(nil, "Salt|3", "Salsa|1"), table([]string{"Milk"}), 0, effect.Wrong},
		{"nothing is gone", intent.Goal{Effect: intent.Remove}, table(nil, three...), table(nil, three...), 0, effect.Unseen},
		{"elements used again", intent.Goal{Effect: intent.Remove}, table(nil, "@1 Salt", "@2 Salsa", "@3 Milk"),
			table(nil, "@1 Salsa", "@2 Milk"), 0, effect.Reached},
		{"it came", intent.Goal{Effect: intent.Add, Target: named("Tea")}, table(nil, three...),
			table(nil, append(three, "Tea|1")...), -1, effect.Reached},
		{"another came", intent.Goal{Effect: intent.Add, Target: named("Tea")}, table(nil, three...), table(nil, three...), -1, effect.Unseen},
		{"the count says it", intent.Goal{Effect: intent.Add}, table([]string{"Cart 0"}, three...),
			table([]string{"Cart 1"}, three...), 2, effect.Reached},
		{"it came and one went", intent.Goal{Effect: intent.Add, Target: named("Tea")}, table(nil, three...),
			table(nil, "Salt|3", "Salsa|1", "Tea|1"), -1, effect.Reached},
		{"it is ticked", intent.Goal{Effect: intent.Complete}, table(nil, three...), table(nil, "x Salt|3", "Salsa|1", "Milk|2"),
			0, effect.Reached},
		{"all are ticked", intent.Goal{Effect: intent.Complete}, table(nil, three...), table(nil, "x Salt|3", "x Salsa|1",
			"x Milk|2"), 0, effect.Wrong},
		{"sorted", intent.Goal{Effect: intent.Sort}, table(nil, three...), table(nil, "Salsa|1", "Milk|2", "Salt|3"), -2, effect.Reached},
		{"sorted the other way", intent.Goal{Effect: intent.Sort, Descending: true}, table(nil, three...),
			table(nil, "Salsa|1", "Milk|2", "Salt|3"), -2, effect.Unseen},
		{"sorted as text", intent.Goal{Effect: intent.Sort}, table(nil, "a|9", "b|10"), table(nil, "b|10", "a|9"), -2, effect.Unseen},
		{"filtered", intent.Goal{Effect: intent.Filter}, table(nil, three...), table(nil, "Milk|2"), -1, effect.Reached},
		{"moved", intent.Goal{Effect: intent.Move, Place: "last"}, table(nil, three...), table(nil, "Salsa|1", "Milk|2", "Salt|3"),
			0, effect.Reached},
		{"rated", intent.Goal{Effect: intent.Rate, Amount: &intent.Value{Number: &five}}, table(nil, three...),
			table(nil, "Salt|5", "Salsa|1", "Milk|2"), 0, effect.Reached},
		{"one less", intent.Goal{Effect: intent.Decrease}, table(nil, three...), table(nil, "Salt|2", "Salsa|1", "Milk|2"), 0, effect.Reached},
		{"more in place of less", intent.Goal{Effect: intent.Decrease}, table(nil, three...),
			table(nil, "Salt|4", "Salsa|1", "Milk|2"), 0, effect.Unseen},
		{"less than asked for", intent.Goal{Effect: intent.Increase, Amount: &intent.Value{Number: &five}}, table(nil, three...),
			table(nil, "Salt|4", "Salsa|1", "Milk|2"), 0, effect.Unseen},
		{"as much as asked for", intent.Goal{Effect: intent.Increase, Amount: &intent.Value{Number: &five}},
			table(nil, three...), table(nil, "Salt|8", "Salsa|1", "Milk|2"), 0, effect.Reached},
		{"another counts", intent.Goal{Effect: intent.Increase}, table(nil, three...), table(nil, "Salt|3", "Salsa|2", "Milk|2"),
			0, effect.Unseen},
		{"only a total counts", intent.Goal{Effect: intent.Decrease}, table([]string{"8 rows"}, three...),
			table([]string{"7 rows"}, three...), 0, effect.Unseen},
		{"renamed", intent.Goal{Effect: intent.Edit, Text: &intent.Value{Text: "Sugar"}}, table(nil, three...),
			table(nil, "@r Sugar|3", "Salsa|1", "Milk|2"), 0, effect.Reached},
		{"a line of another one counts", intent.Goal{Effect: intent.Increase}, table([]string{"Room 2: 4 guests"}, rooms...),
			table([]string{"Room 2: 5 guests"}, rooms...), 0, effect.Unseen},
		{"a line of one whose name goes on counts", intent.Goal{Effect: intent.Increase},
			table([]string{"Room 12: 4 guests"}, rooms...), table([]string{"Room 12: 5 guests"}, rooms...), 0, effect.Unseen},
		{"its line counts", intent.Goal{Effect: intent.Increase}, table([]string{"Room 1: 4 guests"}, rooms...),
			table([]string{"Room 1: 5 guests"}, rooms...), 0, effect.Reached},
		{"its line counts before its name", intent.Goal{Effect: intent.Decrease}, table([]string{"2 × Salt"}, "2 × Salt|a",
			"Milk|b"), table([]string{"1 × Salt"}, "2 × Salt|a", "Milk|b"), 0, effect.Reached},
		{"something else than the name", intent.Goal{Effect: intent.Edit, Text: &intent.Value{Text: "Sugar"}},
			table(nil, three...), table(nil, "x Salt|3", "Salsa|1", "Milk|2"), 0, effect.Unseen},
		{"what was removed is back", intent.Goal{Effect: intent.Act, Concept: "undo"}, table(nil, "Salsa|1", "Milk|2"),
			withField(table(nil, three...)), -1, effect.Reached},
		{"more and fields", intent.Goal{Effect: intent.Act}, table(nil, "Salsa|1", "Milk|2"), withField(table(nil, three...)), -1, effect.Partly},
		{"rated otherwise", intent.Goal{Effect: intent.Rate, Amount: &intent.Value{Number: &five}}, table(nil, three...),
			table(nil, "Salt|4", "Salsa|1", "Milk|2"), 0, effect.Unseen},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var target []find.Candidate
			switch {
			case c.target >= 0:
				target = []find.Candidate{record(c.before, c.target)}
			case c.target == -2:
				target = []find.Candidate{{What: find.Column, Index: 0, Sub: 1, Node: -1}}
			}
			if got := effect.Judge(effect.Between(c.before, c.after), &c.goal, target); got.State != c.want {
				t.Errorf("%s (%s), want %s", got.State, got.Why, c.want)
			}
		})
	}
}

func TestBetweenFindsWhatMoved(t *testing.T) {
	c := effect.Between(table(nil, "a", "b", "c", "d", "e"), table(nil, "b", "c", "d", "a", "e"))
	if len(c.Moved) != 1 || c.Before.Records[c.Moved[0].Before].Title != "a" {
		t.Errorf("moved %v, want a alone", c.Moved)
	}
	if len(c.Added)+len(c.Removed) != 0 || len(c.Reordered) != 1 {
		t.Errorf("added %v, removed %v, reordered %v", c.Added, c.Removed, c.Reordered)
	}
}

func TestBetweenOfTheSameIsNothing(t *testing.T) {
	if c := effect.Between(table([]string{"x"}, "a", "b"), table([]string{"x"}, "a", "b")); !c.Nothing || c.Set {
		t.Errorf("%+v", c)
	}
}

// TestJudgeTags holds the emptying of a field to its own tags, which are records as well.
func TestJudgeTags(t *testing.T) {
	with := func(value string, rows ...string) *page.Model {
		m := table(nil, rows...)
		m.Nodes = append(m.Nodes, snapshot.Node{Ref: "to", Parent: -1, Tag: "input", Role: "textbox", Name: "To", Value: value})
		m.Fields = []page.Field{{Node: len(m.Nodes) - 1, Kind: "editor", Label: "To", Value: value, Record: -1, Container: -1}}
		return m
	}
	before := with("Ann Day", "Ann Day", "Bo Lee")
	field := find.Candidate{What: find.Field, Index: 0, Node: before.Fields[0].Node, Sub: -1, Score: 1}
	for _, c := range []struct {
		after *page.Model
		want  effect.State
	}{
		{with("", "Bo Lee"), effect.Reached},
		{with("", "Ann Day"), effect.Wrong},
	} {
		v := effect.Judge(effect.Between(before, c.after), &intent.Goal{Effect: intent.Clear}, []find.Candidate{field})
		if v.State != c.want {
			t.Errorf("got %v (%s), want %v", v.State, v.Why, c.want)
		}
	}
}

// TestJudgeGone holds what is completed to more than that it is gone: whoever judges is told.
func TestJudgeGone(t *testing.T) {
	before := table(nil, "Salt|3", "Salsa|1", "Milk|2")
	for _, c := range []struct {
		after *page.Model
		gone  bool
	}{
		{table(nil, "Salsa|1", "Milk|2"), true},
		{table(nil, "x Salt|3", "Salsa|1", "Milk|2"), false},
	} {
		v := effect.Judge(effect.Between(before, c.after), &intent.Goal{Effect: intent.Complete}, []find.Candidate{record(before, 0)})
		if v.State != effect.Reached || v.Gone != c.gone {
			t.Errorf("%s, gone %v, want %v", v.State, v.Gone, c.gone)
		}
	}
}

// TestAMessageSaysWhatWasDone holds what is gone from a list that begins anew elsewhere to a message that names it and
// refuses nothing.
func TestAMessageSaysWhatWasDone(t *testing.T) {
	for line, want := range map[string]bool{
		"Bo was saved": true, "Bob was saved": false, "Bo could not be changed": false, "Something was saved": false,
	} {
		before, after := table(nil, "Bo|3", "Salsa|1", "Milk|2"), table([]string{line}, "Tea|1", "Soap|2", "Rye|4")
		before.URL, after.URL = "https://shop.example/?page=2", "https://shop.example/"
		v := effect.Judge(effect.Between(before, after), &intent.Goal{Effect: intent.Complete}, []find.Candidate{record(before, 0)})
		if (v.State == effect.Reached) != want {
			t.Errorf("%s: %s (%s)", line, v.State, v.Why)
		}
	}
}

// TestAnOrderWithoutItsColumn holds what shows no direction to say so: whether it is the one that was asked
// for has to be known from what was pressed.
func TestAnOrderWithoutItsColumn(t *testing.T) {
	before, after := table(nil, "Salt|3", "Salsa|1", "Milk|2"), table(nil, "Salsa|1", "Milk|2", "Salt|3")
	column := []find.Candidate{{What: find.Column, Index: 0, Sub: 1, Node: -1}}
	for _, target := range [][]find.Candidate{nil, column} {
		v := effect.Judge(effect.Between(before, after), &intent.Goal{Effect: intent.Sort}, target)
		if v.State != effect.Reached || v.Undirected != (target == nil) {
			t.Errorf("%d targets: %+v", len(target), v)
		}
	}
}

// TestThePageOfAListThatIsAllAlikeShowsNoDirection holds a falling order to more than a first page of equal values.
func TestThePageOfAListThatIsAllAlikeShowsNoDirection(t *testing.T) {
	column := []find.Candidate{{What: find.Column, Index: 0, Sub: 1, Node: -1}}
	for _, pager := range []int{-1, 0} {
		before, after := table(nil, "Salt|3", "Salsa|1", "Milk|0"), table(nil, "Tea|0", "Soap|0", "Milk|0")
		after.Groups[0].Pager = pager
		v := effect.Judge(effect.Between(before, after), &intent.Goal{Effect: intent.Sort, Descending: true}, column)
		if v.State != effect.Reached || v.Undirected != (pager >= 0) {
			t.Errorf("pager %d: %+v", pager, v)
		}
	}
}
