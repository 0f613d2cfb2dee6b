// Package scan reads texts of unknown senders: lines, words, digits, brackets and numbers.
//
// It is what all rules of the fingerprint are written with. Every function runs in time linear in
// its input and never cuts a rune in two. None fails: a bracket that nothing closes ends with the
// text, and a text that is no number says so by a second result.
package scan

import (
	"strings"
	"unicode/utf8"
)

// Truncate returns at most max bytes of s, never a part of a rune.
func Truncate(s string, max int) string {
	if len(s) <= max {
		return s
	}
	for max > 0 && !utf8.RuneStart(s[max]) {
		max--
	}
	return s[:max]
}

// TruncateRunes returns at most max runes of s, with an ellipsis for what is
// cut off.
func TruncateRunes(s string, max int) string {
	if len(s) <= max {
		return s
	}
	n := 0
	for i := range s {
		if n == max {
			return s[:i] + "…"
		}
		n++
	}
	return s
}

// OneLine trims s, cuts it at max bytes, and writes control characters and
// runs of blanks as one blank.
func OneLine(s string, max int) string {
	if len(s) <= max && isOneLine(s) {
		return s
	}
	s = strings.TrimSpace(Truncate(strings.TrimSpace(s), max))
	if !strings.ContainsFunc(s, isControl) && !strings.Contains(s, "  ") {
		return s
	}
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || isControl(r) }), " ")
}

// isOneLine reports whether s is plain text without blanks at its ends or beside
// each other: the common case, checked in one pass.
func isOneLine(s string) bool {
	blank := true
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c < 0x20 || c >= 0x7f || c == ' ' && blank {
			return false
		}
		blank = c == ' '
	}
	return s == "" || !blank
}

func isControl(r rune) bool { return r < 0x20 || r == 0x7f || r == 0x2028 || r == 0x2029 }

// IsDigit reports whether c is a decimal digit.
func IsDigit(c byte) bool { return c >= '0' && c <= '9' }

// IsLetter reports whether c is a letter of ASCII.
func IsLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// IsHex reports whether c is a hexadecimal digit.
func IsHex(c byte) bool { return IsDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }

// IsIdent reports whether c can be part of an identifier; every byte of a
// character beyond ASCII can.
func IsIdent(c byte) bool { return IsLetter(c) || IsDigit(c) || c == '_' || c == '$' || c >= 0x80 }

// AllDigits reports whether s has decimal digits, and nothing else.
func AllDigits(s string) bool {
	for i := 0; i < len(s); i++ {
		if !IsDigit(s[i]) {
			return false
		}
	}
	return s != ""
}

// AllHex reports whether s has hexadecimal digits, and nothing else.
func AllHex(s string) bool {
	for i := 0; i < len(s); i++ {
		if !IsHex(s[i]) {
			return false
		}
	}
	return s != ""
}

// CountDigits returns the number of digits at the start of s.
func CountDigits(s string) int {
	n := 0
	for n < len(s) && IsDigit(s[n]) {
		n++
	}
	return n
}

// TrimDigits drops the digits at the end of s.
func TrimDigits(s string) string {
	n := len(s)
	for n > 0 && IsDigit(s[n-1]) {
		n--
	}
	return s[:n]
}

// BracketEnd returns the position after the bracket that closes s[i], which is
// one of < ( [ {, or len(s) when there is none. Angle brackets inside round
// ones are not counted, since there they may compare; neither are the arrow
// of a function type and the names of operators.
func BracketEnd(s string, i int) int {
	var open, end byte = s[i], 0
	switch open {
	case '<':
		end = '>'
	case '(':
		end = ')'
	case '[':
		end = ']'
	default:
		end = '}'
	}
	depth, round := 0, 0
	for j := i; j < len(s); j++ {
		c := s[j]
		if open == '<' {
			switch c {
			case '(':
				round++
			case ')':
				if round > 0 {
					round--
				}
			}
			if round > 0 || c != '<' && c != '>' {
				continue
			}
			if c == '>' && j > 0 && (s[j-1] == '-' || s[j-1] == '=') || strings.HasSuffix(s[i:j], "operator") {
				continue
			}
		}
		switch c {
		case open:
			depth++
		case end:
			if depth--; depth == 0 {
				return j + 1
			}
		}
	}
	return len(s)
}

// IsOneOf reports whether name is one of the names.
func IsOneOf(name string, names ...string) bool {
	for _, s := range names {
		if s == name {
			return true
		}
	}
	return false
}

// HasSuffixAny reports whether s ends with one of the suffixes.
func HasSuffixAny(s string, suffixes ...string) bool {
	for _, x := range suffixes {
		if strings.HasSuffix(s, x) {
			return true
		}
	}
	return false
}

// HasPrefixAny reports whether s begins with one of the prefixes.
func HasPrefixAny(s string, prefixes ...string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

// ContainsAny reports whether s contains one of the parts.
func ContainsAny(s string, parts ...string) bool {
	for _, p := range parts {
		if strings.Contains(s, p) {
			return true
		}
	}
	return false
}

// NextWord returns the first word of a name in snake_case or camelCase, and the
// rest.
func NextWord(s string) (word, rest string) {
	for s != "" && !IsLetter(s[0]) {
		if IsDigit(s[0]) || s[0] >= 0x80 {
			return s, "" // no word of the list
		}
		s = s[1:]
	}
	isUpper := func(c byte) bool { return c >= 'A' && c <= 'Z' }
	end := 0
	for end < len(s) && IsLetter(s[end]) {
		// A capital begins a word after a small letter, and before one: "HTTPError".
		if end > 0 && isUpper(s[end]) && (!isUpper(s[end-1]) || end+1 < len(s) && IsLetter(s[end+1]) && !isUpper(s[end+1])) {
			break
		}
		end++
	}
	return s[:end], s[end:]
}
