package page

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/worker/snapshot"
)

// What has no words is called by its colour and shape; what has some is not.
func TestLooks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		node snapshot.Node
		want []string
	}{
		{snapshot.Node{Style: map[string]string{"background": "red"}, Box: [4]int{0, 0, 40, 40}},
			[]string{"red box", "red square", "red colored"}},
		{snapshot.Node{Style: map[string]string{"background": "red"}, Box: [4]int{0, 0, 80, 40}}, []string{"red box", "red colored"}},
		{snapshot.Node{Style: map[string]string{"background": "navy", "shape": "circle"}, Box: [4]int{0, 0, 40, 40}},
			[]string{"navy circle", "navy colored", "blue circle", "blue colored"}},
		{snapshot.Node{Style: map[string]string{"background": "red", "unsure": "background"}, Box: [4]int{0, 0, 40, 40}}, nil},
		{snapshot.Node{Style: map[string]string{"color": "red"}, Box: [4]int{0, 0, 40, 40}}, nil},
		{snapshot.Node{Style: map[string]string{"background": "red"}, Name: "Delete"}, []string{"Delete"}},
	} {
		n := c.node
		n.Ref, n.Parent, n.Tag, n.Role, n.Interactive, n.Reacts, n.Text = "e1", -1, "button", "button", true, "listener", n.Name
		m := New(&snapshot.Snapshot{Lang: "en", Width: 1280, Height: 757, Nodes: []snapshot.Node{n}})
		var got []string
		for _, name := range m.Controls[0].Names {
			got = append(got, name.Text)
		}
		require.Equal(t, c.want, got)
	}
}
