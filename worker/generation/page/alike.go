package page

import (
	"regexp"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/snapshot"
)

// plainClass is a class that needs no escape in a CSS selector and counts nothing.
var plainClass = regexp.MustCompile(`^[A-Za-z][A-Za-z_-]*[A-Za-z]$`)

// Alike returns a CSS selector by tag or class that finds some nodes below another one (-1: the page)
// and no other element that is seen there: of lists whose items have no role. It is "" without one.
func Alike(m *Model, in int, nodes []int) string {
	if len(nodes) == 0 || slices.ContainsFunc(nodes, func(n int) bool { return m.Nodes[n].Role == "text" || len(m.Nodes[n].Shadow) > 0 }) {
		return ""
	}
	nodes = slices.Sorted(slices.Values(nodes))
	for _, css := range styles(&m.Nodes[nodes[0]]) {
		var found []int
		for i := in + 1; i < m.Index().End(in); i++ {
			if n := &m.Nodes[i]; n.Role != "text" && !n.Hidden && slices.Contains(styles(n), css) {
				found = append(found, i)
			}
		}
		if slices.Equal(found, nodes) {
			return css
		}
	}
	return ""
}

// styles are the selectors by tag and class that find an element: of its own kind, or with a class.
func styles(n *snapshot.Node) []string {
	var list []string
	if strings.Contains(n.Tag, "-") {
		list = append(list, n.Tag)
	}
	classes := strings.Fields(n.Class)
	if len(n.Class) >= maxClass && len(classes) > 0 {
		classes = classes[:len(classes)-1] // it may be cut
	}
	for _, class := range classes {
		if plainClass.MatchString(class) {
			list = append(list, n.Tag+"."+class)
		}
	}
	return list
}

// maxClass is how much of a class attribute a snapshot has.
const maxClass = 80
