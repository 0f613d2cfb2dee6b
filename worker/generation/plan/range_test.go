package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/plan"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// stay is a form for a stay: two fields of dates that are typed into, or that open a calendar in which
// both days are pressed.
func stay(picked bool) (*scene, *[2]string) {
	var days [2]string
	open := false
	s := &scene{lang: "en"}
	s.nodes = func() []snapshot.Node {
		list := []snapshot.Node{typable("guest", "Guest", "")}
		for i, name := range []string{"Arrival", "Departure"} {
			n := typable(fmt.Sprint("day", i), name, days[i])
			n.ReadOnly = picked
			if !picked {
				n.Placeholder = "dd/mm/yyyy"
			}
			list = append(list, n)
		}
		if !open {
			return list
		}
		at := len(list)
		list = append(list, snapshot.Node{Ref: "calendar", Parent: -1, Tag: "div", Layer: "absolute", Box: [4]int{0, 0, 400, 400}},
			snapshot.Node{Ref: "month", Parent: at, Tag: "span", Role: "text", Name: "May 2031"})
		for d := 1; d <= 31; d++ {
			list = append(list, snapshot.Node{Ref: fmt.Sprint("d", d), Parent: at, Tag: "div", Name: fmt.Sprint(d), Interactive: true})
		}
		return list
	}
	var first string
	s.on = func(tool, ref, text string) {
		switch {
		case tool == step.InputText && ref == "day0":
			days[0] = text
		case tool == step.InputText && ref == "day1":
			days[1] = text
		case tool == step.Click && picked && strings.HasPrefix(ref, "day"):
			open = true
		case tool == step.Click && ref[0] == 'd' && first == "":
			first = "2031-05-" + ref[1:]
		case tool == step.Click && ref[0] == 'd':
			days, open = [2]string{first, "2031-05-" + ref[1:]}, false
		}
	}
	return s, &days
}

func TestARangeOfDatesIsSet(t *testing.T) {
	for _, picked := range []bool{false, true} {
		want := map[bool]string{false: "05/05/2031 09/05/2031", true: "2031-05-5 2031-05-9"}[picked]
		for _, text := range []string{"Choose from 5 May to 9 May 2031", "Choisis du 5 au 9 mai 2031",
			"Elige del 5 al 9 de mayo de 2031", "Wähle den 5. bis 9. Mai 2031"} {
			s, days := stay(picked)
			if err := s.run(t, text); err != nil || strings.Join(days[:], " ") != want {
				t.Errorf("%s: %v, %v, %v", text, *days, s.did, err)
			}
		}
	}
}

// What is asked for with values is a form: neither is it handed in empty, nor is a box ticked for it.
func TestNothingIsHandedInEmpty(t *testing.T) {
	typed := map[string]string{}
	copied := false
	s := &scene{lang: "en"}
	s.nodes = func() []snapshot.Node {
		list := []snapshot.Node{{Ref: "form", Parent: -1, Tag: "form", Role: "form"}}
		for _, n := range []snapshot.Node{typable("town", "Town", typed["town"]), box("copy", "Add me a copy", copied),
			pressable("send", "button", "Add cake")} {
			n.Parent = 0
			if n.Ref == "send" {
				n.Type = "submit"
			}
			list = append(list, n)
		}
		return list
	}
	s.on = func(tool, ref, text string) {
		switch {
		case tool == step.InputText:
			typed[ref] = text
		case ref == "copy":
			copied = !copied
		case ref == "send" && typed["town"] == "":
			t.Errorf("it is handed in empty: %v", s.did)
		}
	}
	if err := s.run(t, "Add a cake, town: Ulm, colour: red"); err == nil || copied ||
		strings.Contains(strings.Join(s.did, " "), "click copy") {
		t.Errorf("%v, %v", s.did, err)
	}
}

// TestARangeIsNotWrittenIntoAnotherField holds the end of a range to a field that takes dates.
func TestARangeIsNotWrittenIntoAnotherField(t *testing.T) {
	texts := map[string]string{}
	s := &scene{lang: "en", nodes: func() []snapshot.Node {
		stay := typable("stay", "Stay dates", texts["stay"])
		stay.Placeholder = "yyyy-mm-dd"
		return []snapshot.Node{stay, typable("guest", "Guest name", texts["guest"]), pressable("save", "button", "Save")}
	}, on: func(tool, ref, text string) {
		if tool == step.InputText {
			texts[ref] = text
		}
	}}
	_, err := plan.Run(t.Context(), plan.Config{Page: s, Intent: "Enter 3 to 9 May 2031 as the stay", NoSuggestion: true})
	if texts["guest"] != "" || err == nil && texts["stay"] == "2031-05-03" {
		t.Errorf("%v: %v", texts, err)
	}
}
