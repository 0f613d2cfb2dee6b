package effect

import (
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/lexicon"
)

// failing reports whether a field became invalid: the page refuses what was filled in.
func (j *judged) failing() bool {
	before := 0
	for i := range j.Before.Nodes {
		if j.Before.Nodes[i].Invalid {
			before++
		}
	}
	for i := range j.After.Nodes {
		if j.After.Nodes[i].Invalid {
			before--
		}
	}
	return before < 0
}

// refused reports whether a message that came says no, and nothing else says that the page took
// what was handed in: nothing closed, came, went or was emptied.
func (j *judged) refused() bool {
	if len(j.Closed)+len(j.Added)+len(j.Removed)+len(j.Changed) > 0 || slices.ContainsFunc(j.Fields, j.handedIn) {
		return false
	}
	return slices.ContainsFunc(j.newMessages(), func(i int) bool { return lexicon.Refuses(j.After.Lines[i].Text, j.After.Lang) })
}

// handedIn reports whether a field lost its text, as one that was handed in does. A password goes
// when it is refused, too.
func (j *judged) handedIn(p Pair) bool {
	f := &j.After.Fields[p.After]
	text := f.Kind == "text" || f.Kind == "editor"
	return text && strings.TrimSpace(f.Value) == "" && j.After.Nodes[f.Node].Type != "password"
}
