package plan_test

import (
	"fmt"
	"testing"

	"github.com/slipway-qa/slipway/worker/snapshot"
)

// What says all is pressed for all of a list only, and has done it only where all of the list changed.
func TestAllOfAList(t *testing.T) {
	for _, c := range []struct {
		text    string
		from    []string // of whom there are mails
		changes int      // how many of them the button changes
		pressed bool
		done    bool
	}{
		{"Mark all mails as read.", []string{"Ann", "Bo", "Cy"}, 3, true, true},
		{"Mark all as read.", []string{"Ann", "Bo", "Cy"}, 3, true, true},
		{"Mark all mails as read.", []string{"Ann", "Bo", "Cy"}, 1, true, false},
		{"Mark all as read.", []string{"Ann", "Bo", "Cy"}, 1, true, false},
		{"Mark all mails from Zoe as read.", []string{"Ann", "Bo", "Cy"}, 3, false, false},
		{"Mark all mails from Bo as read.", []string{"Ann", "Bo", "Bo"}, 3, false, false},
		{"Mark all the overdue mails as read.", []string{"Ann", "Bo", "Cy"}, 3, false, false},
		{"Archive all mails from Zoe.", []string{"Ann", "Bo", "Cy"}, 3, false, false},
	} {
		t.Run(fmt.Sprint(c.text, c.from, c.changes), func(t *testing.T) {
			pressed := false
			s := &scene{lang: "en"}
			s.nodes = func() []snapshot.Node {
				list := []snapshot.Node{pressable("all", "button", "Mark all as read"), pressable("archive", "button",
					"Archive all"), {Ref: "ul", Parent: -1, Tag: "ul", Role: "list"}}
				for i, from := range c.from {
					state := "unread"
					if pressed && i < c.changes {
						state = "seen"
					}
					at, ref := len(list), fmt.Sprint(from, i)
					list = append(list, snapshot.Node{Ref: ref, Parent: 2, Tag: "li", Role: "listitem"},
						snapshot.Node{Ref: "title " + ref, Parent: at, Tag: "span", Role: "text", Name: "Mail of " + from},
						snapshot.Node{Ref: "state " + ref, Parent: at, Tag: "span", Role: "text", Name: state})
				}
				return list
			}
			s.on = func(_, ref, _ string) { pressed = pressed || ref == "all" || ref == "archive" }
			if err := s.run(t, c.text); pressed != c.pressed || (err == nil) != c.done {
				t.Errorf("pressed %v, want %v; %v", pressed, c.pressed, err)
			}
		})
	}
}
