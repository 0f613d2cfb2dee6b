package intent

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/slipway-qa/slipway/worker/generation/lexicon"
)

// unmarked reads "remove it from the favourites": the mark goes and the thing stays.
func (r *reader) unmarked(g *Goal) {
	if g.Effect != Remove || len(g.Target) != 1 || g.From == nil {
		return
	}
	if g.Concept == "cancel" || !r.favorites(g.From) || r.bareName(g.From) {
		return
	}
	g.Words, g.From = append(g.Words, g.From.Span), nil
	g.Effect, g.State, g.Concept, g.Risk, g.Lemma = Reopen, "ordinary", "unfavorite", "", "unfavorite"
}

// bareName reports whether a description is one capitalized word without an article that is no plural:
// who is called so.
func (r *reader) bareName(d *Description) bool {
	first, _ := utf8.DecodeRuneInString(r.source[d.Span.From:])
	return r.lang != "de" && unicode.IsUpper(first) && !strings.HasSuffix(r.source[:d.Span.To], "s")
}

// favorites reports whether a description is the list of favourites and no more.
func (r *reader) favorites(d *Description) bool {
	if d.Quoted || d.Of != nil || len(d.Having)+len(d.Words)+len(d.State) != 1 {
		return false
	}
	if len(d.State) == 1 {
		return d.State[0].Name == "favorite" && !d.State[0].Not
	}
	return len(d.Words) == 1 && lexicon.Means(d.Words[0].Text, r.lang, "favorite")
}
