package script

import (
	"strings"
	"unicode"
)

// maxComment is characters of a comment, about two lines.
const maxComment = 200

// Comment makes a line for a comment of any of the languages. A backslash is
// doubled, since Java reads \u000a in comments, too; */ cannot stand.
func Comment(s string) string {
	var b strings.Builder
	n := 0
	for _, r := range strings.Join(strings.Fields(strings.ToValidUTF8(s, "")), " ") {
		if n++; n > maxComment {
			b.WriteString("...")
			break
		}
		switch {
		case r == '\\':
			b.WriteString(`\\`)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			b.WriteByte(' ')
		}
	}
	return strings.TrimSpace(strings.ReplaceAll(b.String(), "*/", "* /"))
}
