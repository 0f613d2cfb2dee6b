package plan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// cookery is a page of dishes with a form for new ones: a box that is called as a property of a dish is
// in its form, or narrows the list.
func cookery(narrows bool) (*scene, *[]string) {
	dishes := []string{"Goulash", "Lentils (vegetarian)", "Roast"}
	title, on := "", false
	s := &scene{lang: "en"}
	s.nodes = func() []snapshot.Node {
		list := []snapshot.Node{{Ref: "ul", Parent: -1, Tag: "ul", Role: "list"}}
		for _, d := range dishes {
			if narrows && on && !strings.HasSuffix(d, "(vegetarian)") {
				continue
			}
			li := len(list)
			list = append(list, snapshot.Node{Ref: "li " + d, Tag: "li", Role: "listitem"}, snapshot.Node{Ref: "t " + d,
				Parent: li, Tag: "span", Role: "text", Name: d})
		}
		return append(list, typable("title", "Dish", title), box("veg", "Vegetarian", on), pressable("add", "button", "Add"))
	}
	s.on = func(tool, ref, text string) {
		switch {
		case tool == step.InputText:
			title = text
		case tool == step.Click && ref == "veg":
			on = !on
		case tool == step.Click && ref == "add" && title != "":
			if on && !narrows {
				title += " (vegetarian)"
			}
			dishes, title = append(slices.Clone(dishes), title), ""
		}
	}
	return s, &dishes
}

func TestAFilterTakesNoValueOfAnAddition(t *testing.T) {
	for _, narrows := range []bool{true, false} {
		t.Run(fmt.Sprint(narrows), func(t *testing.T) {
			s, dishes := cookery(narrows)
			err := s.run(t, `Add the dish "Pie", vegetarian`)
			want := "Goulash,Lentils (vegetarian),Roast"
			if !narrows {
				want += ",Pie (vegetarian)"
			}
			if got := strings.Join(*dishes, ","); got != want || (err != nil) != narrows {
				t.Errorf("dishes %q, want %q, error %v", got, want, err)
			}
		})
	}
}

// TestWhereAnAdditionGoesIsChosen holds "in the section Plants" to the choice of that name.
func TestWhereAnAdditionGoesIsChosen(t *testing.T) {
	section, title := "Birds", ""
	var made []string
	s := &scene{lang: "en"}
	s.nodes = func() []snapshot.Node {
		choice := snapshot.Node{Ref: "section", Parent: -1, Tag: "select", Role: "combobox", Name: "Section", Label: "Section",
			Value: section, HasValue: true, Interactive: true}
		for _, o := range []string{"Birds", "Plants"} {
			choice.Options = append(choice.Options, snapshot.Option{Label: o, Value: o, Selected: o == section})
		}
		list := []snapshot.Node{typable("title", "Title", title), choice, pressable("add", "button", "Add note"),
			{Ref: "ul", Parent: -1, Tag: "ul", Role: "list"}}
		ul := len(list) - 1
		for _, d := range append([]string{"Storks", "Geese"}, made...) {
			li := len(list)
			list = append(list, snapshot.Node{Ref: "li " + d, Parent: ul, Tag: "li", Role: "listitem"},
				snapshot.Node{Ref: "t " + d, Parent: li, Tag: "span", Role: "text", Name: d})
		}
		return list
	}
	s.on = func(tool, ref, text string) {
		switch {
		case tool == step.InputText:
			title = text
		case tool == step.Select:
			section = "Plants"
		case tool == step.Click && ref == "add":
			made, title = append(made, title+" in "+section), ""
		}
	}
	if err := s.run(t, `Add a note "Snowdrops" in the section Plants`); err != nil || strings.Join(made, ",") != "Snowdrops in Plants" {
		t.Errorf("made %q, error %v", made, err)
	}
}

// TestASearchGoesIntoNoFormForNewThings holds the text of a search to the field of a search.
func TestASearchGoesIntoNoFormForNewThings(t *testing.T) {
	for _, searches := range []bool{true, false} {
		typed := map[string]string{}
		s := &scene{lang: "en"}
		s.nodes = func() []snapshot.Node {
			list := []snapshot.Node{typable("new", "New task", typed["new"]), {Ref: "ul", Parent: -1, Tag: "ul", Role: "list"}}
			for _, d := range []string{"Walk the dog", "Wash the car", "Feed the cat"} {
				if q := typed["find"]; !strings.Contains(d, q) {
					continue
				}
				li := len(list)
				list = append(list, snapshot.Node{Ref: "li " + d, Parent: 1, Tag: "li", Role: "listitem"},
					snapshot.Node{Ref: "t " + d, Parent: li, Tag: "span", Role: "text", Name: d})
			}
			if searches {
				list = append(list, typable("find", "Search tasks", typed["find"]))
			}
			return list
		}
		s.on = func(tool, ref, text string) {
			if tool == step.InputText {
				typed[ref] = text
			}
		}
		if err := s.run(t, "Search for dog"); searches && err != nil || typed["new"] != "" || typed["find"] != "" != searches {
			t.Errorf("searches %v: typed %q, error %v", searches, typed, err)
		}
	}
}
