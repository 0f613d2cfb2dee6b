package page

import (
	"strings"
	"unicode"

	"github.com/slipway-qa/slipway/worker/generation/lexicon"
	"github.com/slipway-qa/slipway/worker/generation/page/shape"
)

// asks reports whether a node has a text and two buttons, one of which says yes or no, and nothing else to
// press: a question in a bubble. "Signed in as Ann" over Profile and Sign out asks nothing.
func (b *builder) asks(i int) bool {
	buttons, said, answers := 0, false, false
	for j := i + 1; j < b.Stop(i); j++ {
		n := &b.Nodes[j]
		switch {
		case n.Hidden:
		case n.Role == "button" && b.TextOf(j) != "":
			buttons++
			answers = answers || isAnswer(b.TextOf(j))
			j = b.Stop(j) - 1
		case n.Interactive || n.Editable:
			return false
		case b.Leaf[j] != "" && shape.Worded(b.Leaf[j]) && strings.Contains(b.Leaf[j], " "):
			said = true
		}
	}
	return buttons == 2 && said && answers
}

// isAnswer reports whether the name of a button confirms or declines, or begins with yes or no: "OK",
// "No, keep it".
func isAnswer(name string) bool {
	first := strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) })
	return lexicon.Means(name, "", "confirm", "yes", "no", "cancel", "accept", "reject") ||
		len(first) > 0 && lexicon.Means(first[0], "", "yes", "no")
}
