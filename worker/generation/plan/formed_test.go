package plan_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// formOf is a form with fields and buttons.
func formOf(fields []snapshot.Node, buttons ...string) []snapshot.Node {
	list := []snapshot.Node{{Ref: "form", Parent: -1, Tag: "form", Role: "form"}}
	for _, b := range buttons {
		k := pressable("press "+b, "button", b)
		k.Type = "submit"
		fields = append(fields, k)
	}
	for _, n := range fields {
		n.Parent = 0
		list = append(list, n)
	}
	return list
}

func chosenOf(ref, name, value string, options ...string) snapshot.Node {
	n := snapshot.Node{Ref: ref, Tag: "select", Role: "combobox", Name: name, Label: name, Value: value, HasValue: true, Interactive: true}
	for _, o := range options {
		n.Options = append(n.Options, snapshot.Option{Value: o, Label: o, Selected: o == value})
	}
	return n
}

// lending is a form of lists that lends tools, and what is lent.
func lending(button string, lent *[]string) *scene {
	tool, who := "", ""
	s := &scene{lang: "en"}
	s.nodes = func() []snapshot.Node {
		list := formOf([]snapshot.Node{chosenOf("tool", "Tool", tool, "", "Tile cutter", "Drill"),
			chosenOf("who", "Member", who, "", "Ann", "Mia")}, button)
		at := len(list)
		list = append(list, snapshot.Node{Ref: "ul", Parent: -1, Tag: "ul", Role: "list"})
		for _, d := range append([]string{"Saw - Cy", "Hammer - Di"}, *lent...) {
			list = append(list, snapshot.Node{Ref: "li " + d, Parent: at, Tag: "li", Role: "listitem", Name: d})
		}
		return list
	}
	s.on = func(_, ref, text string) {
		switch ref {
		case "tool":
			tool = text
		case "who":
			who = text
		case "press " + button:
			*lent = append(*lent, tool+" - "+who)
		}
	}
	return s
}

// A form is handed in for a deed only by what is called by that deed.
func TestADeedIsDoneByAFormThatSaysIt(t *testing.T) {
	for _, c := range []struct {
		text, button string
		done         bool
	}{
		{"Lend the tile cutter to Mia.", "Lend", true},
		{"Archive the tile cutter for Mia.", "Lend", false},
		{"Repair the drill for Mia.", "Lend", false},
		{"Withhold the drill for Mia.", "Lend", false},
		{"Recommend the drill to Mia.", "Lend", false},
		{"Lock the drill for Mia.", "Unlock", false},
		{"Block the drill for Mia.", "Save", false},
	} {
		var lent []string
		err := lending(c.button, &lent).run(t, c.text)
		if (err == nil) != c.done || (len(lent) > 0) != c.done {
			t.Errorf("%s by %s: %v, %v", c.text, c.button, lent, err)
		}
	}
}

// A form on another tab, which is for something else, is not handed in for an addition.
func TestAnAdditionIsNotSentElsewhere(t *testing.T) {
	for _, button := range []string{"Send", "Send feedback", "Submit"} {
		feedback, subject, priority := false, "", "normal"
		sent := false
		s := &scene{lang: "en"}
		s.nodes = func() []snapshot.Node {
			var list []snapshot.Node
			if feedback {
				list = formOf([]snapshot.Node{typable("subject", "Subject", subject), chosenOf("priority", "Priority",
					priority, "normal", "high")}, button)
			} else {
				list = []snapshot.Node{{Ref: "ul", Parent: -1, Tag: "ul", Role: "list"}, {Ref: "li 1", Tag: "li",
					Role: "listitem", Name: "Wash"}, {Ref: "li 2", Tag: "li", Role: "listitem", Name: "Mow"}}
			}
			at := len(list)
			list = append(list, snapshot.Node{Ref: "tabs", Parent: -1, Tag: "div", Role: "tablist"})
			for _, name := range []string{"Board", "Feedback"} {
				tab := pressable(name, "tab", name)
				tab.Parent, tab.Selected = at, map[bool]string{true: "true", false: "false"}[feedback == (name == "Feedback")]
				list = append(list, tab)
			}
			if sent {
				list = append(list, snapshot.Node{Ref: "said", Parent: -1, Tag: "p", Role: "status", Name: "Thank you! Paint was sent."})
			}
			return list
		}
		s.on = func(_, ref, text string) {
			switch ref {
			case "Board", "Feedback":
				feedback = ref == "Feedback"
			case "subject":
				subject = text
			case "priority":
				priority = text
			case "press " + button:
				sent = true
			}
		}
		if err := s.run(t, "Add a task Paint with priority high."); err == nil || sent {
			t.Errorf("by %s: sent %v, %v", button, sent, err)
		}
	}
}

// A form that stays, and that sets a list back, is handed in once where a message says that it took it.
func TestAFormThatStaysIsHandedInOnce(t *testing.T) {
	for _, c := range []struct {
		resets  bool
		buttons []string
	}{{false, []string{"Create"}}, {true, []string{"Create"}}, {false, []string{"Save", "Save and new"}},
		{true, []string{"Add", "Create ticket"}}} {
		var made []string
		open, title, priority := false, "", "normal"
		s := &scene{lang: "en"}
		s.nodes = func() []snapshot.Node {
			var list []snapshot.Node
			if open {
				list = formOf([]snapshot.Node{typable("title", "Title", title), chosenOf("priority", "Priority", priority,
					"normal", "high")}, c.buttons...)
			}
			if len(made) > 0 {
				list = append(list, snapshot.Node{Ref: "said", Parent: -1, Tag: "p", Role: "status", Name: "The ticket " + title + " was created."})
			}
			return append(list, pressable("new", "button", "New ticket"))
		}
		s.on = func(tool, ref, text string) {
			switch {
			case ref == "new":
				open = true
			case ref == "priority":
				priority = text
			case ref == "title" && tool == step.InputText:
				title = text
			case ref == "title" || slices.ContainsFunc(c.buttons, func(b string) bool { return ref == "press "+b }):
				made = append(made, title+" "+priority)
				if c.resets {
					priority = "normal"
				}
			}
		}
		if err := s.run(t, "Add a ticket Paint with priority high."); err != nil || !slices.Equal(made, []string{"Paint high"}) {
			t.Errorf("resets %v, %v: made %v, %v", c.resets, c.buttons, made, err)
		}
	}
}

// An amount of money is no thing of the page: what the deed opens asks for it, where one thing of that name does.
func TestADeedOnAnAmount(t *testing.T) {
	for _, c := range []struct{ lang, text, first, second, want string }{
		{"de", "Zahle 20 Euro in die Kasse ein.", "Einzahlen", "Entnehmen", "20"},
		{"en", "Deposit 20 euros into the kitty.", "Deposit", "Withdraw", "20"},
		{"en", "Deposit 20 euros into the safe.", "Deposit", "Withdraw", ""},
		{"en", "Deposit 20 euros into the kitty.", "Deposit", "Deposit later", ""},
		{"en", "Deposit 20 euros into the kitty.", "Spend", "Withdraw", ""},
	} {
		open, amount, paid := false, "", ""
		s := &scene{lang: c.lang}
		s.nodes = func() []snapshot.Node {
			title := map[string]string{"de": "Kasse", "en": "Kitty"}[c.lang]
			list := []snapshot.Node{{Ref: "part", Parent: -1, Tag: "section", Role: "region", Name: title},
				{Ref: "h", Parent: 0, Tag: "h3", Role: "heading", Level: 3, Name: title},
				{Ref: "holds", Parent: 0, Tag: "p", Role: "text", Name: "86 + " + paid},
				inside(0, pressable("first", "button", c.first)), inside(0, pressable("second", "button", c.second))}
			if open {
				at, field := len(list), typable("amount", "Euro", amount)
				field.Type, field.Role = "number", "spinbutton"
				list = append(list, snapshot.Node{Ref: "dialog", Parent: -1, Tag: "dialog", Role: "dialog", Name: "Amount", Modal: true},
					inside(at, field), inside(at, pressable("no", "button", "Cancel")), inside(at, pressable("yes", "button", "OK")))
			}
			return list
		}
		s.on = func(_, ref, text string) {
			switch ref {
			case "first":
				open = true
			case "amount":
				amount = text
			case "yes":
				open, paid = false, amount
			case "no":
				open = false
			}
		}
		if err := s.run(t, c.text); paid != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s by %s and %s: %q, %v", c.text, c.first, c.second, paid, err)
		}
	}
}

// TestWhatIsOpenIsMovedByItsForm holds "move it to" to the choice of the window in which a thing is open.
func TestWhatIsOpenIsMovedByItsForm(t *testing.T) {
	for text, want := range map[string]string{
		"Open the interview with Ms Tran, move it to the room Cedar and save.":  "Cedar",
		"Open the interview with Ms Tran, move it to the room Dunlin and save.": "Birch",
		"Open the interview with Ms Tran, move it to the room Cedar.":           "Birch",
	} {
		room, chosen, open := "Birch", "Birch", false
		s := &scene{lang: "en"}
		s.nodes = func() []snapshot.Node {
			list := []snapshot.Node{{Ref: "ul", Parent: -1, Tag: "ul", Role: "list"}}
			for _, name := range []string{"Interview Ms Tran", "Board", "Yoga"} {
				entry := inside(0, pressable("open "+name, "button", name))
				entry.Tag = "li"
				list = append(list, entry)
			}
			list = append(list, node(-1, "p", "text", "The interview is in "+room+"."))
			if !open {
				return list
			}
			at := len(list)
			choice := inside(at, snapshot.Node{Ref: "room", Tag: "select", Role: "combobox", Name: "Room", Label: "Room", Value: chosen,
				HasValue: true, Interactive: true})
			for _, o := range []string{"Amber", "Birch", "Cedar"} {
				choice.Options = append(choice.Options, snapshot.Option{Label: o, Value: o, Selected: o == chosen})
			}
			return append(list, snapshot.Node{Ref: "dialog", Parent: -1, Tag: "dialog", Role: "dialog", Modal: true, Name: "Interview Ms Tran",
				Layer: "top"}, inside(at, snapshot.Node{Ref: "h", Tag: "h2", Role: "heading", Level: 2, Name: "Interview Ms Tran"}), choice,
				inside(at, pressable("save", "button", "Save")))
		}
		s.on = func(tool, ref, text string) {
			switch {
			case tool == step.Select:
				chosen = text
			case tool == step.Click && strings.HasPrefix(ref, "open Interview"):
				open = true
			case tool == step.Click && ref == "save":
				room, open = chosen, false
			}
		}
		if err := s.run(t, text); room != want || (err == nil) != (want == "Cedar") {
			t.Errorf("%s: in %s and not %s, %v", text, room, want, err)
		}
	}
}
