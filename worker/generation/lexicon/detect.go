package lexicon

import (
	"slices"

	"github.com/slipway-qa/slipway/worker/generation/word/token"
)

// detected are classes of words that speak for a language.
var detected = []Class{
	Article, Pronoun, Possessive, Demonstrative, Auxiliary, Negation, Conjunction, Preposition, Quantity, Relative,
	Question, Polite, Number, Ordinal,
}

// maxDetected bounds how many words of a text are looked at.
const maxDetected = 400

// Detect returns the language of a text: that which knows most of its words, first of all the
// small ones and the verbs. Of a text that no language knows it is English.
func Detect(text string) string {
	var words []string
	quoted := false
	for _, t := range token.Split(text, nil) {
		if t.Kind == token.Quote && t.Text != "'" && t.Text != "’" {
			quoted = !quoted
		}
		if t.Kind == token.Word && len(words) < maxDetected {
			// What is quoted is in the language of the page.
			if !quoted || len(words) == 0 {
				words = append(words, t.Text)
			}
		}
	}
	best, most := "en", 0.0
	order := append([]string{"en"}, Codes()...)
	for _, code := range order {
		l := Language(code)
		var sum float64
		for i, w := range words {
			sum += l.speaks(w, i == 0)
		}
		if sum > most {
			best, most = code, sum
		}
	}
	return best
}

// speaks returns how much a word speaks for the language.
func (l *Lexicon) speaks(word string, first bool) float64 {
	lower := token.Lower(word)
	exact := l.entries[lower]
	verbs := l.verbs[lower]
	switch {
	case slices.ContainsFunc(exact, func(e Entry) bool { return slices.Contains(detected, e.Class) && e.Form == "" }):
		return 1
	case first && slices.ContainsFunc(verbs, func(v VerbForm) bool { return v.Form == "imperative" || v.Form == "infinitive" }):
		return 1.5
	case len(verbs) > 0:
		return 0.6
	case len(exact) > 0 || len(l.concept[lower]) > 0:
		return 0.5
	case first && len(l.enclitic(lower)) > 0:
		return 1.5
	case len(l.elision) > 0 && l.elided(lower):
		return 1
	}
	return 0
}

// elided reports whether a word begins with a word that has lost its vowel: "l'avis".
func (l *Lexicon) elided(word string) bool {
	for i := 0; i < len(word) && i < 9; i++ {
		if word[i] == '\'' {
			return l.elision[word[:i+1]]
		}
	}
	return false
}
