package intent

import (
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/lexicon"
)

// elided gives what is only told apart from the thing before it the noun of that, and what else that
// is: "open the first question, then the last one", "the oldest mail of Ann and the newest". What the
// goal is taken from stands behind the last of them, and the first may say another place for itself.
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
		d.Of = before.Of
		if len(d.Having) == 0 {
			d.Having = slices.Clone(before.Having)
		}
		if d.In != nil || before.In == nil {
			continue
		}
		d.In = before.In
		if g.From != nil && i == len(list)-1 && g.From.Span.From > d.Span.From {
			d.In, g.From = g.From, nil
		}
	}
}

// others reports whether a phrase is all the other things and no more: "nothing else".
func (p *phrase) others() bool {
	return len(p.core) > 0 && len(p.rel)+len(p.mods) == 0 &&
		!slices.ContainsFunc(p.core, func(it item) bool { return !it.has(lexicon.Quantity, "other") })
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
