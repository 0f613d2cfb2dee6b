package progress

import (
	"strings"
	"unicode"
)

// Printable returns a text in one line without control characters, which could move the
// cursor of a terminal, change its title or type for whoever sits there.
func Printable(text string) string {
	return strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "?"), func(r rune) bool {
		return r == ' ' || !unicode.IsGraphic(r)
	}), " ")
}
