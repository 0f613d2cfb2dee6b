package method_test

import (
	"strings"
	"testing"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/effect"
	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/method"
	"github.com/slipway-qa/slipway/worker/generation/page"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// nodes makes the model of a page: its nodes name their parents by ref.
func nodes(list ...snapshot.Node) *page.Model {
	s := &snapshot.Snapshot{URL: "http://page/", Lang: "en", Quiet: true, Width: 1000, Height: 800}
	at := map[string]int{"": -1}
	for i, n := range list {
		parent := n.Label // borrowed: no node of these tests has a label
		n.Label = ""
		n.Parent = at[parent]
		n.Box = [4]int{10, 30 * i, 200, 20}
		if _, known := at[n.Ref]; !known {
			at[n.Ref] = i
		}
		s.Nodes = append(s.Nodes, n)
	}
	return page.New(s)
}

func button(ref, parent, name string) snapshot.Node {
	return snapshot.Node{Ref: ref, Label: parent, Tag: "button", Role: "button", Name: name, Text: name, Interactive: true}
}

func item(ref, name string) []snapshot.Node {
	return []snapshot.Node{
		{Ref: ref, Label: "ul", Tag: "li", Role: "listitem"},
		{Ref: ref + "t", Label: ref, Tag: "span", Role: "text", Name: name},
	}
}

func tasks(controls func(ref string) []snapshot.Node) *page.Model {
	list := []snapshot.Node{{Ref: "ul", Tag: "ul", Role: "list"}}
	for i, name := range []string{"Feed the cat", "Walk the dog", "Wash the car"} {
		ref := string(rune('a' + i))
		list = append(list, item(ref, name)...)
		list = append(list, controls(ref)...)
	}
	return nodes(list...)
}

func second(t *testing.T, m *page.Model) *find.Candidate {
	t.Helper()
	if len(m.Records) != 3 {
		t.Fatalf("%d records, want 3", len(m.Records))
	}
	return &find.Candidate{What: find.Record, Index: 1, Node: m.Records[1].Node, Sub: -1, Score: 1}
}

// told is a way as text: its tools and the refs of their nodes.
func told(m *page.Model, w *method.Way) string {
	var list []string
	for _, a := range w.Acts {
		ref := a.Args.Key
		if a.Node >= 0 {
			ref = m.Nodes[a.Node].Ref
		}
		list = append(list, strings.TrimSpace(a.Tool+" "+ref))
	}
	return strings.Join(list, ", ")
}

func TestWaysToRemove(t *testing.T) {
	cases := []struct {
		name     string
		controls func(ref string) []snapshot.Node
		want     string
		reveals  bool
	}{
		{"a button of the record", func(ref string) []snapshot.Node { return []snapshot.Node{button(ref+"x", ref, "Delete")} },
			"click bx", false},
		{"a menu of the record", func(ref string) []snapshot.Node {
			n := button(ref+"m", ref, "More")
			n.Popup, n.Expanded = "menu", "false"
			return []snapshot.Node{n}
		}, "click bm", true},
		{"a context menu", func(ref string) []snapshot.Node {
			return []snapshot.Node{{Ref: ref + "c", Label: ref, Tag: "span", Role: "", Name: "note", Text: "note", Reacts: "contextmenu"}}
		}, "right_click bc", true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m := tasks(c.controls)
			ways := method.Ways(&method.Task{Model: m, Goal: &intent.Goal{Effect: intent.Remove, Lemma: "delete"},
				Lang: "en", Target: second(t, m), Inside: -1})
			var got []string
			for i := range ways {
				got = append(got, told(m, &ways[i]))
				if told(m, &ways[i]) == c.want && ways[i].Reveals == c.reveals {
					return
				}
			}
			t.Errorf("ways %q, want %s", got, c.want)
		})
	}
}

func TestNothingOfAnotherRecordIsPressed(t *testing.T) {
	m := tasks(func(ref string) []snapshot.Node { return []snapshot.Node{button(ref+"x", ref, "Delete")} })
	for _, w := range method.Ways(&method.Task{Model: m, Goal: &intent.Goal{Effect: intent.Remove, Lemma: "delete"},
		Lang: "en", Target: second(t, m), Inside: -1}) {
		if text := told(m, &w); strings.Contains(text, "ax") || strings.Contains(text, "cx") {
			t.Errorf("%s is of another record", text)
		}
	}
}

func TestSwitchIsPressedOnlyWhereItIsOther(t *testing.T) {
	m := tasks(func(ref string) []snapshot.Node {
		return []snapshot.Node{{Ref: ref + "b", Label: ref, Tag: "input", Type: "checkbox", Role: "checkbox", Interactive: true, Checked: "true"}}
	})
	for _, w := range method.Ways(&method.Task{Model: m, Goal: &intent.Goal{Effect: intent.Complete, Lemma: "tick"},
		Lang: "en", Target: second(t, m), Inside: -1}) {
		if told(m, &w) == "click bb" && !w.Reveals {
			t.Error("a box that is ticked is pressed")
		}
	}
}

func TestHoldsComparesByKind(t *testing.T) {
	number, day := 12.4, &intent.Date{Year: 2031, Month: 5, Day: 6, Hour: -1, Minute: -1}
	cases := []struct {
		held  string
		value intent.Value
		want  bool
	}{
		{"12.40", intent.Value{Text: "12,40", Number: &number}, true},
		{"12,40 €", intent.Value{Text: "12.40", Number: &number}, true},
		{"124", intent.Value{Text: "12.40", Number: &number}, false},
		{"06/05/2031", intent.Value{Text: "6 May 2031", Date: day}, true},
		{"2031-05-07", intent.Value{Text: "6 May 2031", Date: day}, false},
		{"Hello  World", intent.Value{Text: "hello world"}, true},
		{"", intent.Value{Text: "hello"}, false},
	}
	for _, c := range cases {
		if got := method.SameValue(&page.Field{Value: c.held}, &snapshot.Node{}, &c.value); got != c.want {
			t.Errorf("%q holds %q: %v", c.held, c.value.Text, got)
		}
	}
}

func TestDayOfCalendar(t *testing.T) {
	list := []snapshot.Node{{Ref: "cal", Tag: "div", Role: "region"}, {Ref: "head", Label: "cal", Tag: "h3", Role: "heading",
		Name: "April 2031", Text: "April 2031", Level: 3},
		button("on", "cal", "›"), button("back", "cal", "‹")}
	for d := range 30 {
		list = append(list, button("d"+string(rune('A'+d)), "cal", method.NumberText(float64(d+1))))
	}
	m := nodes(list...)
	task := &method.Task{Model: m, Goal: &intent.Goal{Effect: intent.Set}, Lang: "en", Inside: -1}
	for date, want := range map[intent.Date]string{
		{Year: 2031, Month: 4, Day: 3}: "click dC", {Year: 2031, Month: 6, Day: 3}: "click on", {Year: 2030, Month: 6, Day: 3}: "click back",
	} {
		ways := method.DayWays(task, &date)
		if len(ways) == 0 || told(m, &ways[0]) != want {
			t.Errorf("%+v: %v, want %s", date, ways, want)
		}
	}
}

func TestRiskOfWays(t *testing.T) {
	m := tasks(func(ref string) []snapshot.Node { return []snapshot.Node{button(ref+"x", ref, "Delete")} })
	for _, w := range method.Ways(&method.Task{Model: m, Goal: &intent.Goal{Effect: intent.Remove, Lemma: "delete"},
		Lang: "en", Target: second(t, m), Inside: -1}) {
		if told(m, &w) == "click bx" && !w.Risks {
			t.Error("the press of Delete is no risk")
		}
		for _, a := range w.Acts {
			if a.Tool == step.Drag {
				t.Error("a drag")
			}
		}
	}
	if !method.Destroys(m, 0) || effect.ControlName(m, 0) != "Delete" {
		t.Errorf("%q destroys nothing", effect.ControlName(m, 0))
	}
}
