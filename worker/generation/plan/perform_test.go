package plan

import (
	"testing"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/method"
	"github.com/slipway-qa/slipway/worker/generation/page"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// TestStandIn names what is clicked in place of a box that is covered.
func TestStandIn(t *testing.T) {
	box := func(parent int, shadow ...string) snapshot.Node {
		return snapshot.Node{Ref: "box", Parent: parent, Tag: "input", Type: "checkbox", Role: "checkbox", Interactive: true,
			Shadow: shadow, Box: [4]int{0, 0, 20, 20}}
	}
	named := func(n snapshot.Node, name string) snapshot.Node {
		n.Name = name
		return n
	}
	host := snapshot.Node{Ref: "host", Parent: -1, Tag: "x-switch", Box: [4]int{0, 0, 20, 20}}
	label := snapshot.Node{Ref: "label", Parent: -1, Tag: "label", Text: "Remind", Box: [4]int{0, 0, 90, 20}}
	group := []snapshot.Node{host}
	for range 20 {
		group = append(group, snapshot.Node{Parent: 0, Tag: "span", Role: "text", Name: "a", Box: [4]int{0, 0, 20, 20}})
	}
	for name, c := range map[string]struct {
		nodes []snapshot.Node
		node  int
		want  int
	}{
		"shadow":          {[]snapshot.Node{host, box(0, "x-switch")}, 1, 0},
		"label":           {[]snapshot.Node{label, box(0)}, 1, 0},
		"label elsewhere": {[]snapshot.Node{label, host, named(box(1), "Remind")}, 2, 0},
		"two labels":      {[]snapshot.Node{label, host, named(box(1), "Remind"), label}, 2, -1},
		"plain":           {[]snapshot.Node{host, box(0)}, 1, -1},
		"whole group":     {append(group, box(0, "x-group")), 21, -1},
		"no box at all":   {[]snapshot.Node{host, {Parent: 0, Tag: "button", Shadow: []string{"x-switch"}}}, 1, -1},
	} {
		m := page.New(&snapshot.Snapshot{Nodes: c.nodes, Width: 100, Height: 100})
		if got := standIn(m, method.Act{Tool: step.Click, Node: c.node, To: -1}); got != c.want {
			t.Errorf("%s: got %d, want %d", name, got, c.want)
		}
	}
}
