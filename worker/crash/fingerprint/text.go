package fingerprint

import (
	"strings"
	"unicode/utf8"
)

// truncate returns at most max bytes of s, never a part of a rune.
func truncate(s string, max int) string {
	if len(s) <= max {
		return s
	}
	for max > 0 && !utf8.RuneStart(s[max]) {
		max--
	}
	return s[:max]
}

// truncateRunes returns at most max runes of s, with an ellipsis for what is
// cut off.
func truncateRunes(s string, max int) string {
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

// firstLine returns the first line of s that is not blank, trimmed. It looks
// no further than maxMessage bytes.
func firstLine(s string) string {
	s = truncate(s, maxMessage)
	for s != "" {
		line := s
		if i := strings.IndexAny(s, "\r\n"); i >= 0 {
			line, s = s[:i], s[i+1:]
		} else {
			s = ""
		}
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return ""
}

// oneLine trims s, cuts it at max bytes, and writes control characters and
// runs of blanks as one blank.
func oneLine(s string, max int) string {
	if len(s) <= max && isOneLine(s) {
		return s
	}
	s = strings.TrimSpace(truncate(strings.TrimSpace(s), max))
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

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isHex(c byte) bool { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }

// isIdent reports whether c can be part of an identifier; every byte of a
// character beyond ASCII can.
func isIdent(c byte) bool { return isLetter(c) || isDigit(c) || c == '_' || c == '$' || c >= 0x80 }

func allDigits(s string) bool {
	for i := 0; i < len(s); i++ {
		if !isDigit(s[i]) {
			return false
		}
	}
	return s != ""
}

func allHex(s string) bool {
	for i := 0; i < len(s); i++ {
		if !isHex(s[i]) {
			return false
		}
	}
	return s != ""
}

// countDigits returns the number of digits at the start of s.
func countDigits(s string) int {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return n
}

// trimDigits drops the digits at the end of s.
func trimDigits(s string) string {
	n := len(s)
	for n > 0 && isDigit(s[n-1]) {
		n--
	}
	return s[:n]
}

// bracketEnd returns the position after the bracket that closes s[i], which is
// one of < ( [ {, or len(s) when there is none. Angle brackets inside round
// ones are not counted, since there they may compare; neither are the arrow
// of a function type and the names of operators.
func bracketEnd(s string, i int) int {
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
