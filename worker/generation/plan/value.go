package plan

import (
	"slices"
	"strings"
)

// behindColon returns what a text of the page says of a name: "4817" of "Code: 4817",
// "" of the name alone.
func behindColon(text, name string) string {
	called := splitWords(fold(name))
	if len(called) == 0 {
		return text
	}
	if slices.Equal(splitWords(fold(text)), called) {
		return ""
	}
	if label, value, ok := strings.Cut(text, ":"); ok && slices.Equal(splitWords(fold(label)), called) {
		return strings.TrimSpace(value)
	}
	return text
}

// partWords stand between the text to type and the field, or between two of them.
var partWords = []string{"as", "into", "in", "for", "to", "als", "fuer", "in das feld", "ins"}

// runsOn reports whether a text to type goes on with what the sentence says of another
// field: a quoted text with words around it, or the name of a field behind "as".
func runsOn(v *view, text string) bool {
	if len(text) > maxFieldName*4 {
		return false
	}
	trimmed := strings.TrimSpace(text)
	for _, quote := range []string{"\"", "“", "„", "«"} {
		if at := strings.Index(trimmed, quote); at >= 0 && len(splitWords(fold(trimmed[:at])))+len(splitWords(fold(afterQuote(trimmed[at+len(quote):])))) > 1 {
			return true
		}
	}
	words := strings.Fields(fold(trimmed))
	for i, w := range words {
		if i == 0 || !slices.Contains(partWords, w) {
			continue
		}
		if beginsField(v, joinWords(splitWords(joinWords(words[i+1:])))) {
			return true
		}
	}
	return false
}

// afterQuote returns what stands behind the end of a quotation.
func afterQuote(s string) string {
	if at := strings.IndexAny(s, "\"”“»"); at >= 0 {
		return s[at+1:]
	}
	return ""
}

// maxFieldName bounds the name of a field that is looked for in a text.
const maxFieldName = 60

// beginsField reports whether a text begins with the name of a field of the page.
func beginsField(v *view, text string) bool {
	for _, article := range []string{"the ", "a ", "my ", "your ", "der ", "die ", "das ", "den "} {
		text = strings.TrimPrefix(text, article)
	}
	for _, i := range v.fields() {
		for _, name := range v.namings(i) {
			words := joinWords(name.text.words)
			if name.weight >= 0.7 && len(words) > 2 && len(words) <= maxFieldName && (text == words || strings.HasPrefix(text, words+" ")) {
				return true
			}
		}
	}
	return false
}
