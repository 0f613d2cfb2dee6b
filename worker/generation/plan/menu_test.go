package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// TestNoControlIsChosenFromAList holds what is chosen in a menu or list to what stands in one.
func TestNoControlIsChosenFromAList(t *testing.T) {
	for _, within := range []string{"div", "list", "menu"} {
		pressed := false
		s := &scene{lang: "en"}
		s.nodes = func() []snapshot.Node {
			at := "Cart"
			if pressed {
				at = "Payment"
			}
			return []snapshot.Node{{Ref: "around", Parent: -1, Tag: "div", Role: strings.TrimPrefix(within, "div")},
				inside(0, pressable("out", "button", "Checkout")), inside(0, pressable("back", "button", "Back")),
				node(-1, "p", "text", at)}
		}
		s.on = func(tool, ref, _ string) { pressed = pressed || tool == step.Click && ref == "out" }
		if err := s.run(t, "Choose Checkout from the list"); (err == nil) != (within != "div") || pressed != (err == nil) {
			t.Errorf("in a %s: pressed %v, %v", within, pressed, err)
		}
	}
}

// TestADeedIsNotWhatATextIsOf opens what a text is of by what leads to it, and not by a button for a deed of that name.
func TestADeedIsNotWhatATextIsOf(t *testing.T) {
	for _, role := range []string{"link", "button"} {
		open, text := false, "Two chairs"
		s := &scene{lang: "en"}
		s.nodes = func() []snapshot.Node {
			list := []snapshot.Node{pressable("order", role, "Order"), pressable("help", role, "Help")}
			if open {
				list = append(list, snapshot.Node{Ref: "h", Parent: -1, Tag: "h2", Role: "heading", Level: 2, Name: "Order"},
					typable("text", "Text", text))
			}
			return list
		}
		s.on = func(tool, ref, said string) {
			switch {
			case tool == step.Click && ref == "order":
				open = true
			case tool == step.InputText:
				text = said
			}
		}
		if err := s.run(t, `Change the text of the order to "Three chairs"`); open != (role == "link") {
			t.Errorf("%s: opened %v, text %s, %v", role, open, text, err)
		}
	}
}

// TestAMenuOpenedInVainIsClosed leaves no menu open whose entry cannot be pressed: the press that opened it is taken back.
func TestAMenuOpenedInVainIsClosed(t *testing.T) {
	for _, works := range []bool{true, false} {
		open, at := false, "Cork"
		s := &scene{lang: "en"}
		s.nodes = func() []snapshot.Node {
			opener := pressable("more", "button", "More")
			opener.Popup, opener.Expanded = "menu", fmt.Sprint(open)
			list := []snapshot.Node{opener, {Ref: "menu", Parent: -1, Tag: "div", Role: "menu", Hidden: !open, Opener: "more"}}
			for _, name := range []string{"Archive", "Exports"} {
				entry := inside(1, pressable(name, "menuitem", name))
				entry.Hidden, entry.Opener = !open, "more"
				list = append(list, entry)
			}
			return append(list, snapshot.Node{Ref: "h", Parent: -1, Tag: "h2", Role: "heading", Level: 2, Name: at})
		}
		s.on = func(tool, ref, _ string) {
			switch {
			case tool == step.PressKey:
				open = false
			case tool != step.Click:
			case ref == "more":
				open = !open
			case ref == "Archive":
				open, at = false, "Archive"
			}
		}
		s.fails = func(ref string) bool { return ref == "Archive" && !works }
		if err := s.run(t, "Choose Archive from the menu"); (err == nil) != works || open {
			t.Errorf("works %v: open %v, %v", works, open, err)
		}
	}
}

// TestADraftOfBeforeIsNoneThatIsSaved proves that something was saved as a draft by no note that was one before.
func TestADraftOfBeforeIsNoneThatIsSaved(t *testing.T) {
	for _, c := range []struct {
		text string
		keep func(p *notes)
		done bool
	}{
		{`Open the note about the late frost. Write a new note "First snow" and keep it as a draft`,
			func(p *notes) { p.says = "Kept." }, false},
		{`Open the note about the late frost. Write a new note "First snow" and keep it as a draft`, nil, true},
		{`Open the note about the late frost. Change the title to "Early frost" and keep it as a draft`, nil, true},
		{`Open the note about the late frost. Change the title to "Late frost of May" and keep it as a draft`, nil, true},
		{`Open the note about the late frost. Enter "In May" as the text and keep it as a draft`, nil, true},
	} {
		p, says := newNotes(), ""
		p.nodes = func() []snapshot.Node {
			list := p.draw()
			if strings.Contains(c.text, "the text") {
				list = append(list, typable("text", "Text", says))
			}
			return list
		}
		p.on = func(tool, ref, text string) {
			if ref == "text" {
				says = text
				return
			}
			p.react(tool, ref, text)
		}
		if keep := c.keep; keep != nil {
			p.on = func(tool, ref, text string) {
				if ref == "keep" && tool == step.Click {
					keep(p)
					return
				}
				p.react(tool, ref, text)
			}
		}
		if err := p.run(t, c.text); (err == nil) != c.done {
			t.Errorf("%s: %v, %q", c.text, err, p.titles)
		}
	}
}

// TestOtherFieldsOfAFormStay compares the fields of a form that was opened with what they held then.
func TestOtherFieldsOfAFormStay(t *testing.T) {
	for _, moves := range []bool{false, true} {
		open, town, name := false, "Bonn", "Ida"
		s := &scene{lang: "en"}
		s.nodes = func() []snapshot.Node {
			list := []snapshot.Node{pressable("edit", "button", "Edit address"), node(-1, "p", "text", "Who lives where")}
			if open {
				list = append(list, typable("name", "Name", name), typable("town", "Town", town))
			}
			return list
		}
		s.on = func(tool, ref, text string) {
			switch {
			case tool == step.Click && ref == "edit":
				open = true
			case tool == step.InputText && ref == "town":
				if town = text; moves {
					name = "Ida of " + text
				}
			}
		}
		err := s.run(t, "Press Edit address. Enter Ulm as the town and leave the other one as it is")
		if (err == nil) != !moves || town != "Ulm" {
			t.Errorf("moves %v: %v, town %s, name %s", moves, err, town, name)
		}
	}
}
