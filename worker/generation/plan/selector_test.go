package plan

import (
	"cmp"
	"context"
	"testing"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/page"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// located is a page that knows how its elements are found, and nothing else.
type located map[string]snapshot.Located

func (l located) Snapshot(context.Context) (*snapshot.Snapshot, error) { return nil, nil }

func (l located) Locate(_ context.Context, refs ...string) ([]snapshot.Located, error) {
	return []snapshot.Located{l[refs[0]]}, nil
}

func (l located) Do(context.Context, step.Step) (playback.Record, error) {
	return playback.Record{}, nil
}

const pathToText = "div:nth-of-type(2) > tag > span:nth-last-of-type(1)"

// TestSelectorOfAComparedText holds the comparison of a text to an element that another text can be in.
func TestSelectorOfAComparedText(t *testing.T) {
	byText := func(text string) step.Selector { return step.Selector{Type: step.ByText, Value: text, Exact: true} }
	byName := func(role, name string) step.Selector {
		return step.Selector{Type: step.ByRole, Value: role, Name: name}
	}
	byCSS := func(css string) step.Selector { return step.Selector{Type: step.CSS, Value: css} }
	shown := byText("Carla Ruiz")
	inside := func(s, box step.Selector) step.Selector {
		s.Within = &box
		return s
	}
	around := func(role, name string) []snapshot.Node {
		return []snapshot.Node{{Ref: "box", Parent: -1, Tag: "div", Role: role, Name: name, Box: [4]int{0, 0, 300, 90}},
			{Ref: "other", Parent: 0, Tag: "p", Role: "text", Name: "The guest is", Box: [4]int{0, 20, 300, 20}},
			{Ref: "shown", Parent: 0, Tag: "span", Role: "text", Name: "Carla Ruiz", Box: [4]int{0, 40, 300, 20}}}
	}
	rows := []snapshot.Node{{Ref: "list", Parent: -1, Tag: "ul", Role: "list", Name: "Guests", Box: [4]int{0, 0, 300, 90}}}
	for i, room := range []string{"Eider", "Heron", "Plover"} {
		guest := snapshot.Node{Parent: 1 + 3*i, Tag: "span", Role: "text", Name: []string{"Ann Lee", "Carla Ruiz", "Joe Orr"}[i],
			Ref: []string{"ann", "shown", "joe"}[i], Box: [4]int{100, 30 * i, 90, 20}}
		rows = append(rows, snapshot.Node{Ref: room, Parent: 0, Tag: "li", Role: "listitem", Box: [4]int{0, 30 * i, 300, 20}},
			snapshot.Node{Ref: room + " title", Parent: 1 + 3*i, Tag: "b", Role: "text", Name: room, Box: [4]int{0, 30 * i, 90, 20}}, guest)
	}
	guests, heron := byName("list", "Guests"), step.Selector{Type: step.ByRole, Value: "listitem", HasText: "Heron"}
	booking, path := byName("region", "Booking"), byCSS(pathToText)
	for name, c := range map[string]struct {
		nodes    []snapshot.Node
		kind     string // of the check; "" is contains
		not      bool
		of       step.Selector // "" is the text
		place    step.Selector // "" is the path
		box, row step.Selector
		want     step.Selector
	}{
		"an id":                       {nodes: around("", ""), place: byCSS("#guest"), want: byCSS("#guest")},
		"an id, and it is there":      {nodes: around("", ""), kind: "visible", place: byCSS("#guest"), want: byCSS("#guest")},
		"a position":                  {nodes: around("", ""), want: path},
		"a position, and it is there": {nodes: around("", ""), kind: "visible", want: shown},
		"a position, as a value":      {nodes: around("", ""), kind: "value", want: path},
		"a position, and by it":       {nodes: around("region", "Booking"), of: path, box: booking, want: path},
		"a section":                   {nodes: around("region", "Booking"), box: booking, want: inside(shown, booking)},
		"a section, as a value":       {nodes: around("region", "Booking"), kind: "value", box: booking, want: inside(shown, booking)},
		"a section, and it is there":  {nodes: around("region", "Booking"), kind: "visible", box: booking, want: shown},
		"a section, and not":          {nodes: around("region", "Booking"), not: true, box: booking, want: path},
		"a section by its position":   {nodes: around("region", "Booking"), box: byCSS("div:nth-of-type(2)"), want: path},
		"a section by a part of it":   {nodes: around("region", "Booking"), box: byText("The guest is"), want: path},
		"a section named by the text": {nodes: around("region", "Carla Ruiz"), box: byName("region", "Carla Ruiz"), want: path},
		"a section found by the text": {nodes: around("region", "Booking"), want: path,
			box: step.Selector{Type: step.ByRole, Value: "region", HasText: "Carla Ruiz"}},
		"the main part of the page": {nodes: around("main", "Booking"), box: byName("main", "Booking"), want: path},
		"in a section already":      {nodes: around("region", "Booking"), of: inside(shown, booking), want: inside(shown, booking)},
		"in the main part already":  {nodes: around("region", "Booking"), of: inside(shown, byName("main", "")), want: path},
		"a row":                     {nodes: rows, box: guests, row: heron, want: inside(shown, heron)},
		"a row by its position":     {nodes: rows, box: guests, row: byCSS("li:nth-of-type(2)"), want: path},
		"in the list already":       {nodes: rows, of: inside(shown, guests), row: heron, want: path},
	} {
		t.Run(name, func(t *testing.T) {
			of, place := shown, path
			if c.of.Type != "" {
				of = c.of
			}
			if c.place.Type != "" {
				place = c.place
			}
			m := page.New(&snapshot.Snapshot{Nodes: c.nodes, Width: 1000, Height: 800, Lang: "en"})
			node := -1
			for i := range m.Nodes {
				if m.Nodes[i].Ref == "shown" {
					node = i
				}
			}
			a, ok := assertionOf(m, &find.Check{Kind: cmp.Or(c.kind, "contains"), Node: node, Text: "Carla Ruiz", Not: c.not})
			if !ok {
				t.Fatal("nothing is asserted")
			}
			p := &planner{cfg: Config{Page: located{"box": {Selector: c.box}, "list": {Selector: c.box}, "Heron": {Selector: c.row}}}}
			got, err := p.selectorOf(t.Context(), m, &snapshot.Located{Selector: of, Place: &place}, &a)
			if err != nil || !step.SameSelector(got, &c.want) {
				t.Errorf("got %+v within %+v, want %+v within %+v: %v", got, got.Within, c.want, c.want.Within, err)
			}
		})
	}
}
