package page

import (
	"regexp"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/lexicon"
	"github.com/slipway-qa/slipway/worker/generation/page/shape"
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
		if plainClass.MatchString(class) && shape.Kindly(class) && saysKind(class) {
			list = append(list, n.Tag+"."+class)
		}
	}
	return list
}

// classPart is one word of a class, as people join them: "cart-item", "cartItem".
var classPart = regexp.MustCompile(`[A-Z]?[a-z]+|[-_]+`)

// saysKind reports whether a class is made of words, one of which is for a kind of thing and none for how
// a thing is now: a build changes what a machine made, and "done" is not what a thing is.
func saysKind(class string) bool {
	kind, length := false, 0
	for _, part := range classPart.FindAllString(class, -1) {
		length += len(part)
		if strings.Trim(part, "-_") == "" {
			continue
		}
		known := false
		for _, code := range lexicon.Codes() {
			l, low := lexicon.Language(code), strings.ToLower(part)
			if shape.StateWords[low] || l.Is(low, lexicon.State) {
				return false
			}
			known = known || l.Known(low)
			kind = kind || l.Is(low, lexicon.Noun_)
		}
		if !known || len(part) < 3 {
			return false
		}
	}
	return kind && length == len(class)
}

// maxClass is how much of a class attribute a snapshot has.
const maxClass = 80
