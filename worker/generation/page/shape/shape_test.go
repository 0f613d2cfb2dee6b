package shape

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/worker/snapshot"
)

func TestKindClass(t *testing.T) {
	t.Parallel()
	for class, want := range map[string]string{
		"":                            "",
		"card":                        "card",
		"d-flex mt-2 product":         "product",
		"row odd":                     "",
		"todo completed":              "todo",
		"col-md-6 px-3":               "",
		"is-active tile":              "tile",
		"css-1q2w3e4 item":            "item",
		"v-list-item v-list-item--on": "v-list-item",
	} {
		require.Equal(t, want, KindClass(class), class)
	}
}

func TestLabel(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"Name:": "Name", "Name *": "Name", "What is there to do?": "What is there to do",
		"Heating +": "Heating", "Backlog (3)": "Backlog (3)"} {
		require.Equal(t, want, Label(text))
	}
}

// What is alike stands together; what only has a class in common does not.
func TestClusters(t *testing.T) {
	t.Parallel()
	node := func(parent int, tag, role, class, name string) snapshot.Node {
		return snapshot.Node{Parent: parent, Tag: tag, Role: role, Class: class, Name: name, Text: name, Box: [4]int{0, 0, 100, 20}}
	}
	s := &snapshot.Snapshot{Nodes: []snapshot.Node{
		node(-1, "div", "", "page", ""),
		node(0, "div", "", "card", ""), node(1, "b", "text", "", "One"), node(1, "i", "text", "", "1"),
		node(0, "div", "", "card", ""), node(4, "b", "text", "", "Two"), node(4, "i", "text", "", "2"),
		node(0, "div", "", "box", ""), node(7, "h2", "heading", "", "News"), node(7, "p", "text", "", "Rain"),
		node(0, "div", "", "box", ""), node(10, "table", "table", "", ""), node(10, "button", "button", "", "Go"),
	}}
	got := New(s, "en").Clusters()
	require.Len(t, got, 1)
	require.Equal(t, []int{1, 4}, got[0].Members)
	require.Equal(t, "card", got[0].Pattern.Class)
}
