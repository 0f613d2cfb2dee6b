package lexicon

import (
	"strings"
	"sync"
)

// Refuses reports whether a page says by a text that it does not take what was handed in, in any
// language: "Please enter a date", "Bitte einen gültigen Namen eingeben".
func Refuses(text string) bool {
	said := " " + strings.Join(folded(text), " ") + " "
	for _, phrase := range refusals() {
		if strings.Contains(said, phrase) {
			return true
		}
	}
	return false
}

// refusals are the phrases of messages.txt of all languages, folded, between spaces.
var refusals = sync.OnceValue(func() []string {
	var list []string
	for _, code := range Codes() {
		for _, phrase := range Language(code).refusals {
			list = append(list, " "+strings.Join(folded(phrase), " ")+" ")
		}
	}
	return list
})
