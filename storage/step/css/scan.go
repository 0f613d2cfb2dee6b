package css

import (
	"strings"
	"unicode/utf8"
)

// next returns the next byte, 0 at the end.
func (p *parser) next() byte { return p.peek(0) }

func (p *parser) peek(n int) byte {
	if p.at+n >= len(p.text) {
		return 0
	}
	return p.text[p.at+n]
}

func (p *parser) take(c byte) bool {
	if p.next() != c || p.at == len(p.text) {
		return false
	}
	p.at++
	return true
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' }

// space skips white space and comments; only white space parts two elements. A
// comment that is not closed is left, as the error of who reads on.
func (p *parser) space() bool {
	spaced := false
	for p.comments(); isSpace(p.next()); p.comments() {
		p.at++
		spaced = true
	}
	return spaced
}

func (p *parser) comments() {
	for strings.HasPrefix(p.text[p.at:], "/*") {
		end := strings.Index(p.text[p.at+2:], "*/")
		if end < 0 {
			return
		}
		p.at += 2 + end + 2
	}
}

func isNameStart(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c >= utf8.RuneSelf
}

func isName(c byte) bool { return isNameStart(c) || '0' <= c && c <= '9' || c == '-' }

// isEscape reports whether a backslash n bytes ahead escapes a character.
func (p *parser) isEscape(n int) bool {
	c := p.peek(n + 1)
	return p.peek(n) == '\\' && p.at+n+1 < len(p.text) && c != '\n' && c != '\r' && c != '\f'
}

// name reads an identifier; its text has the escapes as they are written, since no
// name that is looked up needs any.
func (p *parser) name() (string, bool) {
	first := 0
	if p.next() == '-' {
		first = 1
	}
	if !isNameStart(p.peek(first)) && !p.isEscape(first) && !(first == 1 && p.peek(1) == '-') {
		return "", false
	}
	start := p.at
	p.at += first
	for {
		switch {
		case isName(p.next()):
			p.at++
		case p.isEscape(0):
			p.escape()
		default:
			return p.text[start:p.at], true
		}
	}
}

// escape reads a backslash with a character, or with up to six digits and a space.
func (p *parser) escape() {
	p.at++
	digits := 0
	for digits < 6 && strings.IndexByte("0123456789abcdefABCDEF", p.peek(digits)) >= 0 && p.at+digits < len(p.text) {
		digits++
	}
	if digits == 0 {
		_, size := utf8.DecodeRuneInString(p.text[p.at:])
		p.at += size
		return
	}
	p.at += digits
	if strings.HasPrefix(p.text[p.at:], "\r\n") {
		p.at += 2
	} else if isSpace(p.next()) {
		p.at++
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
