package effect

import (
	"testing"

	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// A card of a board stands elsewhere when it is in the column that the goal names, of which there was
// only a heading.
func TestMoveOfACard(t *testing.T) {
	board := func(column int) *page.Model {
		s := &snapshot.Snapshot{Width: 800, Height: 600}
		for i, title := range []string{"To do", "Doing", "Done"} {
			at := len(s.Nodes)
			s.Nodes = append(s.Nodes, snapshot.Node{Ref: title, Parent: -1, Tag: "section", Role: "region", Name: title,
				Box: [4]int{200 * i, 0, 190, 300}},
				snapshot.Node{Ref: "h" + title, Parent: at, Tag: "h2", Role: "heading", Level: 2, Name: title, Text: title,
					Box: [4]int{200 * i, 5, 190, 20}})
			if i == column {
				s.Nodes = append(s.Nodes, snapshot.Node{Ref: "card", Parent: at, Tag: "div", Interactive: true,
					Reacts: "draggable", Name: "Draw logo", Text: "Draw logo", Box: [4]int{200 * i, 40, 190, 20}})
			}
		}
		return page.New(s)
	}
	text := intent.ReadIn(`Drag the card Draw logo to the column Done`, "en")
	g := &text.Readings[0].Goals[0]
	before := board(0)
	f := find.Description(before, &g.Target[0], find.Want{Lang: "en", Within: -1})
	if len(f.Candidates) == 0 {
		t.Fatal("not found")
	}
	for column, want := range []State{Unseen, Unseen, Reached} {
		if v := Judge(Between(before, board(column)), g, f.Candidates[:1]); (v.State == Reached) != (want == Reached) {
			t.Errorf("in column %d: %s, %s", column, v.State, v.Why)
		}
	}
}

// A thing that is in no list is moved when it lies on what it was dragged onto.
func TestMoveOfABox(t *testing.T) {
	box := func(x, y int) *page.Model {
		return page.New(&snapshot.Snapshot{Width: 800, Height: 600, Nodes: []snapshot.Node{
			{Ref: "area", Parent: -1, Tag: "div", Box: [4]int{0, 0, 300, 200}},
			{Ref: "a", Parent: 0, Tag: "div", Reacts: "draggable", Box: [4]int{x, y, 40, 40}},
			{Ref: "a", Parent: 1, Tag: "div", Role: "text", Name: "Take me", Box: [4]int{x, y, 38, 15}},
			{Ref: "b", Parent: 0, Tag: "div", Box: [4]int{150, 20, 90, 90}},
			{Ref: "b", Parent: 3, Tag: "div", Role: "text", Name: "Leave here", Box: [4]int{150, 20, 60, 15}},
		}})
	}
	text := intent.ReadIn(`Drag "Take me" onto "Leave here"`, "en")
	g := &text.Readings[0].Goals[0]
	before := box(5, 60)
	f := find.Description(before, &g.Target[0], find.Want{Lang: "en", Within: -1})
	if len(f.Candidates) == 0 {
		t.Fatal("not found")
	}
	for _, c := range []struct {
		x, y int
		want State
	}{{175, 45, Reached}, {60, 160, Unseen}, {5, 60, Unseen}} {
		if v := Judge(Between(before, box(c.x, c.y)), g, f.Candidates[:1]); v.State != c.want {
			t.Errorf("at %d, %d: %s, %s", c.x, c.y, v.State, v.Why)
		}
	}
}
