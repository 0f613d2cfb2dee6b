package effect

import (
	"testing"

	"github.com/slipway-qa/slipway/worker/generation/page"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// mails is the model of a list of mails.
func mails(from ...string) *page.Model {
	s := &snapshot.Snapshot{URL: "http://page/", Width: 800, Height: 600, Nodes: []snapshot.Node{{Ref: "ul", Parent: -1, Tag: "ul", Role: "list", Box: [4]int{0, 0, 300, 200}}}}
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
