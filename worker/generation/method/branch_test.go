package method

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/worker/generation/page"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// A sign before the text of an item opens a branch; a plus behind it, or a button, adds something.
func TestBranchMark(t *testing.T) {
	t.Parallel()
	sign := snapshot.Node{Ref: "sign", Tag: "span", Name: "+", Text: "+", Interactive: true, Reacts: "cursor listener",
		Box: [4]int{20, 10, 14, 20}}
	text := snapshot.Node{Ref: "text", Tag: "span", Role: "text", Name: "Pictures", Box: [4]int{34, 10, 80, 20}}
	behind, button, wide, plain := sign, sign, sign, sign
	behind.Box[0] = 120
	button.Tag, button.Role = "button", "button"
	wide.Box[2] = 90
	plain.Name, plain.Text = "Add", "Add"
	for _, c := range []struct {
		name  string
		nodes []snapshot.Node
		item  string
		want  bool
	}{
		{"before the text", []snapshot.Node{sign, text}, "listitem", true},
		{"behind it", []snapshot.Node{text, behind}, "listitem", false},
		{"a button", []snapshot.Node{button, text}, "listitem", false},
		{"wide", []snapshot.Node{wide, text}, "listitem", false},
		{"no sign", []snapshot.Node{plain, text}, "listitem", false},
		{"in no item", []snapshot.Node{sign, text}, "group", false},
	} {
		s := &snapshot.Snapshot{Lang: "en", Width: 1000, Height: 800, Nodes: []snapshot.Node{
			{Ref: "ul", Parent: -1, Tag: "ul", Role: "list", Box: [4]int{0, 0, 400, 400}},
			{Ref: "li", Parent: 0, Tag: "div", Role: c.item, Box: [4]int{20, 10, 380, 20}}}}
		for _, n := range c.nodes {
			n.Parent = 1
			s.Nodes = append(s.Nodes, n)
		}
		m := page.New(s)
		got := false
		for i := range m.Controls {
			got = got || BranchMark(m, i)
		}
		require.Equal(t, c.want, got, c.name)
	}
}
