package xpath

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

func (p *parser) space() {
	for c := p.Next(); c == ' ' || c == '\t' || c == '\n' || c == '\r'; c = p.Next() {
		p.At++
	}
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isNameStart(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.Is(unicode.Nl, r) }

func isName(r rune) bool {
	return isNameStart(r) || r == '.' || r == '-' || unicode.In(r, unicode.Nd, unicode.Mn, unicode.Mc, unicode.Me, unicode.Lm)
}

// peekName returns the name that begins here, "" for none.
func (p *parser) peekName() string {
	following := p.Text[p.At:]
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
	p.At += len(name)
	return name
}

// literal reads a text in quotes and the space behind it.
func (p *parser) literal() *Error {
	open := p.At
	end := strings.IndexByte(p.Text[open+1:], p.Text[open])
	if end < 0 {
		p.At = len(p.Text)
		return p.Fail(open, "the text in quotes is not closed")
	}
	p.At += 1 + end + 1
	p.space()
	return nil
}

// number reads digits with at most one point, and the space behind them.
func (p *parser) number() {
	p.digits()
	if p.Take('.') {
		p.digits()
	}
	p.space()
}

func (p *parser) digits() {
	for isDigit(p.Next()) {
		p.At++
	}
}
