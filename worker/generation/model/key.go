package model

import (
	"slices"
	"strings"
	"unicode"
)

// namesKey reports whether a text, in lower case, names each key of a chord as a word of its own that
// is no verb at its begin: "Enter" of "Enter Bob" is none.
func namesKey(text, keys string) bool {
	words := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for _, key := range strings.Split(strings.ToLower(keys), "+") {
		at := slices.IndexFunc(words, func(w string) bool {
			return w == key || strings.HasPrefix(key, w) && len(w) > 2 || key == "control" && (w == "ctrl" || w == "strg")
		})
		if at < 0 || at == 0 && key == "enter" && !slices.Contains(words[1:], key) {
			return false
		}
	}
	return true
}
