package plan_test

import (
	"fmt"
	"testing"

	"github.com/slipway-qa/slipway/worker/snapshot"
)

// A row of a grid is selected for a button elsewhere that did nothing before, and is pressed again then.
func TestSelectedForAButton(t *testing.T) {
	for _, c := range []struct {
		role string // of the cells: of a plain table nothing is selected
		done bool
	}{{"gridcell", true}, {"cell", false}} {
		t.Run(c.role, func(t *testing.T) {
			selected, collected, wrong := "", "", false
			s := &scene{lang: "en"}
			s.nodes = func() []snapshot.Node {
				list := []snapshot.Node{pressable("done", "button", "Mark as collected"), {Ref: "grid", Parent: -1, Tag: "table", Role: "table"}}
				for _, name := range []string{"Ann", "Brand", "Cy"} {
					at, state, is := len(list), "baked", ""
					if c.role == "gridcell" {
						is = fmt.Sprint(selected == name)
					}
					if collected == name {
						state = "collected"
					}
					list = append(list, snapshot.Node{Ref: name, Parent: 1, Tag: "tr", Role: "row"},
						snapshot.Node{Ref: "name " + name, Parent: at, Tag: "td", Role: c.role, Name: name},
						snapshot.Node{Ref: "state " + name, Parent: at, Tag: "td", Role: c.role, Name: state})
					if selected == name {
						list[at].Selected = is
					}
				}
				return list
			}
			s.on = func(tool, ref, _ string) {
				switch {
				case tool != "click":
				case ref == "done":
					collected, wrong = selected, wrong || selected != "" && selected != "Brand"
				case ref == "Ann" || ref == "Brand" || ref == "Cy":
					selected = ref
				}
			}
			err := s.run(t, "Mark Brand as collected.")
			if (err == nil) != c.done || c.done && collected != "Brand" || wrong {
				t.Errorf("done %v, collected %q: %v", err == nil, collected, err)
			}
		})
	}
}
