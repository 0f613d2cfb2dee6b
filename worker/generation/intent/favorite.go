package intent

import (
	"slices"

	"github.com/slipway-qa/slipway/worker/generation/lexicon"
)

// unmarked reads "remove it from the favourites": the mark goes and the thing stays.
func (r *reader) unmarked(g *Goal) {
	if g.Effect != Remove || len(g.Target) != 1 {
		return
	}
	t := &g.Target[0]
	switch {
	case g.From != nil && r.favorites(g.From):
		g.Words, g.From = append(g.Words, g.From.Span), nil
	case g.From == nil && t.Of != nil && r.favorites(t.Of):
		g.Words, t.Of = append(g.Words, t.Of.Span), nil
	default:
		return
	}
	g.Effect, g.State, g.Concept, g.Risk, g.Lemma = Reopen, "ordinary", "unfavorite", "", "unfavorite"
}

// favorites reports whether a description is the list of favourites and no more.
func (r *reader) favorites(d *Description) bool {
	if d.Quoted || d.Of != nil || len(d.Having)+len(d.Words)+len(d.State) != 1 {
		return false
	}
	if len(d.State) == 1 {
		return d.State[0].Name == "favorite" && !d.State[0].Not
	}
	return len(d.Words) == 1 && slices.ContainsFunc(r.lex.Concepts(d.Words[0].Text), func(id lexicon.ConceptID) bool { return id.Name() == "favorite" })
}
