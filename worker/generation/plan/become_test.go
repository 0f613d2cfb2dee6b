package plan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-qa/slipway/worker/snapshot"
)

// orders is a table of things in a state. They are marked by a control of the row that is called so, or
// selected and then marked by one above the table.
type orders struct {
	state    map[string]string
	selected []string
	control  string // of each row
	mark     string // above
}

func (o *orders) scene() *scene {
	s := &scene{lang: "en"}
	s.nodes = func() []snapshot.Node {
		list := []snapshot.Node{pressable("mark", "button", o.mark), {Ref: "table", Parent: -1, Tag: "table", Role: "table"}}
		for i, name := range []string{"Anna Bell", "Ben Cole"} {
			tr, y := len(list), 60+30*i
			list = append(list, snapshot.Node{Ref: "row " + name, Parent: 1, Tag: "tr", Role: "row", Box: [4]int{10, y, 400, 20}},
				snapshot.Node{Ref: "name " + name, Parent: tr, Tag: "td", Role: "cell", Name: name, Box: [4]int{40, y, 100, 20}},
				snapshot.Node{Ref: "state " + name, Parent: tr, Tag: "td", Role: "cell", Name: o.state[name], Box: [4]int{150, y, 100, 20}})
			control := snapshot.Node{Ref: "do " + name, Parent: tr, Tag: "button", Role: "button", Name: o.control,
				Interactive: true, Box: [4]int{260, y, 60, 20}}
			if o.mark != "" {
				control = box("do "+name, o.control, slices.Contains(o.selected, name))
				control.Parent, control.Box = tr, [4]int{10, y, 20, 20}
			}
			list = append(list, control)
		}
		if o.mark == "" {
			list[0] = pressable("print", "button", "Print")
		}
		return list
	}
	s.on = func(_, ref, _ string) {
		switch what, name, _ := strings.Cut(ref, " "); {
		case what == "do" && o.mark == "":
			o.state[name] = o.control
		case what == "do" && slices.Contains(o.selected, name):
			o.selected = slices.DeleteFunc(o.selected, func(s string) bool { return s == name })
		case what == "do":
			o.selected = append(o.selected, name)
		case what == "mark":
			for _, name := range o.selected {
				o.state[name] = strings.TrimPrefix(o.mark, "Mark as ")
			}
			o.selected = nil
		}
	}
	return s
}

// A thing is marked as something by the control of that name in its row, and where its box only selects
// it, by what is pressed then. What it has is not what it is marked as.
func TestMarkAs(t *testing.T) {
	for _, c := range []struct {
		text, control, mark string
		done                bool
		want                string
	}{
		{"Mark Ben Cole as paid", "paid", "", true, "open paid"},
		{"Mark Ben Cole as shipped", "Select", "Mark as shipped", true, "open shipped"},
		{"Mark Ben Cole as urgent", "Select", "Mark as shipped", false, "open open"},
		{"Mark Ben Cole as open", "paid", "", false, "open open"},
	} {
		t.Run(c.text, func(t *testing.T) {
			o := &orders{state: map[string]string{"Anna Bell": "open", "Ben Cole": "open"}, control: c.control, mark: c.mark}
			err := o.scene().run(t, c.text)
			if got := fmt.Sprint(o.state["Anna Bell"], " ", o.state["Ben Cole"]); (err == nil) != c.done || c.done && got != c.want {
				t.Errorf("%s, want %s: %v", got, c.want, err)
			}
		})
	}
}

// What a thing is to become is not chosen in a filter, which shows other things and changes none.
func TestBecomeIsNoFilter(t *testing.T) {
	shown := "All roles"
	s := &scene{lang: "en"}
	s.nodes = func() []snapshot.Node {
		filter := snapshot.Node{Ref: "filter", Parent: -1, Tag: "select", Role: "combobox", Name: "Filter by role",
			Label: "Filter by role", Value: shown, HasValue: true, Interactive: true}
		for _, role := range []string{"All roles", "Admin", "Viewer"} {
			filter.Options = append(filter.Options, snapshot.Option{Label: role, Value: role, Selected: role == shown})
		}
		list := []snapshot.Node{filter}
		for _, n := range prices("row", "Ann Lee|Viewer", "Bo Hart|Admin") {
			if n.Parent >= 0 {
				n.Parent++
			} else {
				n.Parent = -1
			}
			list = append(list, n)
		}
		return list
	}
	s.on = func(tool, ref, text string) {
		if ref == "filter" {
			shown = "Admin"
		}
	}
	if err := s.run(t, "Make Ann Lee an admin"); err == nil || shown != "All roles" {
		t.Errorf("%s: %v", shown, err)
	}
}
