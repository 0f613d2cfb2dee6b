package xpath

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// parser reads a text from its begin to its end.
type parser struct {
	text  string
	at    int // the next byte
	depth int // of the brackets
}

// next returns the next byte, 0 at the end.
func (p *parser) next() byte { return p.peek(0) }

func (p *parser) peek(n int) byte {
	if p.at+n >= len(p.text) {
		return 0
	}
	return p.text[p.at+n]
}

func (p *parser) take(c byte) bool {
	if p.at == len(p.text) || p.next() != c {
		return false
	}
	p.at++
	return true
}

func (p *parser) space() {
	for c := p.next(); c == ' ' || c == '\t' || c == '\n' || c == '\r'; c = p.next() {
		p.at++
	}
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isNameStart(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.Is(unicode.Nl, r) }

func isName(r rune) bool {
	return isNameStart(r) || r == '.' || r == '-' || unicode.In(r, unicode.Nd, unicode.Mn, unicode.Mc, unicode.Me, unicode.Lm)
}

// peekName returns the name that begins here, "" for none.
func (p *parser) peekName() string {
	following := p.text[p.at:]
	first, size := utf8.DecodeRuneInString(following)
	if size == 0 || !isNameStart(first) {
		return ""
	}
	if end := strings.IndexFunc(following, func(r rune) bool { return !isName(r) }); end >= 0 {
		return following[:end]
	}
	return following
}

func (p *parser) name() string {
	name := p.peekName()
	p.at += len(name)
	return name
}

// literal reads a text in quotes and the space behind it.
func (p *parser) literal() *Error {
	open := p.at
	end := strings.IndexByte(p.text[open+1:], p.text[open])
	if end < 0 {
		p.at = len(p.text)
		return p.fail(open, "the text in quotes is not closed")
	}
	p.at += 1 + end + 1
	p.space()
	return nil
}

// number reads digits with at most one point, and the space behind them.
func (p *parser) number() {
	p.digits()
	if p.take('.') {
		p.digits()
	}
	p.space()
}

func (p *parser) digits() {
	for isDigit(p.next()) {
		p.at++
	}
}
