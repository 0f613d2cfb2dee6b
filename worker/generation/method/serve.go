package method

import (
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/effect"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// Serves reports whether what stands at a node can do what a goal says besides its effect: the mark of a
// favourite is taken away by what says so and by no other box, and who wants to be told something or
// not has a setting turned, and no thing of a list ticked.
func Serves(m *page.Model, g *intent.Goal, node int) bool {
	if c := m.ControlAt(node); g.Effect == intent.Submit && c >= 0 && hasConcept(&m.Controls[c], "skip") {
		return false // what passes over something does not go on with it
	}
	switch g.Concept {
	case "favorite":
		c := m.ControlAt(node)
		return c < 0 || g.Effect != intent.Complete || !hasConcept(&m.Controls[c], "unfavorite") // it is one already
	case "unfavorite":
		return marksFavorite(m, node)
	case "notify":
		return g.Effect != intent.Toggle || recordAt(m, node) < 0
	}
	return true
}

// serving keeps the ways that serve the goal, and those that show more and tick nothing.
func (t *Task) serving(list []Way) []Way {
	if t.Goal.Concept == "notify" && t.Goal.Effect == intent.Toggle && t.record() >= 0 {
		return nil
	}
	return slices.DeleteFunc(list, func(w Way) bool {
		if len(w.Acts) == 0 {
			return false
		}
		node := w.Acts[len(w.Acts)-1].Node
		box := node >= 0 && t.Model.Nodes[node].Checked != ""
		return (box || !w.Reveals) && !Serves(t.Model, t.Goal, node)
	})
}

// recordAt is the record of the control or field at a node; -1.
func recordAt(m *page.Model, node int) int {
	if c := m.ControlAt(node); c >= 0 {
		return m.Controls[c].Record
	}
	if f := m.FieldAt(node); f >= 0 {
		return m.Fields[f].Record
	}
	return -1
}

// marksFavorite reports whether the control or field at a node says that it marks a favourite, besides
// the title of what it stands in.
func marksFavorite(m *page.Model, node int) bool {
	var names []string
	if c := m.ControlAt(node); c >= 0 {
		for _, n := range m.Controls[c].Names {
			names = append(names, n.Text)
		}
	} else if f := m.FieldAt(node); f >= 0 {
		names = append(names, m.Fields[f].Names...)
	}
	title := ""
	if r := recordAt(m, node); r >= 0 && r < len(m.Records) {
		title = effect.Fold(m.Records[r].Title)
	}
	return slices.ContainsFunc(names, func(name string) bool {
		rest := effect.Fold(name)
		if title != "" {
			rest = strings.Replace(rest, title, " ", 1)
		}
		return strings.ContainsAny(name, "★☆♥♡❤") || textHas(strings.TrimSpace(rest), "", "favorite", "unfavorite",
			"star", "like", "follow", "unfollow")
	})
}
