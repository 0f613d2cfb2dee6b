package lexicon

import (
	"slices"
	"strings"
	"sync"
	"unicode"
)

// Refuses reports whether a page of a language ("de-AT") says by a text that it does not take what was
// handed in: "Please enter a date", "Bitte einen gültigen Namen eingeben". Pages of all languages have
// messages in English; one that says no language, or English as templates do, may say it in any.
func Refuses(text, lang string) bool {
	lang, _, _ = strings.Cut(strings.ToLower(lang), "-")
	known := lang != "en" && slices.Contains(Codes(), lang)
	said := " " + strings.Join(folded(text), " ") + " "
	for code, phrases := range refusals() {
		if known && code != lang && code != "en" {
			continue
		}
		for _, phrase := range phrases {
			if strings.Contains(said, phrase) {
				return true
			}
		}
	}
	return false
}

// Negates reports whether a text has a word that says no of something, or leaves it out, in any language: "not", "ohne",
// "sauf".
func Negates(text string) bool {
	words := append(strings.Fields(text), strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' })...)
	return slices.ContainsFunc(words, func(w string) bool {
		return slices.ContainsFunc(Codes(), func(code string) bool {
			lex, w := Language(code), strings.Trim(w, ".,:;!?()")
			if lex.Is(w, Negation) {
				return true
			}
			e := lex.Entry(w, Preposition)
			return e != nil && (e.Name == "without" || e.Name == "except")
		})
	})
}

// refusals are the phrases of messages.txt by language, folded, between spaces.
var refusals = sync.OnceValue(func() map[string][]string {
	all := map[string][]string{}
	for _, code := range Codes() {
		for _, phrase := range Language(code).refusals {
			all[code] = append(all[code], " "+strings.Join(folded(phrase), " ")+" ")
		}
	}
	return all
})
