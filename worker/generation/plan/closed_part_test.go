package plan_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// Fields in a closed part of a page are set where they are called as the text says, in the part that has
// them, and in no other.
func TestFieldsOfAClosedPart(t *testing.T) {
	for _, c := range []struct {
		text string
		done bool
		want string
	}{
		{"Set single sculls to Ann and eights to Bo.", true, "Ann/Bo"},
		{"Setze Einer auf Ann.", false, "/"},
	} {
		open, values := "members", map[string]string{}
		s := &scene{lang: "en"}
		s.nodes = func() []snapshot.Node {
			list := []snapshot.Node{pressable("to members", "link", "Members"), pressable("to boats", "link", "Boats"),
				{Ref: "boats", Parent: -1, Tag: "div", Role: "region", Opener: "to boats", Hidden: open != "boats"}}
			for _, name := range []string{"Single scull", "Eight"} {
				f := typable(name, name, values[name])
				f.Parent, f.Hidden, f.Opener = 2, open != "boats", "to boats"
				list = append(list, f)
			}
			return list
		}
		s.on = func(tool, ref, text string) {
			switch {
			case tool == step.InputText:
				values[ref] = text
			case strings.HasPrefix(ref, "to "):
				open = strings.TrimPrefix(ref, "to ")
			}
		}
		if err := s.run(t, c.text); (err == nil) != c.done || values["Single scull"]+"/"+values["Eight"] != c.want {
			t.Errorf("%s: %v, %v", c.text, values, err)
		}
	}
}

// A text that is typed into a list to choose from counts only where the list offers it, or a part of
// what it offers.
func TestTypedIntoAListOfOptions(t *testing.T) {
	for _, c := range []struct {
		text string
		done bool
		want string
	}{
		{"Set the time zone to Madrid.", true, "Europe/Madrid"},
		{"Set the time zone to Atlantis.", false, ""},
	} {
		open, value := false, ""
		s := &scene{lang: "en"}
		s.nodes = func() []snapshot.Node {
			zone := typable("zone", "Time zone", value)
			zone.Role, zone.Type = "combobox", ""
			list := []snapshot.Node{zone}
			for _, o := range []string{"Europe/Oslo", "Europe/Madrid", "Asia/Tokyo"} {
				if open {
					list = append(list, pressable(o, "option", o))
				}
			}
			return list
		}
		s.on = func(tool, ref, text string) {
			switch {
			case tool == step.InputText || tool == step.TypeKeys:
				value, open = text, true
			case tool == step.Click && ref == "zone":
				open = true
			case tool == step.Click:
				value, open = ref, false
			}
		}
		if err := s.run(t, c.text); (err == nil) != c.done || c.done && value != c.want {
			t.Errorf("%s: %q, %v", c.text, value, err)
		}
	}
}

// What a list is of tells nothing of which are meant: "blue vans" on a page of "3 vans" are those for
// which its box says blue.
func TestFilterWithoutTheNounOfTheList(t *testing.T) {
	for _, c := range []struct {
		text string
		done bool
	}{
		{"Show only blue vans.", true},
		{"Nur blaue Vans anzeigen.", true},
		{"Show only blue boats.", false},
	} {
		on := false
		s := &scene{lang: "en"}
		s.nodes = func() []snapshot.Node {
			vans := []string{"T3 Camper blue", "Transit white", "Vito green"}
			if on {
				vans = vans[:1]
			}
			list := []snapshot.Node{box("blue", "blue", on), {Ref: "count", Parent: -1, Tag: "p", Role: "text",
				Name: []string{"3 vans", "1 van"}[map[bool]int{true: 1}[on]]}, {Ref: "ul", Parent: -1, Tag: "ul", Role: "list"}}
			for _, v := range vans {
				li := len(list)
				list = append(list, snapshot.Node{Ref: "li " + v, Parent: 2, Tag: "li", Role: "listitem"},
					snapshot.Node{Ref: "t " + v, Parent: li, Tag: "span", Role: "text", Name: v})
			}
			return list
		}
		s.on = func(_, ref, _ string) { on = on != (ref == "blue") }
		if err := s.run(t, c.text); (err == nil) != c.done {
			t.Errorf("%s: %v", c.text, err)
		}
	}
}

// A value goes into a cell that is edited in place only where the text says which one: the name of a
// row is nothing to type over.
func TestNoCellIsTypedOverOnAGuess(t *testing.T) {
	for _, c := range []struct {
		text string
		done bool
		want string
	}{
		{"Set the Saturday of Marta to Off.", true, "Marta/Off"},
		{"Set Marta to night duty.", false, "Marta/Late"},
	} {
		cells := map[string]string{"name": "Marta", "sat": "Late"}
		at, typing := "", ""
		s := &scene{lang: "en"}
		s.nodes = func() []snapshot.Node {
			list := []snapshot.Node{{Ref: "table", Parent: -1, Tag: "table", Role: "grid"}, {Ref: "head", Parent: 0, Tag: "tr", Role: "row"},
				{Ref: "h1", Parent: 1, Tag: "th", Role: "columnheader", Name: "Name", Table: "table"},
				{Ref: "h2", Parent: 1, Tag: "th", Role: "columnheader", Name: "Saturday", Table: "table", Column: 1}}
			for _, row := range [][]string{{cells["name"], cells["sat"]}, {"Jon", "Early"}, {"Lily", "Night"}} {
				tr := len(list)
				list = append(list, snapshot.Node{Ref: "tr" + row[0], Parent: 0, Tag: "tr", Role: "row"})
				for k, text := range row {
					ref := text
					if row[0] == cells["name"] {
						ref = []string{"name", "sat"}[k]
					}
					list = append(list, snapshot.Node{Ref: ref, Parent: tr, Tag: "td", Role: "gridcell", Name: text,
						Text: text, Table: "table", Column: k, Reacts: "dblclick"})
				}
			}
			return list
		}
		s.on = func(tool, ref, text string) {
			switch tool {
			case step.DoubleClick:
				at = ref
			case step.TypeKeys:
				typing = text
			case step.PressKey:
				if _, ok := cells[at]; ok && typing != "" {
					cells[at], typing = typing, ""
				}
			}
		}
		err := s.run(t, c.text)
		if got := cells["name"] + "/" + cells["sat"]; (err == nil) != c.done || got != c.want {
			t.Errorf("%s: %s, %v", c.text, got, err)
		}
	}
}

// What is written in a thing is replaced in the editor of the page, once the thing is open there; where the page
// does not show which one is open, it may be that of another.
func TestTheTextOfAThing(t *testing.T) {
	for _, c := range []struct {
		lang, text, want string
		shows, done      bool
	}{
		{"en", `Replace the text of greet_all by "pass".`, "hi,pass,clamp", true, true},
		{"en", `Replace the text of greet by "pass".`, "pass,all,clamp", true, true},
		{"de", `Ersetze den Text von clamp durch "pass".`, "hi,all,pass", true, true},
		{"en", `Replace the text of greet_all by "pass".`, "hi,all,clamp", false, false},
	} {
		names, texts, open := []string{"greet", "greet_all", "clamp"}, []string{"hi", "all", "clamp"}, 0
		s := &scene{lang: c.lang}
		s.nodes = func() []snapshot.Node {
			list := []snapshot.Node{{Ref: "ul", Parent: -1, Tag: "ul", Role: "list"}}
			for _, name := range names {
				li := len(list)
				list = append(list, snapshot.Node{Ref: "li " + name, Parent: 0, Tag: "li", Role: "listitem"},
					snapshot.Node{Ref: "t " + name, Parent: li, Tag: "span", Role: "text", Name: name},
					inside(li, pressable("open "+name, "button", "Open")))
			}
			if c.shows {
				list = append(list, snapshot.Node{Ref: "h", Parent: -1, Tag: "h3", Role: "heading", Level: 3, Name: "Editing " + names[open]})
			}
			return append(list, snapshot.Node{Ref: "editor", Parent: -1, Tag: "div", Role: "textbox", Editable: true, Interactive: true,
				HasValue: true, Value: texts[open]})
		}
		s.on = func(tool, ref, text string) {
			if name, ok := strings.CutPrefix(ref, "open "); ok {
				open = slices.Index(names, name)
			}
			if tool == step.InputText && ref == "editor" {
				texts[open] = text
			}
		}
		if err := s.run(t, c.text); (err == nil) != c.done || strings.Join(texts, ",") != c.want {
			t.Errorf("%s: %v, %v", c.text, texts, err)
		}
	}
}

// The form beside a list is that of the thing that is open in it, also where it does not show its title: a new one is
// begun before it is filled in.
func TestANewThingIsBegunBeforeItIsWritten(t *testing.T) {
	titles, open, title := []string{"Storks", "Bees", "Late frost"}, 0, ""
	s := &scene{lang: "en"}
	s.nodes = func() []snapshot.Node {
		list := []snapshot.Node{{Ref: "ul", Parent: -1, Tag: "ul", Role: "list"}}
		for i, name := range titles {
			li := snapshot.Node{Ref: "li " + name, Parent: 0, Tag: "li", Role: "listitem"}
			if i == open {
				li.Class = "active"
			}
			at := len(list)
			list = append(list, li, inside(at, snapshot.Node{Ref: "t " + name, Tag: "span", Role: "text", Name: name}),
				inside(at, pressable("drop "+name, "button", "Drop")))
		}
		return append(list, pressable("new", "button", "New note"), typable("title", "Title", title), pressable("keep", "button", "Keep"))
	}
	s.on = func(tool, ref, text string) {
		switch {
		case ref == "new":
			open, title = -1, ""
		case tool == step.InputText:
			title = text
		case ref == "keep" && open < 0:
			titles, open = append(titles, title), len(titles)
		case ref == "keep":
			titles[open] = title
		}
	}
	err := s.run(t, `Write a new note "First snow" and keep it`)
	if got := strings.Join(titles, ","); err != nil || got != "Storks,Bees,Late frost,First snow" {
		t.Errorf("%s, %v", got, err)
	}
}
