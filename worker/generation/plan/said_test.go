package plan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// requests is a form for what is asked for, of which the page has one from before, and a box that no text
// of these tests speaks of.
func requests(sent *string) *scene {
	kind, who, copied := "Holiday", "", true
	made := []string{"Time off"}
	s := &scene{lang: "en"}
	s.nodes = func() []snapshot.Node {
		list := []snapshot.Node{{Ref: "form", Parent: -1, Tag: "form", Role: "form"}}
		in := func(n snapshot.Node) { n.Parent = 0; list = append(list, n) }
		choice := snapshot.Node{Ref: "kind", Tag: "select", Role: "combobox", Name: "Kind", Label: "Kind", Value: kind,
			HasValue: true, Interactive: true}
		for _, o := range []string{"Holiday", "Time off", "Sick"} {
			choice.Options = append(choice.Options, snapshot.Option{Value: o, Label: o, Selected: o == kind})
		}
		in(choice)
		in(typable("who", "Stand-in", who))
		in(box("copy", "Send me a copy", copied))
		send := pressable("send", "button", "Send request")
		send.Type = "submit"
		in(send)
		ul := len(list)
		list = append(list, snapshot.Node{Ref: "ul", Parent: -1, Tag: "ul", Role: "list"})
		for i, m := range made {
			li := len(list)
			back := pressable("back "+m, "button", "Take back")
			back.Parent = li
			list = append(list, snapshot.Node{Ref: "li" + string(rune('0'+i)), Parent: ul, Tag: "li", Role: "listitem"},
				snapshot.Node{Ref: "t" + string(rune('0'+i)), Parent: li, Tag: "span", Role: "text", Name: m}, back)
		}
		return list
	}
	s.on = func(tool, ref, text string) {
		switch {
		case tool == step.Select || ref == "kind":
			kind = text
		case ref == "who":
			who = text
		case ref == "copy":
			copied = !copied
		case ref == "send":
			*sent += kind + "/" + who + ";"
			made = append(made, kind+" "+who)
		}
	}
	return s
}

// What is filled in is not handed in before, and no box is pressed on the way, though the page has a thing
// of that name.
func TestAFormIsNotHandedInUnfilled(t *testing.T) {
	sent := ""
	s := requests(&sent)
	err := s.run(t, "Request a time off with Paul as the stand-in, and send the request")
	if slices.Contains(s.did, step.Click+" copy") {
		t.Errorf("the box was pressed: %v", s.did)
	}
	if strings.Count(sent, ";") > 1 || strings.HasPrefix(sent, "Holiday") {
		t.Errorf("sent %q: %v", sent, err)
	}
}

// What is said of all is not done where nothing was to be done.
func TestAllSoAlreadyIsAskedAgain(t *testing.T) {
	s := &scene{lang: "en"}
	s.nodes = func() []snapshot.Node {
		return []snapshot.Node{box("mail", "Mail from us", false), box("sms", "News", true)}
	}
	if err := s.run(t, "Turn off all mail"); err == nil {
		t.Errorf("it was done: %v", s.did)
	}
}

// deals is a list with a dialog for a new one, whose stage is chosen in a list.
func deals(added *string) *scene {
	open, name, stage := false, "", "Lead"
	s := &scene{lang: "en"}
	s.nodes = func() []snapshot.Node {
		list := []snapshot.Node{pressable("new", "button", "Add contact")}
		if *added != "" {
			list = append(list, snapshot.Node{Ref: "row", Parent: -1, Tag: "li", Role: "listitem"},
				snapshot.Node{Ref: "text", Parent: 1, Tag: "span", Role: "text", Name: *added})
		}
		if !open {
			return list
		}
		at := len(list)
		list = append(list, snapshot.Node{Ref: "dialog", Parent: -1, Tag: "dialog", Role: "dialog", Name: "New contact", Modal: true})
		choice := snapshot.Node{Ref: "stage", Tag: "select", Role: "combobox", Name: "Stage", Label: "Stage", Value: stage,
			HasValue: true, Interactive: true}
		for _, o := range []string{"Lead", "Offer", "Won"} {
			choice.Options = append(choice.Options, snapshot.Option{Value: o, Label: o, Selected: o == stage})
		}
		for _, n := range []snapshot.Node{typable("name", "Full name", name), choice, pressable("save", "button", "Save")} {
			n.Parent = at
			list = append(list, n)
		}
		return list
	}
	s.on = func(tool, ref, text string) {
		switch {
		case ref == "new":
			open = true
		case tool == step.Select || ref == "stage":
			stage = text
		case ref == "name":
			name = text
		case ref == "save":
			open, *added = false, name+" "+stage
		}
	}
	return s
}

// What the sentence of an addition says of the new thing is chosen in its form. What is said later, expected
// or asked is only checked.
func TestWhatANewThingIsIsChosen(t *testing.T) {
	for _, c := range []struct {
		text, want string
		done       bool
	}{
		{"Add a contact named Otto Brink, he is an Offer already.", "Otto Brink Offer", true},
		{"Please add a contact named Otto Brink, he is an Offer already.", "Otto Brink Offer", true},
		{"Add a contact named Otto Brink. He should be a Lead.", "Otto Brink Lead", true},
		{"Add a contact named Otto Brink. He should be an Offer.", "Otto Brink Lead", false},
		{"Add a contact named Otto Brink. It is Won.", "Otto Brink Lead", false},
		{"Add a contact named Otto Brink. Is it Won?", "Otto Brink Lead", false},
		{"Add a contact named Otto Brink, is it Won?", "Otto Brink Lead", false},
		{"Add a contact named Otto Brink, it is Won?", "Otto Brink Lead", false},
		{"Add a contact named Otto Brink, then it is Won.", "Otto Brink Lead", false},
		{"Add a contact named Otto Brink, check: it is Won.", "Otto Brink Lead", false},
		{"Add a contact named Otto Brink and expect: it is Won.", "Otto Brink Lead", false},
		{"When I add a contact named Otto Brink, then it is Won.", "Otto Brink Lead", false},
		{"When I add a contact named Otto Brink, it is Won.", "Otto Brink Lead", false},
		{"Add a contact named Otto Brink. Then its stage is Won.", "Otto Brink Lead", false},
		{"Add a contact named Otto Brink. Check: its stage is Won.", "Otto Brink Lead", false},
	} {
		added := ""
		err := deals(&added).run(t, c.text)
		if added != c.want || (err == nil) != c.done {
			t.Errorf("%s: added %q, %v", c.text, added, err)
		}
	}
}

// What stays is compared with how it was before the question that the deed asked.
func TestWhatStaysAfterAQuestion(t *testing.T) {
	for also, fails := range map[string]bool{"": false, "Ann": true} {
		names := []string{"Ann", "Bo", "Cy"}
		s := &scene{lang: "en"}
		s.nodes = func() []snapshot.Node {
			list := []snapshot.Node{{Ref: "ul", Parent: -1, Tag: "ul", Role: "list"}}
			for _, n := range names {
				li := len(list)
				drop := pressable("drop "+n, "button", "Delete")
				drop.Parent = li
				list = append(list, snapshot.Node{Ref: "li " + n, Tag: "li", Role: "listitem"},
					snapshot.Node{Ref: "t " + n, Parent: li, Tag: "span", Role: "text", Name: n}, drop)
			}
			return list
		}
		s.on = func(_, ref, _ string) {
			if ref == "drop Bo" {
				s.asked = "Delete Bo?"
			}
		}
		s.yes = func() { names = slices.DeleteFunc(names, func(n string) bool { return n == "Bo" || n == also }) }
		if err := s.run(t, "Delete Bo and confirm; Ann stays as she is."); (err != nil) != fails {
			t.Errorf("%q goes too: %v", also, err)
		}
	}
}

// A section that is left alone is compared with what it was.
func TestASectionIsLeftAlone(t *testing.T) {
	for both, fails := range map[bool]bool{false: false, true: true} {
		news, calls := true, true
		s := &scene{lang: "en"}
		s.nodes = func() []snapshot.Node {
			var list []snapshot.Node
			for _, part := range []struct {
				title, ref, label string
				on                bool
			}{{"Home", "news", "News", news}, {"Office", "calls", "Calls", calls}} {
				at := len(list)
				list = append(list, snapshot.Node{Ref: part.title, Parent: -1, Tag: "section", Role: "region", Name: part.title},
					snapshot.Node{Ref: "h" + part.title, Parent: at, Tag: "h2", Role: "heading", Level: 2, Name: part.title})
				b := box(part.ref, part.label, part.on)
				b.Parent = at
				list = append(list, b)
			}
			return list
		}
		s.on = func(_, ref, _ string) {
			if ref == "news" {
				news, calls = !news, calls != both
			}
		}
		if err := s.run(t, "Turn off News; leave Office alone"); (err != nil) != fails {
			t.Errorf("the other one changes too: %v: %v", both, err)
		}
	}
}

// What is said of a new thing by an adjective, or by what it has, is chosen where its form has a box or list for it.
func TestWhatANewThingHasIsChosen(t *testing.T) {
	for _, c := range []struct{ lang, text, want string }{
		{"es", "Prepara una carta certificada para Luis Prado y guárdala", "Luis Prado true fina"},
		{"fr", "Ajoute une lettre à pâte épaisse pour Luc Petit", "Luc Petit false épaisse"},
		{"en", "Add an archived letter for Luis Prado", ""},
	} {
		who, on, crust, added := "", false, "fina", ""
		s := &scene{lang: "es"}
		s.nodes = func() []snapshot.Node {
			list := formOf([]snapshot.Node{typable("who", "Para", who), box("box", "Certificada", on),
				chosenOf("crust", "Pâte", crust, "fina", "épaisse")}, "Guardar")
			if added != "" {
				list = append(list, snapshot.Node{Ref: "ul", Parent: -1, Tag: "ul", Role: "list"},
					snapshot.Node{Ref: "li", Parent: len(list), Tag: "li", Role: "listitem", Name: added})
			}
			return list
		}
		s.on = func(_, ref, text string) {
			switch ref {
			case "who":
				who = text
			case "box":
				on = !on
			case "crust":
				crust = text
			case "press Guardar":
				added = fmt.Sprint(who, " ", on, " ", crust)
			}
		}
		if err := s.run(t, c.text); added != c.want && c.want != "" || (err == nil) != (c.want != "") {
			t.Errorf("%s: %q, %v", c.text, added, err)
		}
	}
}

// TestWhatANewThingIsNotSaidToBeIsNotChosen leaves a box alone that says no of what is said, or is called as the list
// that a new thing goes to.
func TestWhatANewThingIsNotSaidToBeIsNotChosen(t *testing.T) {
	for text, label := range map[string]string{
		`Add "Paint" with cheese`:            "No cheese",
		`Add "Paint" to the list Urgent`:     "Urgent",
		`Add the task "Paint" with a ribbon`: "Without a ribbon",
	} {
		title, on := "", false
		var made []string
		s := &scene{lang: "en"}
		s.nodes = func() []snapshot.Node {
			list := formOf([]snapshot.Node{typable("title", "Task", title), box("box", label, on)}, "Add")
			ul := len(list)
			list = append(list, snapshot.Node{Ref: "ul", Parent: -1, Tag: "ul", Role: "list"})
			for _, d := range append([]string{"Storks", "Geese"}, made...) {
				list = append(list, snapshot.Node{Ref: "li " + d, Parent: ul, Tag: "li", Role: "listitem", Name: d})
			}
			return list
		}
		s.on = func(_, ref, text string) {
			switch ref {
			case "title":
				title = text
			case "box":
				on = !on
			case "press Add":
				made, title = append(made, fmt.Sprint(title, " ", on)), ""
			}
		}
		err := s.run(t, text)
		if on || strings.Contains(strings.Join(made, ","), "true") {
			t.Errorf("%s: ticked %q, made %v, %v", text, label, made, err)
		}
	}
}
