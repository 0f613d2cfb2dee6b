package plan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// TestWhatComesBackWasThere takes for undone only what brings back what the page had.
func TestWhatComesBackWasThere(t *testing.T) {
	for back, done := range map[string]bool{"Salt": true, "Nothing to undo": false} {
		rows := []string{"Salt", "Rice", "Milk"}
		s := &scene{lang: "en"}
		s.nodes = func() []snapshot.Node {
			list := []snapshot.Node{pressable("undo", "button", "Undo"), {Ref: "list", Parent: -1, Tag: "ul", Role: "list"}}
			for _, row := range rows {
				at := len(list)
				remove := pressable("delete "+row, "button", "Delete")
				remove.Parent = at
				list = append(list, snapshot.Node{Ref: "row " + row, Parent: 1, Tag: "li", Role: "listitem"},
					snapshot.Node{Ref: "name " + row, Parent: at, Tag: "span", Role: "text", Name: row}, remove)
			}
			return list
		}
		s.on = func(tool, ref, _ string) {
			switch {
			case tool != step.Click:
			case ref == "delete Salt":
				rows = slices.DeleteFunc(rows, func(row string) bool { return row == "Salt" })
			case ref == "undo" && !slices.Contains(rows, back):
				rows = append(rows, back)
			}
		}
		if err := s.run(t, "Delete Salt. Undo."); (err == nil) != done {
			t.Errorf("%s: %v, rows %v", back, err, rows)
		}
	}
}

// TestWhatComesBackWasInATab takes for undone what brings back a thing of a part that was opened on the way.
func TestWhatComesBackWasInATab(t *testing.T) {
	rows := map[string][]string{"Today": {"Bread", "Tea"}, "Later": {"Salt", "Rice", "Milk"}}
	tab, gone := "Today", ""
	s := &scene{lang: "en"}
	s.nodes = func() []snapshot.Node {
		list := []snapshot.Node{{Ref: "tabs", Parent: -1, Tag: "div", Role: "tablist"}}
		for _, name := range []string{"Today", "Later"} {
			one := pressable("tab "+name, "tab", name)
			one.Parent, one.Selected = 0, fmt.Sprint(name == tab)
			list = append(list, one)
		}
		ul := len(list)
		list = append(list, snapshot.Node{Ref: "list", Parent: -1, Tag: "ul", Role: "list"})
		for _, row := range rows[tab] {
			at := len(list)
			remove := pressable("delete "+row, "button", "Delete")
			remove.Parent = at
			list = append(list, snapshot.Node{Ref: "row " + row, Parent: ul, Tag: "li", Role: "listitem"},
				snapshot.Node{Ref: "name " + row, Parent: at, Tag: "span", Role: "text", Name: row}, remove)
		}
		if gone != "" {
			list = append(list, pressable("undo", "button", "Undo"))
		}
		return list
	}
	s.on = func(tool, ref, _ string) {
		kind, name, _ := strings.Cut(ref, " ")
		switch {
		case tool != step.Click:
		case kind == "tab":
			tab = name
		case kind == "delete":
			rows[tab], gone = slices.DeleteFunc(rows[tab], func(row string) bool { return row == name }), name
		case kind == "undo":
			rows[tab], gone = append(rows[tab], gone), ""
		}
	}
	if err := s.run(t, "Delete Salt in the tab Later. Undo."); err != nil || len(rows["Later"]) != 3 {
		t.Errorf("%v, rows %v", err, rows)
	}
}
