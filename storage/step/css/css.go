// Package css checks selectors of CSS, when a test is stored: a wrong one would
// fail only in the run, after the whole wait of its step.
//
// Check reads the grammar of Selectors 4 as browsers have it: lists, combinators,
// types with namespaces, classes, ids, attributes with the flag i, pseudo-classes
// with their arguments, pseudo-elements with what may follow them. Which names exist
// is what Chromium knows, and a few of the other browsers; an unknown name is an
// error that says what to use instead, since most are those of jQuery and Playwright.
// A test of package replay compares Check with a real Chromium.
//
// It is stricter than browsers where these accept what nobody can mean: a bracket,
// string or comment that is not closed, and inside of :is() and :where() a
// selector that is wrong or missing, which a browser drops without a word.
//
// The package is a leaf and holds no state. It reads selectors from outside, of some
// kilobytes: their brackets lie in each other to a bounded depth.
package css

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Error says what is wrong with a selector.
type Error struct {
	// Position is that of the first wrong character, from 1.
	Position int
	// Read is how many bytes had been read when the error was certain: whatever
	// follows them, the selector is wrong. It is more than the text has where its end
	// is what is wrong.
	Read int
	Msg  string
}

func (e *Error) Error() string { return fmt.Sprintf("character %d: %s", e.Position, e.Msg) }

// maxDepth bounds brackets in brackets.
const maxDepth = 32

// Check reports what is wrong with a list of selectors, nil for nothing.
func Check(text string) *Error {
	p := &parser{text: text}
	if err := p.list(whole); err != nil {
		return err
	}
	if p.at < len(p.text) {
		return p.unexpected()
	}
	return nil
}

// parser reads a text from its begin to its end.
type parser struct {
	text  string
	at    int // the next byte
	depth int // of the brackets
	inHas bool
}

// place is where a selector stands, which decides what it may be made of.
type place int

const (
	whole    place = iota // the whole text, where pseudo-elements may stand
	inside                // of :is(), :not() and their siblings
	relative              // of :has(): it may begin with a combinator
)

// list reads selectors with commas between them.
func (p *parser) list(where place) *Error {
	for {
		if err := p.selector(where); err != nil {
			return err
		}
		if !p.take(',') {
			return nil
		}
	}
}

// selector reads one selector and the space behind it.
func (p *parser) selector(where place) *Error {
	p.space()
	if where == relative && isCombinator(p.next()) {
		p.at++
		p.space()
	}
	for {
		isPseudoElement, err := p.compound(where)
		if err != nil {
			return err
		}
		spaced := p.space()
		switch {
		case p.at == len(p.text), p.next() == ',', p.next() == ')' && p.depth > 0:
			return nil
		case isPseudoElement:
			return p.fail(p.at, "nothing can follow a pseudo-element")
		case isCombinator(p.next()):
			p.at++
			p.space()
		case !spaced:
			return p.unexpected()
		}
	}
}

func isCombinator(c byte) bool { return c == '>' || c == '+' || c == '~' }

// compound reads the conditions of one element: type, classes, ids and the like,
// without space between them. It reports whether they end with a pseudo-element.
func (p *parser) compound(where place) (isPseudoElement bool, err *Error) {
	start := p.at
	if err := p.typeName(); err != nil {
		return false, err
	}
	var after *pseudoElement
	for {
		p.comments()
		switch c := p.next(); {
		case c == ':':
			if after, err = p.pseudo(where, after); err != nil {
				return false, err
			}
		case after != nil && (c == '#' || c == '.' || c == '[' || c == '&'):
			return false, p.fail(p.at, "only pseudo-classes can follow a pseudo-element")
		case c == '#':
			p.at++
			if _, ok := p.name(); !ok {
				return false, p.badName("an id", "#")
			}
		case c == '.':
			p.at++
			p.comments()
			if _, ok := p.name(); !ok {
				return false, p.badName("a class", ".")
			}
		case c == '[':
			if err := p.attribute(); err != nil {
				return false, err
			}
		case c == '&':
			p.at++
		case p.at == start:
			return false, p.missing()
		default:
			return after != nil, nil
		}
	}
}

// typeName reads the name of an element or *, with the namespaces * and none; the
// prefixes of others are declared nowhere.
func (p *parser) typeName() *Error {
	start := p.at
	_, named := p.name()
	if !named {
		named = p.take('*')
	}
	if p.next() != '|' || p.peek(1) == '|' {
		return nil
	}
	if named && p.text[start] != '*' {
		return p.fail(p.at, "namespaces are not declared in a page: use *| or no prefix")
	}
	p.at++
	if _, ok := p.name(); !ok && !p.take('*') {
		return p.unexpected()
	}
	return nil
}

// attribute reads a condition on an attribute, in its brackets.
func (p *parser) attribute() *Error {
	open := p.at
	p.at++
	p.space()
	if p.peek(1) == '|' && p.next() == '*' {
		p.at++
	}
	if p.next() == '|' {
		p.at++
	}
	if _, ok := p.name(); !ok {
		return p.badName("the name of an attribute", "[")
	}
	if p.next() == '|' && p.peek(1) != '=' {
		return p.fail(p.at, "namespaces are not declared in a page: use *| or no prefix")
	}
	p.space()
	if p.take(']') {
		return nil
	}
	if c := p.next(); c == '~' || c == '|' || c == '^' || c == '$' || c == '*' {
		p.at++
	}
	if !p.take('=') {
		return p.wrongIn(open)
	}
	p.space()
	if err := p.attributeValue(open); err != nil {
		return err
	}
	p.space()
	flag := p.at
	if name, ok := p.name(); ok && lower(name) != "i" {
		return p.fail(flag, "only the flag i can stand behind the value")
	}
	p.space()
	if !p.take(']') {
		return p.wrongIn(open)
	}
	return nil
}

func (p *parser) attributeValue(open int) *Error {
	if c := p.next(); c == '"' || c == '\'' {
		return p.quoted()
	}
	if _, ok := p.name(); ok {
		return nil
	}
	if p.at == len(p.text) {
		return p.wrongIn(open)
	}
	return p.fail(p.at, "a value that is no name must be in quotes")
}

// quoted reads a text in quotes.
func (p *parser) quoted() *Error {
	open := p.at
	for p.at++; p.at < len(p.text); p.at++ {
		switch p.text[p.at] {
		case p.text[open]:
			p.at++
			return nil
		case '\n', '\r', '\f':
			return p.fail(p.at, "a text in quotes has no line break")
		case '\\':
			p.at++
			if p.at+1 < len(p.text) && p.text[p.at:p.at+2] == "\r\n" {
				p.at++
			}
		}
	}
	p.at = len(p.text)
	return p.fail(open, "the text in quotes is not closed")
}

// brackets reads arguments in brackets, with the space around them.
func (p *parser) brackets(arguments func() *Error) *Error {
	open := p.at
	if p.depth++; p.depth > maxDepth {
		return p.fail(open, "lies in more than %d brackets", maxDepth)
	}
	p.at++
	p.space()
	if p.next() == ')' {
		return p.fail(p.at, "nothing stands in the brackets")
	}
	if err := arguments(); err != nil {
		return err
	}
	p.space()
	if !p.take(')') {
		return p.wrongIn(open)
	}
	p.depth--
	return nil
}

// maxLookahead is how many characters behind what has been read may decide, where the
// first ones leave it open.
const maxLookahead = 3

// fail returns an error about the character at a byte.
func (p *parser) fail(at int, format string, args ...any) *Error {
	read := p.at
	for range maxLookahead {
		next, size := utf8.DecodeRuneInString(p.text[min(read, len(p.text)):])
		read += max(size, 1)
		if !strings.ContainsRune(`-\|/`, next) {
			break
		}
	}
	return &Error{Position: utf8.RuneCountInString(p.text[:at]) + 1, Read: read, Msg: fmt.Sprintf(format, args...)}
}

// wrongIn is the error of what cannot follow in brackets that opened at a byte.
func (p *parser) wrongIn(open int) *Error {
	if p.at == len(p.text) {
		return p.fail(open, "the bracket %c is not closed", p.text[open])
	}
	return p.unexpected()
}
