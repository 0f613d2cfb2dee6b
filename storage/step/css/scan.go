package css

import (
	"strings"
	"unicode/utf8"
)

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' }

// space skips white space and comments; only white space parts two elements. A
// comment that is not closed is left, as the error of who reads on.
func (p *parser) space() bool {
	spaced := false
	for p.comments(); isSpace(p.Next()); p.comments() {
		p.At++
		spaced = true
	}
	return spaced
}

func (p *parser) comments() {
	for strings.HasPrefix(p.Text[p.At:], "/*") {
		end := strings.Index(p.Text[p.At+2:], "*/")
		if end < 0 {
			return
		}
		p.At += 2 + end + 2
	}
}

func isNameStart(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c >= utf8.RuneSelf
}

func isName(c byte) bool { return isNameStart(c) || '0' <= c && c <= '9' || c == '-' }

// isEscape reports whether a backslash n bytes ahead escapes a character.
func (p *parser) isEscape(n int) bool {
	c := p.Peek(n + 1)
	return p.Peek(n) == '\\' && p.At+n+1 < len(p.Text) && c != '\n' && c != '\r' && c != '\f'
}

// name reads an identifier; its text has the escapes as they are written, since no
// name that is looked up needs any.
func (p *parser) name() (string, bool) {
	first := 0
	if p.Next() == '-' {
		first = 1
	}
	if !isNameStart(p.Peek(first)) && !p.isEscape(first) && !(first == 1 && p.Peek(1) == '-') {
		return "", false
	}
	start := p.At
	p.At += first
	for {
		switch {
		case isName(p.Next()):
			p.At++
		case p.isEscape(0):
			p.escape()
		default:
			return p.Text[start:p.At], true
		}
	}
}

// escape reads a backslash with a character, or with up to six digits and a space.
func (p *parser) escape() {
	p.At++
	digits := 0
	for digits < 6 && strings.IndexByte("0123456789abcdefABCDEF", p.Peek(digits)) >= 0 && p.At+digits < len(p.Text) {
		digits++
	}
	if digits == 0 {
		_, size := utf8.DecodeRuneInString(p.Text[p.At:])
		p.At += size
		return
	}
	p.At += digits
	if strings.HasPrefix(p.Text[p.At:], "\r\n") {
		p.At += 2
	} else if isSpace(p.Next()) {
		p.At++
	}
}

// lower returns a text with ASCII letters in lower case, which is how CSS compares
// names.
func lower(text string) string {
	letters := []byte(text)
	for i, c := range letters {
		if 'A' <= c && c <= 'Z' {
			letters[i] = c - 'A' + 'a'
		}
	}
	return string(letters)
}
