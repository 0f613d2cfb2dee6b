package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// What a thing of the page is chosen without is said of that thing, and not of a box that narrows the list.
func TestThingsAreNotChosenWithoutABox(t *testing.T) {
	chosen := ""
	s := &scene{lang: "en"}
	s.nodes = func() []snapshot.Node {
		list := []snapshot.Node{box("balcony", "Balcony", false), {Ref: "ul", Parent: -1, Tag: "ul", Role: "list"}}
		for _, r := range []string{"Room Amber 60 euros balcony", "Room Birch 90 euros", "Room Cedar 80 euros balcony"} {
			li := len(list)
			list = append(list, snapshot.Node{Ref: "li " + r, Parent: 1, Tag: "li", Role: "listitem"})
			for i, text := range strings.SplitN(r, " ", 3) {
				list = append(list, snapshot.Node{Ref: fmt.Sprint("t", i, r), Parent: li, Tag: "span", Role: "text", Name: text})
			}
			list = append(list, inside(li, pressable("choose "+r, "button", "Choose")))
		}
		return list
	}
	s.on = func(_, ref, _ string) {
		if r, ok := strings.CutPrefix(ref, "choose "); ok {
			chosen = r
		}
	}
	if err := s.run(t, "Choose the cheapest room without a balcony"); strings.Contains(chosen, "Amber") || err == nil && chosen == "" {
		t.Errorf("chose %q: %v", chosen, err)
	}
}

// Somebody who is ticked is not invited with the one that is meant.
func TestOnlyWhoIsMeantIsTicked(t *testing.T) {
	for _, c := range []struct{ ticked, want string }{{"", "Bo"}, {"Ann", ""}} {
		on, invited := map[string]bool{c.ticked: true}, []string{}
		s := &scene{lang: "en"}
		s.nodes = func() []snapshot.Node {
			list := []snapshot.Node{pressable("invite", "button", "Invite to training"), {Ref: "ul", Parent: -1, Tag: "table", Role: "table"}}
			for _, name := range []string{"Ann", "Bo", "Cy"} {
				row := len(list)
				one := inside(row+1, box("box "+name, "", on[name]))
				one.NameAttr = "btSelectItem"
				list = append(list, snapshot.Node{Ref: "row " + name, Parent: 1, Tag: "tr", Role: "row"},
					snapshot.Node{Ref: "in " + name, Parent: row, Tag: "td", Role: "cell"}, one,
					snapshot.Node{Ref: "name " + name, Parent: row, Tag: "td", Role: "cell", Name: name},
					inside(row, pressable("edit "+name, "button", "Edit")))
			}
			return append(list, snapshot.Node{Ref: "says", Parent: -1, Tag: "p", Role: "status", Live: true,
				Name: "Invited: " + strings.Join(invited, ", ")})
		}
		s.on = func(tool, ref, _ string) {
			kind, name, _ := strings.Cut(ref, " ")
			switch {
			case tool != step.Click:
			case kind == "box":
				on[name] = !on[name]
			case kind == "invite":
				for _, name := range []string{"Ann", "Bo", "Cy"} {
					if on[name] {
						invited = append(invited, name)
					}
				}
			}
		}
		err := s.run(t, "Invite Bo to the training. The page should show Invited: Bo.")
		if got := strings.Join(invited, ","); got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%q ticked: invited %q with %v: %v", c.ticked, got, s.did, err)
		}
	}
}

// What is to be hidden is no box that is called so, where it is ticked for hiding or nothing goes with it.
func TestBoxesThatHideNothing(t *testing.T) {
	for text, name := range map[string]string{"Hide archived rooms": "Hide archived rooms", "Hide Amber": "Amber"} {
		on := true
		s := &scene{lang: "en"}
		s.nodes = func() []snapshot.Node {
			return []snapshot.Node{{Ref: "h", Parent: -1, Tag: "h2", Role: "heading", Level: 2, Name: "Rooms"}, box("box", name, on)}
		}
		s.on = func(_, ref, _ string) { on = on != (ref == "box") }
		if err := s.run(t, text); err == nil {
			t.Errorf("%s: done by %v", text, s.did)
		}
	}
}

// To go on is not to pay.
func TestGoingOnPaysNothing(t *testing.T) {
	paid := false
	s := &scene{lang: "en"}
	s.nodes = func() []snapshot.Node {
		if paid {
			return []snapshot.Node{{Ref: "done", Parent: -1, Tag: "h1", Role: "heading", Level: 1, Name: "Thank you"}}
		}
		return []snapshot.Node{{Ref: "h", Parent: -1, Tag: "h1", Role: "heading", Level: 1, Name: "Shop"},
			{Ref: "dlg", Parent: -1, Tag: "div", Role: "dialog", Modal: true, Name: "Your order", Layer: "fixed"},
			inside(1, pressable("pay", "button", "Pay 40")), inside(1, pressable("cancel", "button", "Cancel"))}
	}
	s.on = func(_, ref, _ string) { paid = paid || ref == "pay" }
	if err := s.run(t, "Continue"); paid {
		t.Errorf("paid: %v", err)
	}
}
