package export

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// quote writes a literal between quotes. special gives the escape of a character
// that has one; odd gives the escape of one that does not print: control
// characters, line separators, and those that turn the direction of the text
// around and so hide what code says.
func quote(s, quotes string, special map[rune]string, odd func(rune) string) string {
	var b strings.Builder
	b.WriteString(quotes)
	for _, r := range strings.ToValidUTF8(s, string(utf8.RuneError)) {
		if escape, ok := special[r]; ok {
			b.WriteString(escape)
		} else if unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			b.WriteString(odd(r))
		}
	}
	b.WriteString(quotes)
	return b.String()
}

var (
	javaScriptEscapes = map[rune]string{'\\': `\\`, '\'': `\'`, '\n': `\n`, '\r': `\r`, '\t': `\t`}
	templateEscapes   = map[rune]string{'\\': `\\`, '`': "\\`", '$': `\$`, '\n': `\n`, '\r': `\r`, '\t': `\t`}
	pythonEscapes     = map[rune]string{'\\': `\\`, '"': `\"`, '\n': `\n`, '\r': `\r`, '\t': `\t`}
	javaEscapes       = map[rune]string{'\\': `\\`, '"': `\"`, '\n': `\n`, '\r': `\r`, '\t': `\t`, '\b': `\b`, '\f': `\f`}
)

// pythonLiteral is a string literal of Python.
func pythonLiteral(s string) string {
	return quote(s, `"`, pythonEscapes, func(r rune) string {
		if r > 0xffff {
			return fmt.Sprintf(`\U%08x`, r)
		}
		return fmt.Sprintf(`\u%04x`, r)
	})
}

// javaLiteral is a string literal of Java. A compiler reads \u000a as a line
// break before it looks for literals, so the characters of Latin-1 are octal.
func javaLiteral(s string) string {
	return quote(s, `"`, javaEscapes, func(r rune) string {
		if r > 0xffff {
			high, low := (r-0x10000)>>10+0xd800, (r-0x10000)&0x3ff+0xdc00
			return fmt.Sprintf(`\u%04x\u%04x`, high, low)
		}
		if r > 0xff {
			return fmt.Sprintf(`\u%04x`, r)
		}
		return fmt.Sprintf(`\%03o`, r)
	})
}

// joined is an expression that adds up the parts of a text; variable writes one that is no literal.
func joined(t text, literal func(string) string, variable func(part) string) string {
	if s, ok := t.fixed(); ok {
		return literal(s)
	}
	parts := make([]string, 0, len(t))
	for _, p := range t {
		if p.plain() || p.saved != "" {
			parts = append(parts, literal(p.literal))
		} else {
			parts = append(parts, variable(p))
		}
	}
	return strings.Join(parts, " + ")
}

// maxComment is characters of a comment, about two lines.
const maxComment = 200

// comment makes a line for a comment of any of the languages. A backslash is
// doubled, since Java reads \u000a in comments, too; */ cannot stand.
func comment(s string) string {
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
