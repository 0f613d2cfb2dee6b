// Package language writes texts, numbers, regular expressions and data rows as the languages of
// exports have them.
//
// Everything in a case is hostile: whatever a text holds, it stands in the code as a literal or as an
// expression of literals and variables, and ends neither. Characters that do not print or turn the
// direction of text around are escaped. Regular expressions are translated from RE2, by what RE2
// understood; those that all languages read alike are kept.
package language

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/slipway-qa/slipway/api/authoring/export/script"
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

// Python is a string literal of Python.
func Python(s string) string {
	return quote(s, `"`, pythonEscapes, func(r rune) string {
		if r > 0xffff {
			return fmt.Sprintf(`\U%08x`, r)
		}
		return fmt.Sprintf(`\u%04x`, r)
	})
}

// Java is a string literal of Java. A compiler reads \u000a as a line
// break before it looks for literals, so the characters of Latin-1 are octal.
func Java(s string) string {
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

// Joined is an expression that adds up the parts of a text; variable writes one that is no literal.
func Joined(t script.Text, literal func(string) string, variable func(script.Part) string) string {
	if s, ok := t.Fixed(); ok {
		return literal(s)
	}
	parts := make([]string, 0, len(t))
	for _, p := range t {
		if p.Plain() || p.Saved != "" {
			parts = append(parts, literal(p.Literal))
		} else {
			parts = append(parts, variable(p))
		}
	}
	return strings.Join(parts, " + ")
}

// CSS is a string of CSS.
func CSS(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r < ' ' || r == '"' || r == '\\' || r > '~' {
			fmt.Fprintf(&b, `\%x `, r)
		} else {
			b.WriteRune(r)
		}
	}
	return `"` + b.String() + `"`
}
