package plan_test

import (
	"fmt"
	"testing"

	"github.com/slipway-qa/slipway/worker/snapshot"
)

// What a press opens may be seen only at the second look, when its first trace is there already: then it
// is not taken back.
func TestLooksAgainAtWhatIsOnItsWay(t *testing.T) {
	for _, c := range []struct {
		text string
		late int // looks at which the menu is not seen yet
		done bool
	}{
		{"Duplicate the museum.", 0, true},
		{"Duplicate the museum.", 1, true},
		{"Dupliziere das Museum.", 1, true},
	} {
		t.Run(fmt.Sprint(c.text, c.late), func(t *testing.T) {
			titles, open, looks := []string{"Museum", "Tram tickets", "Taxi"}, false, 0
			s := &scene{lang: "en"}
			s.nodes = func() []snapshot.Node {
				list := []snapshot.Node{{Ref: "ul", Parent: -1, Tag: "ul", Role: "list"}}
				for i, title := range titles {
					li := len(list)
					list = append(list, snapshot.Node{Ref: fmt.Sprint("li", i), Parent: 0, Tag: "li", Role: "listitem",
						Name: title, Interactive: true, Reacts: "cursor listener"},
						snapshot.Node{Ref: fmt.Sprint("t", i), Parent: li, Tag: "span", Role: "text", Name: title, Text: title})
				}
				if !open {
					return list
				}
				list = append(list, snapshot.Node{Ref: "veil", Parent: -1, Tag: "div", Layer: "fixed"})
				if looks++; looks <= c.late {
					return list
				}
				sheet := len(list)
				list = append(list, snapshot.Node{Ref: "sheet", Parent: -1, Tag: "div", Role: "dialog", Name: "Museum", Layer: "fixed"})
				for _, name := range []string{"Duplicate", "Close"} {
					b := pressable(name, "button", name)
					b.Parent, b.Text = sheet, name
					list = append(list, b)
				}
				return list
			}
			s.on = func(tool, ref, _ string) {
				switch {
				case ref == "Duplicate":
					titles, open = append(titles, "Museum"), false
				case ref == "Close" || tool == "press_key":
					open = false
				case tool == "click" && (ref == "li0" || ref == "t0"):
					open, looks = true, 0
				}
			}
			err := s.run(t, c.text)
			if (err == nil) != c.done || (len(titles) == 4) != c.done {
				t.Errorf("%q: %v", titles, err)
			}
		})
	}
}
