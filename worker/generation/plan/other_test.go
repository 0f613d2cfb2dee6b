package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// shelves is a page with a list of goods, each of which can be ordered, a field for the name of who
// buys, and a menu of an account.
func shelves() *scene {
	name, menu := "", false
	s := &scene{lang: "en"}
	s.nodes = func() []snapshot.Node {
		list := []snapshot.Node{{Ref: "ul", Parent: -1, Tag: "ul", Role: "list"}}
		for _, t := range []string{"Black tea 60", "Green tea 9", "Cocoa 44"} {
			li := len(list)
			order := pressable("order "+t, "button", "Order")
			order.Parent = li
			list = append(list, snapshot.Node{Ref: "li " + t, Tag: "li", Role: "listitem"}, snapshot.Node{Ref: "t " + t,
				Parent: li, Tag: "span", Role: "text", Name: t}, order)
		}
		list = append(list, typable("name", "Your name", name), pressable("account", "button", "Nadia"))
		if menu {
			list = append(list, pressable("out", "button", "Sign out"))
		}
		return list
	}
	s.on = func(tool, ref, text string) {
		if tool == step.InputText {
			name = text
		}
		menu = menu || ref == "account"
	}
	return s
}

// What is not found is done to nothing else.
func TestNothingIsDoneToAnother(t *testing.T) {
	for _, text := range []string{"Order 30 of the oat flakes", "Order the tea that is nearly sold out", "Apply the code GINO10"} {
		s := shelves()
		if err := s.run(t, text); err == nil {
			t.Errorf("%s: it was done", text)
		}
		for _, d := range s.did {
			if strings.HasPrefix(d, step.Click+" order") || strings.HasPrefix(d, step.InputText) {
				t.Errorf("%s: %s", text, d)
			}
		}
	}
}

// What only sets something sends nothing for it.
func TestNothingIsSentToSetAValue(t *testing.T) {
	sent := false
	s := &scene{lang: "en"}
	s.nodes = func() []snapshot.Node {
		return []snapshot.Node{typable("name", "Your name", ""), pressable("publish", "button", "Publish review")}
	}
	s.on = func(tool, ref, _ string) { sent = sent || tool == step.Click && ref == "publish" }
	if err := s.run(t, "Rate the quietness as Silent"); err == nil || sent {
		t.Errorf("sent %v, error %v", sent, err)
	}
}

// Each row has a field for remarks: whose it is must be said.
func TestWhoseFieldItIs(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"Enter 'new coach' as the remark", ""},
		{"Enter 'new coach' as the remark for Eastbridge", "Eastbridge: new coach"},
		{"Enter 'new coach' as the remark for Westbridge", ""},
	} {
		got := ""
		s := &scene{lang: "en"}
		remarks := map[string]string{}
		s.nodes = func() []snapshot.Node {
			list := []snapshot.Node{{Ref: "ul", Parent: -1, Tag: "ul", Role: "list"}}
			for _, t := range []string{"Ashford", "Eastbridge", "Glenside"} {
				li := len(list)
				remark := typable("remark "+t, "Remark", remarks[t])
				remark.Parent = li
				list = append(list, snapshot.Node{Ref: "li " + t, Tag: "li", Role: "listitem"},
					snapshot.Node{Ref: "t " + t, Parent: li, Tag: "span", Role: "text", Name: t}, remark)
			}
			return list
		}
		s.on = func(tool, ref, text string) {
			if name, ok := strings.CutPrefix(ref, "remark "); ok && tool == step.InputText {
				remarks[name], got = text, name+": "+text
			}
		}
		if err := s.run(t, c.text); (err == nil) != (c.want != "") || got != c.want {
			t.Errorf("%s: %s, %v", c.text, got, err)
		}
	}
}

// What becomes of a thing must be seen at it, and not only somewhere on the page.
func TestWhatAThingBecomes(t *testing.T) {
	for _, ships := range []bool{true, false} {
		state, picked := "open", false
		s := &scene{lang: "en"}
		s.nodes = func() []snapshot.Node {
			list := []snapshot.Node{{Ref: "ul", Parent: -1, Tag: "ul", Role: "list"}}
			for _, t := range []string{"Ben Okoro", "Ann Lee", "Cy Roy"} {
				li := len(list)
				is := map[string]string{"Ben Okoro": state, "Ann Lee": "shipped", "Cy Roy": "paid"}[t]
				mark := box("pick "+t, "Select", picked && t == "Ben Okoro")
				mark.Parent = li
				list = append(list, snapshot.Node{Ref: "li " + t, Tag: "li", Role: "listitem"}, mark,
					snapshot.Node{Ref: "t " + t, Parent: li, Tag: "span", Role: "text", Name: t},
					snapshot.Node{Ref: "s " + t, Parent: li, Tag: "span", Role: "text", Name: is})
				if ships {
					ship := pressable("ship "+t, "button", "Mark as shipped")
					ship.Parent = li
					list = append(list, ship)
				}
			}
			return list
		}
		s.on = func(tool, ref, _ string) {
			if ref == "ship Ben Okoro" {
				state = "shipped"
			}
			if ref == "pick Ben Okoro" {
				picked = !picked
			}
		}
		if err := s.run(t, "Mark Ben Okoro as shipped"); (err == nil) != ships || ships && state != "shipped" {
			t.Errorf("ships %v: %s, %v", ships, state, err)
		}
	}
}

// What the text leaves as it is must not change with what it sets.
func TestOtherFieldsStay(t *testing.T) {
	for _, c := range []struct {
		text  string
		moves bool // the other field changes with the one that is set
		done  bool
	}{
		{"Enter Ulm as the town and leave the other one as it is", false, true},
		{"Enter Ulm as the town and leave everything else as it is", false, true},
		{"Enter Ulm as the town and leave the other one as it is", true, false},
	} {
		town, name := "Bonn", "Ida"
		s := &scene{lang: "en"}
		s.nodes = func() []snapshot.Node {
			return []snapshot.Node{typable("name", "Name", name), typable("town", "Town", town)}
		}
		s.on = func(tool, ref, text string) {
			if tool != step.InputText || ref != "town" {
				return
			}
			if town = text; c.moves {
				name = "Ida of " + text
			}
		}
		if err := s.run(t, c.text); (err == nil) != c.done || town != "Ulm" {
			t.Errorf("%s, moves %v: %v, town %s, name %s", c.text, c.moves, err, town, name)
		}
	}
}

// What is of a number is no name where the page says that it adds such things, and the number goes where
// numbers are asked for.
func TestNumberOfANewThing(t *testing.T) {
	for text, want := range map[string]string{
		"Add an expense of 12.50 for Lunch":          "Lunch 12.50",
		"Add an expense of 12 for Lunch":             "Lunch 12",
		"Añade un gasto de 45 para Taxi":             "Taxi 45",
		"Trage eine Ausgabe von 45 für das Taxi ein": "Taxi 45",
	} {
		what, amount, rows := "", "", []string{"Market 38.20", "Cinema 18.50"}
		s := &scene{lang: "en"}
		s.nodes = func() []snapshot.Node {
			list := []snapshot.Node{typable("what", "What", what), typable("amount", "Amount", amount),
				pressable("add", "button", "Add expense")}
			ul := len(list)
			list = append(list, snapshot.Node{Ref: "list", Parent: -1, Tag: "ul", Role: "list"})
			for _, row := range rows {
				list = append(list, snapshot.Node{Ref: "row " + row, Parent: ul, Tag: "li", Role: "listitem"},
					snapshot.Node{Ref: "name " + row, Parent: len(list), Tag: "span", Role: "text", Name: row})
			}
			return list
		}
		s.on = func(tool, ref, text string) {
			switch {
			case tool == step.InputText && ref == "what":
				what = text
			case tool == step.InputText && ref == "amount":
				amount = text
			case ref == "add" && strings.ContainsAny(amount, "0123456789"):
				rows, what, amount = append(rows, what+" "+amount), "", ""
			}
		}
		if err := s.run(t, text); err != nil || rows[len(rows)-1] != want {
			t.Errorf("%s: %v, rows %q", text, err, rows)
		}
	}
}

// Something is chosen with none of the boxes that the text leaves out.
func TestChosenWithout(t *testing.T) {
	chosen, extras := "Plain", map[string]bool{"Olives": false, "Basil": true, "Capers": true}
	s := &scene{lang: "en"}
	s.nodes = func() []snapshot.Node {
		list := []snapshot.Node{{Ref: "which", Parent: -1, Tag: "fieldset", Role: "radiogroup", Name: "Pizza"}}
		for _, p := range [][2]string{{"Plain", "7.50"}, {"Marinara", "6.50"}, {"Funghi", "8.50"}} {
			one := pressable("radio "+p[0], "radio", p[0]+" "+p[1])
			one.Parent, one.Tag, one.Type, one.NameAttr, one.Value, one.Checked = 0, "input", "radio", "pizza", p[0], fmt.Sprint(chosen == p[0])
			list = append(list, one)
		}
		group := len(list)
		list = append(list, snapshot.Node{Ref: "extras", Parent: -1, Tag: "fieldset", Role: "group", Name: "Extras"})
		for _, name := range []string{"Olives", "Basil", "Capers"} {
			one := box("box "+name, name, extras[name])
			one.Parent, one.NameAttr = group, "extra"
			list = append(list, one)
		}
		return list
	}
	s.on = func(tool, ref, _ string) {
		kind, name, _ := strings.Cut(ref, " ")
		switch {
		case tool != step.Click:
		case kind == "radio":
			chosen = name
		case kind == "box":
			extras[name] = !extras[name]
		}
	}
	if err := s.run(t, "Choose the cheapest pizza without any extras"); err != nil || chosen != "Marinara" ||
		extras["Basil"] || extras["Capers"] || extras["Olives"] {
		t.Errorf("%v, chose %s with %v", err, chosen, extras)
	}
}

// What passes over a tour does not go on in it, and what is skipped is only skipped.
func TestToursGoOnOrAreSkipped(t *testing.T) {
	for text, want := range map[string]string{"Go on": "show", "Skip the tour": "skip", "Skip the introduction": "skip", "Continue": "show"} {
		did, open, stop := "", true, "Welcome"
		s := &scene{lang: "en"}
		s.nodes = func() []snapshot.Node {
			list := []snapshot.Node{{Ref: "h", Parent: -1, Tag: "h1", Role: "heading", Level: 1, Name: "Introduction to the tour"},
				typable("name", "Name", "")}
			if !open {
				return list
			}
			at := len(list)
			list = append(list, snapshot.Node{Ref: "d", Parent: -1, Tag: "div", Role: "dialog", Name: stop, Modal: true, Layer: "fixed"},
				snapshot.Node{Ref: "says", Parent: at, Tag: "p", Role: "text", Name: "This is " + stop})
			for _, b := range [][2]string{{"skip", "Skip"}, {"show", "Show me"}} {
				one := pressable(b[0], "button", b[1])
				one.Parent = at
				list = append(list, one)
			}
			return list
		}
		s.on = func(tool, ref, _ string) {
			if tool == step.Click {
				did, open, stop = did+ref, ref != "skip", "Your money"
			}
		}
		if err := s.run(t, text); err != nil || did != want {
			t.Errorf("%s: %v, pressed %s", text, err, did)
		}
	}
}
