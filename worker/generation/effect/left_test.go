package effect

import (
	"testing"

	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// mails is the model of a list of mails.
func mails(from ...string) *page.Model {
	s := &snapshot.Snapshot{URL: "http://page/", Width: 800, Height: 600,
		Nodes: []snapshot.Node{{Ref: "ul", Parent: -1, Tag: "ul", Role: "list", Box: [4]int{0, 0, 300, 200}}}}
	for i, f := range from {
		s.Nodes = append(s.Nodes, snapshot.Node{Ref: "li" + f, Parent: 0, Tag: "li", Role: "listitem", Box: [4]int{0, 20 * i, 300, 18}})
		li := len(s.Nodes) - 1
		s.Nodes = append(s.Nodes, snapshot.Node{Ref: "b" + f, Parent: li, Tag: "b", Role: "text", Name: f, Box: [4]int{0, 20 * i, 80, 18}},
			snapshot.Node{Ref: "s" + f, Parent: li, Tag: "span", Role: "text", Name: "Hello from " + f, Box: [4]int{90, 20 * i, 200, 18}})
	}
	return page.New(s)
}

// A list whose things are all seen no more was left; where a neighbour is still there, or there is but
// one, something was removed.
func TestLeft(t *testing.T) {
	for _, c := range []struct {
		name          string
		before, after []string
		want          bool
	}{
		{"another view", []string{"Ann", "Bo", "Cy"}, nil, true},
		{"shown alone", []string{"Ann", "Bo", "Cy"}, []string{"Ann"}, true},
		{"a neighbour is gone", []string{"Ann", "Bo", "Cy"}, []string{"Ann", "Cy"}, false},
		{"all but a neighbour are gone", []string{"Ann", "Bo", "Cy"}, []string{"Bo"}, false},
		{"the only neighbour is gone", []string{"Ann", "Bo"}, []string{"Ann"}, false},
	} {
		if got := Between(mails(c.before...), mails(c.after...)).Left(0); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// folders is the model of a tree, with what is chosen of it beside it.
func folders(open bool, chosen string) *page.Model {
	s := &snapshot.Snapshot{URL: "http://page/", Width: 800, Height: 600,
		Nodes: []snapshot.Node{{Ref: "tree", Parent: -1, Tag: "ul", Role: "tree", Box: [4]int{0, 0, 300, 200}}}}
	add := func(parent int, n snapshot.Node) int {
		n.Parent = parent
		s.Nodes = append(s.Nodes, n)
		return len(s.Nodes) - 1
	}
	for i, f := range []string{"Money", "Teams", "Minutes"} {
		expanded := "false"
		if open && i == 0 {
			expanded = "true"
		}
		li := add(0, snapshot.Node{Ref: "li" + f, Tag: "li", Role: "treeitem", Name: f, Expanded: expanded, Box: [4]int{0, 20 * i, 300, 18}})
		add(li, snapshot.Node{Ref: "t" + f, Tag: "span", Role: "text", Name: f, Box: [4]int{20, 20 * i, 80, 18}})
	}
	if open {
		add(-1, snapshot.Node{Ref: "budget", Tag: "p", Role: "text", Name: "Budget", Box: [4]int{0, 100, 100, 20}})
	}
	if chosen != "" {
		add(-1, snapshot.Node{Ref: "chosen", Tag: "p", Role: "text", Name: "Path: " + chosen, Box: [4]int{400, 0, 100, 20}})
	}
	return page.New(s)
}

// A folder of which only something is told now is not expanded.
func TestExpandedByItsState(t *testing.T) {
	before := folders(false, "")
	for name, c := range map[string]struct {
		after *page.Model
		want  State
	}{"chosen": {folders(false, "Money"), Unseen}, "expanded": {folders(true, ""), Reached}} {
		got := Judge(Between(before, c.after), &intent.Goal{Effect: intent.Expand},
			[]find.Candidate{{What: find.Record, Index: 0, Node: before.Records[0].Node, Sub: -1}})
		if got.State != c.want {
			t.Errorf("%s: %s, %s", name, got.State, got.Why)
		}
	}
}
