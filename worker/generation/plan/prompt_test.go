package plan_test

import (
	"testing"

	"github.com/slipway-qa/slipway/worker/snapshot"
)

// TestPromptIsAnswered answers a question of the browser for the name of something new with what the
// text calls it, and with nothing else.
func TestPromptIsAnswered(t *testing.T) {
	for _, c := range []struct {
		text, want string
	}{
		{"Add a page called Lunch places", "Lunch places"},
		{"Create a gizmo named Blue", "Blue"},
		{"Add a page called Lunch places for Ann", ""}, // the question has room for one of them
	} {
		t.Run(c.text, func(t *testing.T) {
			titles, asks := []string{"Holidays", "Onboarding"}, ""
			s := &scene{lang: "en"}
			s.nodes = func() []snapshot.Node {
				list := []snapshot.Node{pressable("add page", "button", "Add page"), pressable("add gizmo", "button", "New gizmo"),
					{Ref: "ul", Parent: -1, Tag: "ul", Role: "list"}}
				for _, title := range titles {
					at := len(list)
					list = append(list, snapshot.Node{Ref: title, Parent: 2, Tag: "li", Role: "listitem"},
						snapshot.Node{Ref: title + " text", Parent: at, Tag: "span", Role: "text", Name: title})
				}
				return list
			}
			s.on = func(tool, ref, _ string) {
				if tool == "click" && (ref == "add page" || ref == "add gizmo") {
					s.asked = "What is it called?"
				}
			}
			s.answered = func(text string) {
				if asks = text; text != "" {
					titles = append(titles, text)
				}
			}
			err := s.run(t, c.text)
			if (err == nil) != (c.want != "") || err == nil && asks != c.want {
				t.Errorf("answered %q, %v", asks, err)
			}
		})
	}
}

// A question for yes or no takes no name: what comes by it must show the value.
func TestPromptShowsWhatItTook(t *testing.T) {
	for _, c := range []struct {
		asked, made string // made: what the page makes of the answer
		done        bool
	}{
		{"What is it called?", "Lunch places", true},
		{"Create a new page?", "Untitled", false},
		{"Create a new page?", "New page (1)", false},
		{"Create a new page?", "Lunch", false},
	} {
		titles := []string{"Holidays", "Onboarding"}
		s := &scene{lang: "en"}
		s.nodes = func() []snapshot.Node {
			list := []snapshot.Node{pressable("add", "button", "Add page"), {Ref: "ul", Parent: -1, Tag: "ul", Role: "list"}}
			for _, title := range titles {
				at := len(list)
				list = append(list, snapshot.Node{Ref: title, Parent: 1, Tag: "li", Role: "listitem"},
					snapshot.Node{Ref: title + " text", Parent: at, Tag: "span", Role: "text", Name: title})
			}
			return list
		}
		s.on = func(tool, ref, _ string) {
			if tool == "click" && ref == "add" {
				s.asked = c.asked
			}
		}
		s.yes = func() { titles = append(titles, c.made) }
		if err := s.run(t, "Add a page called Lunch places"); (err == nil) != c.done {
			t.Errorf("%q, made %q: %v", c.asked, c.made, err)
		}
	}
}
