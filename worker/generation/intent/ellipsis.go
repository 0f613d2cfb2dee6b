package intent

import (
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/lexicon"
)

// elided gives what is only told apart from the thing before it the noun of that: "open the first
// question, then the last one".
func elided(g *Goal) {
	list := g.Target
	for i := 1; i < len(list); i++ {
		d, before := &list[i], &list[i-1]
		if d.Ordinal == 0 && d.Extreme == nil || len(d.Words) > 0 || d.Noun != "" || d.Kind != "" || d.Of != nil {
			continue
		}
		if before.Ordinal == 0 && before.Extreme == nil || before.Quoted {
			continue
		}
		d.Pronoun, d.Kind, d.Noun, d.NounSpan, d.Words = false, before.Kind, before.Noun, before.NounSpan, slices.Clone(before.Words)
		if len(d.Having) == 0 {
			d.Of, d.Having = before.Of, slices.Clone(before.Having)
		}
		if i == len(list)-1 && d.In == nil && before.In != nil && g.From != nil && g.From.Span.From >= d.Span.To {
			d.In, g.From = g.From, nil // "the first one in Archive and the last one in Inbox"
		}
		if d.In == nil {
			d.In = before.In
		}
	}
}

// others reports whether a phrase is all the other things and no more: "nothing else".
func (p *phrase) others() bool {
	return len(p.core) > 0 && len(p.rel)+len(p.mods) == 0 && !slices.ContainsFunc(p.core, func(it item) bool { return !it.has(lexicon.Quantity, "other") })
}

// behindArticle reports whether an article stands among items.
func behindArticle(items []item) bool {
	return slices.ContainsFunc(items, func(it item) bool { return it.has(lexicon.Article) })
}

// objectOf reports whether items[i] stands alone behind a verb with its particle at s: "turn off
// mentions and comments" asks for nothing that mentions something.
func objectOf(items []item, s, i int) bool {
	if i < s+2 || i+1 < len(items) && !items[i+1].mark && !items[i+1].has(lexicon.Conjunction) && !items[i+1].has(lexicon.Preposition) {
		return false
	}
	return slices.ContainsFunc(items[s].verbs, func(v lexicon.VerbForm) bool {
		return v.Particle != "" && v.Form == "imperative" && matchWords(items[s+1:i], strings.Fields(fold(v.Particle))) == i-s-1
	})
}
