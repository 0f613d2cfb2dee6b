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
// The package holds no state. It reads selectors from outside, of some kilobytes: their
// brackets lie in each other to a bounded depth.
package css

import "github.com/slipway-qa/slipway/storage/step/grammar"

// Error says what is wrong with a selector.
type Error = grammar.Error

// Check reports what is wrong with a list of selectors, nil for nothing.
func Check(text string) *Error {
	p := &parser{Reader: grammar.Reader{Text: text, Undecided: `-\|/`}}
	if err := p.list(whole); err != nil {
		return err
	}
	if p.At < len(p.Text) {
		return p.unexpected()
	}
	return nil
}

type parser struct {
	grammar.Reader
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
		if !p.Take(',') {
			return nil
		}
	}
}

// selector reads one selector and the space behind it.
func (p *parser) selector(where place) *Error {
	p.space()
	if where == relative && isCombinator(p.Next()) {
		p.At++
		p.space()
	}
	for {
		isPseudoElement, err := p.compound(where)
		if err != nil {
			return err
		}
		spaced := p.space()
		switch {
		case p.At == len(p.Text), p.Next() == ',', p.Next() == ')' && p.Depth > 0:
			return nil
		case isPseudoElement:
			return p.Fail(p.At, "nothing can follow a pseudo-element")
		case isCombinator(p.Next()):
			p.At++
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
	start := p.At
	if err := p.typeName(); err != nil {
		return false, err
	}
	var after *pseudoElement
	for {
		p.comments()
		switch c := p.Next(); {
		case c == ':':
			if after, err = p.pseudo(where, after); err != nil {
				return false, err
			}
		case after != nil && (c == '#' || c == '.' || c == '[' || c == '&'):
			return false, p.Fail(p.At, "only pseudo-classes can follow a pseudo-element")
		case c == '#':
			p.At++
			if _, ok := p.name(); !ok {
				return false, p.badName("an id", "#")
			}
		case c == '.':
			p.At++
			p.comments()
			if _, ok := p.name(); !ok {
				return false, p.badName("a class", ".")
			}
		case c == '[':
			if err := p.attribute(); err != nil {
				return false, err
			}
		case c == '&':
			p.At++
		case p.At == start:
			return false, p.missing()
		default:
			return after != nil, nil
		}
	}
}

// typeName reads the name of an element or *, with the namespaces * and none; the
// prefixes of others are declared nowhere.
func (p *parser) typeName() *Error {
	start := p.At
	_, named := p.name()
	if !named {
		named = p.Take('*')
	}
	if p.Next() != '|' || p.Peek(1) == '|' {
		return nil
	}
	if named && p.Text[start] != '*' {
		return p.Fail(p.At, "namespaces are not declared in a page: use *| or no prefix")
	}
	p.At++
	if _, ok := p.name(); !ok && !p.Take('*') {
		return p.unexpected()
	}
	return nil
}

// attribute reads a condition on an attribute, in its brackets.
func (p *parser) attribute() *Error {
	open := p.At
	p.At++
	p.space()
	if p.Peek(1) == '|' && p.Next() == '*' {
		p.At++
	}
	if p.Next() == '|' {
		p.At++
	}
	if _, ok := p.name(); !ok {
		return p.badName("the name of an attribute", "[")
	}
	if p.Next() == '|' && p.Peek(1) != '=' {
		return p.Fail(p.At, "namespaces are not declared in a page: use *| or no prefix")
	}
	p.space()
	if p.Take(']') {
		return nil
	}
	if c := p.Next(); c == '~' || c == '|' || c == '^' || c == '$' || c == '*' {
		p.At++
	}
	if !p.Take('=') {
		return p.wrongIn(open)
	}
	p.space()
	if err := p.attributeValue(open); err != nil {
		return err
	}
	p.space()
	flag := p.At
	if name, ok := p.name(); ok && lower(name) != "i" {
		return p.Fail(flag, "only the flag i can stand behind the value")
	}
	p.space()
	if !p.Take(']') {
		return p.wrongIn(open)
	}
	return nil
}

func (p *parser) attributeValue(open int) *Error {
	if c := p.Next(); c == '"' || c == '\'' {
		return p.quoted()
	}
	if _, ok := p.name(); ok {
		return nil
	}
	if p.At == len(p.Text) {
		return p.wrongIn(open)
	}
	return p.Fail(p.At, "a value that is no name must be in quotes")
}

// quoted reads a text in quotes.
func (p *parser) quoted() *Error {
	open := p.At
	for p.At++; p.At < len(p.Text); p.At++ {
		switch p.Text[p.At] {
		case p.Text[open]:
			p.At++
			return nil
		case '\n', '\r', '\f':
			return p.Fail(p.At, "a text in quotes has no line break")
		case '\\':
			p.At++
			if p.At+1 < len(p.Text) && p.Text[p.At:p.At+2] == "\r\n" {
				p.At++
			}
		}
	}
	p.At = len(p.Text)
	return p.Fail(open, "the text in quotes is not closed")
}

// brackets reads arguments in brackets, with the space around them.
func (p *parser) brackets(arguments func() *Error) *Error {
	open := p.At
	if p.Depth++; p.Depth > grammar.MaxDepth {
		return p.Fail(open, "lies in more than %d brackets", grammar.MaxDepth)
	}
	p.At++
	p.space()
	if p.Next() == ')' {
		return p.Fail(p.At, "nothing stands in the brackets")
	}
	if err := arguments(); err != nil {
		return err
	}
	p.space()
	if !p.Take(')') {
		return p.wrongIn(open)
	}
	p.Depth--
	return nil
}

// wrongIn is the error of what cannot follow in brackets that opened at a byte.
func (p *parser) wrongIn(open int) *Error {
	if p.At == len(p.Text) {
		return p.Fail(open, "the bracket %c is not closed", p.Text[open])
	}
	return p.unexpected()
}
