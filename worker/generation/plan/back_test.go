package plan_test

import (
	"slices"
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
