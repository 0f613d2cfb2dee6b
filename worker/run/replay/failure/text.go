package failure

import (
	"strings"
	"unicode/utf8"
)

// Bounded cuts a text to a number of bytes, between characters.
func Bounded(text string, most int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most] + "…"
}
