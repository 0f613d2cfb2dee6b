package page

import (
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/page/shape"
)

// asks reports whether a node has a text and two buttons and nothing else to press: a question in a
// bubble.
func (b *builder) asks(i int) bool {
	buttons, said := 0, false
	for j := i + 1; j < b.Stop(i); j++ {
		n := &b.Nodes[j]
		switch {
		case n.Hidden:
		case n.Role == "button" && b.TextOf(j) != "":
			buttons++
			j = b.Stop(j) - 1
		case n.Interactive || n.Editable:
			return false
		case b.Leaf[j] != "" && shape.Worded(b.Leaf[j]) && strings.Contains(b.Leaf[j], " "):
			said = true
		}
	}
	return buttons == 2 && said
}
