package effect

import (
	"testing"

	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// A thing with a box is ticked when its box is, and not when its star changes.
func TestTickOfAThing(t *testing.T) {
	list := func(checked, star string) *page.Model {
		s := &snapshot.Snapshot{Width: 800, Height: 600, Lang: "en", Nodes: []snapshot.Node{{Ref: "list", Parent: -1,
			Tag: "ul", Role: "list", Box: [4]int{0, 0, 400, 100}}}}
		for i, title := range []string{"Walk the dog", "Feed the cat"} {
			at, c, text := len(s.Nodes), "false", "☆"
			if i == 0 {
				c, text = checked, star
			}
			y := 10 + 30*i
			s.Nodes = append(s.Nodes, snapshot.Node{Ref: title, Parent: 0, Tag: "li", Role: "listitem", Name: title, Box: [4]int{0, y, 400, 24}},
				snapshot.Node{Ref: "box " + title, Parent: at, Tag: "input", Type: "checkbox", Role: "checkbox",
					Checked: c, Interactive: true, Box: [4]int{2, y, 20, 20}},
				snapshot.Node{Ref: "text " + title, Parent: at, Tag: "span", Role: "text", Name: title, Text: title, Box: [4]int{30, y, 200, 20}},
				snapshot.Node{Ref: "star " + title, Parent: at, Tag: "button", Role: "button", Name: text, Text: text,
					Interactive: true, Box: [4]int{300, y, 20, 20}})
		}
		return page.New(s)
	}
	before := list("false", "☆")
	for _, c := range []struct {
		text, checked, star string
		want                bool
	}{
		{"Tick Walk the dog", "true", "☆", true},
		{"Tick Walk the dog", "false", "★", false},
		{"Star Walk the dog", "false", "★", true},
	} {
		text := intent.ReadIn(c.text, "en")
		g := &text.Readings[0].Goals[0]
		f := find.Description(before, &g.Target[0], find.Want{Lang: "en", Within: -1, Kinds: []find.What{find.Record}})
		if len(f.Candidates) == 0 {
			t.Fatal("not found")
		}
		if v := Judge(Between(before, list(c.checked, c.star)), g, f.Candidates[:1]); (v.State == Reached) != c.want {
			t.Errorf("%s, box %s, star %s: %s, %s", c.text, c.checked, c.star, v.State, v.Why)
		}
	}
}
