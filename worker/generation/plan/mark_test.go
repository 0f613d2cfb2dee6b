package plan_test

import (
	"strings"
	"testing"

	"github.com/slipway-qa/slipway/worker/snapshot"
)

// ticking is a list of things, each with a box, some of them ticked, and with a button of a name.
func ticking(button string) *scene {
	names := []string{"Salt", "Tea", "Rye"}
	done, marked := map[string]bool{"Tea": true}, map[string]bool{"Tea": true}
	s := &scene{lang: "en"}
	s.nodes = func() []snapshot.Node {
		list := []snapshot.Node{{Ref: "h", Parent: -1, Tag: "h1", Role: "heading", Level: 1, Name: "Shopping"},
			{Ref: "ul", Parent: -1, Tag: "ul", Role: "list"}}
		for _, n := range names {
			li, tick := len(list), box("box "+n, "", done[n])
			tick.Parent = li
			list = append(list, snapshot.Node{Ref: "li " + n, Parent: 1, Tag: "li", Role: "listitem"}, tick,
				snapshot.Node{Ref: "t " + n, Parent: li, Tag: "span", Role: "text", Name: n})
			if button != "" && marked[n] {
				b := pressable("mark "+n, "button", button)
				b.Parent = li
				if sign, title, ok := strings.Cut(button, " "); ok && sign == "★" {
					b.Name, b.Title = sign, title
				}
				list = append(list, b)
			}
		}
		return list
	}
	s.on = func(_, ref, _ string) {
		what, name, _ := strings.Cut(ref, " ")
		switch what {
		case "box":
			done[name] = !done[name]
		case "mark":
			marked[name] = false
		}
	}
	return s
}

// TestBoxesOfThingsAreNoMarks ticks and unticks no box of a thing for a favourite or a wish, nor takes
// what it shows for that.
func TestBoxesOfThingsAreNoMarks(t *testing.T) {
	for _, c := range []struct{ button, text, did string }{
		{"", "Remove Tea from the favourites.", ""},
		{"", "Remove Rye from the favourites.", ""},
		{"", "Unstar Tea.", ""},
		{"Undo", "Unfollow Tea.", ""},
		{"Unstar", "Unstar Tea.", "click mark Tea"},
		{"Remove from favourites", "Remove Tea from the favourites.", "click mark Tea"},
		{"★ Remove star", "Star Tea.", ""},
		{"", "I don't want the Tea.", ""},
		{"", "I no longer want Rye.", ""},
	} {
		s := ticking(c.button)
		err := s.run(t, c.text)
		if got := strings.Join(s.did, ", "); got != c.did || (err == nil) != (c.did != "") {
			t.Errorf("%s with %q: %q, want %q: %v", c.text, c.button, got, c.did, err)
		}
	}
}
