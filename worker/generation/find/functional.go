package find

import (
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/lexicon"
)

// grammar are the classes of words that say nothing by themselves.
var grammar = map[lexicon.Class]bool{lexicon.Article: true, lexicon.Pronoun: true, lexicon.Possessive: true, lexicon.Demonstrative: true,
	lexicon.Conjunction: true, lexicon.Preposition: true, lexicon.Polite: true, lexicon.Stop: true, lexicon.Relative: true,
	lexicon.There: true}

// Functional reports whether a value has no quotes and only words of grammar: a pronoun, an article,
// an adverb is never what somebody types. Capitals make a name or code of it ("IT", "A").
func Functional(v *intent.Value, lang string) bool {
	if v.Quoted || v.Number != nil || v.Date != nil || v.From != nil || v.Text != strings.ToLower(v.Text) {
		return false
	}
	words := strings.Fields(v.Text)
	for _, w := range words {
		if !isGrammar(strings.Trim(w, ".,;:!?()"), lang) {
			return false
		}
	}
	return len(words) > 0
}

func isGrammar(w, lang string) bool {
	for _, code := range langsOf(lang) {
		for _, e := range lexicon.Language(code).Entries(w) {
			if grammar[e.Class] {
				return true
			}
		}
	}
	return false
}
