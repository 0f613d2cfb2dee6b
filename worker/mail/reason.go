package mail

import (
	"strings"
	"unicode"
)

// maxReason bounds what is stored of a server's text, in bytes.
const maxReason = 500

// oneLine returns a text that a row and a page can hold: one line, valid UTF-8,
// bounded.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > maxReason {
		s = strings.ToValidUTF8(s[:maxReason], "") + "..."
	}
	return s
}
