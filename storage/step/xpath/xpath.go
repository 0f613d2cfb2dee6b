// Package xpath checks expressions of XPath 1.0, when a test is stored: a wrong one
// would fail only in the run, after the whole wait of its step.
//
// Check reads the grammar of XPath 1.0 as document.evaluate of browsers does, with
// the names, arities and types of its functions. The expression must find nodes: one
// that computes a number or a text is an error. So are prefixes and variables, which
// nothing declares in a page. What XPath 2 and 3 added is an error that says how to do
// without. A test of package replay compares Check with a real Chromium.
//
// It is stricter than browsers in one point: the argument of count, or what stands
// before a / or [, must be able to find nodes. Browsers notice it only where the
// evaluation gets there.
//
// There are modules that evaluate XPath; they accept functions and syntax of later
// versions, which no browser does.
//
// The package holds no state. It reads expressions from outside, of some kilobytes: their
// brackets lie in each other to a bounded depth.
package xpath

import (
	"strings"
	"unicode/utf8"

	"github.com/slipway-qa/slipway/storage/step/grammar"
)

// Error says what is wrong with an expression.
type Error = grammar.Error

// kind is the type of a value.
type kind int

const (
	nodes kind = iota
	number
	text
	boolean
)

func (k kind) String() string {
	return [...]string{"nodes", "a number", "a text", "true or false"}[k]
}

// Check reports what is wrong with an expression that must find nodes, nil for
// nothing.
func Check(expression string) *Error {
	p := &parser{grammar.Reader{Text: expression, Undecided: `-|&:`}}
	p.space()
	if p.At == len(p.Text) {
		return p.Fail(p.At, "the expression is empty")
	}
	found, err := p.expression()
	if err != nil {
		return err
	}
	if p.At < len(p.Text) {
		return p.unexpected()
	}
	if found != nodes {
		return p.Fail(0, "finds %s, where elements are needed", found)
	}
	return nil
}

type parser struct{ grammar.Reader }

// operators are the binary ones, those that bind least first, with the type of
// their value.
var operators = []struct {
	names  []string
	result kind
}{
	{[]string{"or"}, boolean}, {[]string{"and"}, boolean}, {[]string{"=", "!="}, boolean},
	{[]string{"<=", "<", ">=", ">"}, boolean}, {[]string{"+", "-"}, number}, {[]string{"*", "div", "mod"}, number},
}

// expression reads an expression and the space behind it.
func (p *parser) expression() (kind, *Error) { return p.binary(0) }

func (p *parser) binary(level int) (kind, *Error) {
	if level == len(operators) {
		return p.unary()
	}
	found, err := p.binary(level + 1)
	if err != nil {
		return 0, err
	}
	for p.operator(operators[level].names) {
		if _, err := p.binary(level + 1); err != nil {
			return 0, err
		}
		found = operators[level].result
	}
	return found, nil
}

// operator reads one of some operators and the space behind it.
func (p *parser) operator(names []string) bool {
	for _, name := range names {
		if !strings.HasPrefix(p.Text[p.At:], name) {
			continue
		}
		if isWord := name[0] >= 'a'; isWord {
			if word := p.peekName(); word != name {
				continue
			}
		}
		p.At += len(name)
		p.space()
		return true
	}
	return false
}

func (p *parser) unary() (kind, *Error) {
	negated := false
	for p.Take('-') {
		negated = true
		p.space()
	}
	found, err := p.union()
	if negated {
		found = number
	}
	return found, err
}

func (p *parser) union() (kind, *Error) {
	start := p.At
	found, err := p.path()
	if err != nil {
		return 0, err
	}
	for p.Next() == '|' && !strings.HasPrefix(p.Text[p.At:], "||") {
		if found != nodes {
			return 0, p.Fail(start, "finds %s, where | needs nodes", found)
		}
		p.At++
		p.space()
		start = p.At
		if found, err = p.path(); err != nil {
			return 0, err
		}
		if found != nodes {
			return 0, p.Fail(start, "finds %s, where | needs nodes", found)
		}
	}
	return found, nil
}

// brackets reads something in brackets and the space behind it.
func (p *parser) brackets(end byte, inner func() *Error) *Error {
	open := p.At
	if p.Depth++; p.Depth > grammar.MaxDepth {
		return p.Fail(open, "lies in more than %d brackets", grammar.MaxDepth)
	}
	p.At++
	p.space()
	if err := inner(); err != nil {
		return err
	}
	if !p.Take(end) {
		if p.At == len(p.Text) {
			return p.Fail(open, "the bracket %c is not closed", p.Text[open])
		}
		return p.unexpected()
	}
	p.Depth--
	p.space()
	return nil
}

// unexpected is the error of a character that cannot stand where it does.
func (p *parser) unexpected() *Error {
	following := p.Text[p.At:]
	switch {
	case following == "":
		return p.Fail(p.At, "the expression ends too early")
	case strings.HasPrefix(following, "||"):
		return p.Fail(p.At, "|| is of XPath 3: use concat()")
	case strings.HasPrefix(following, "&&"):
		return p.Fail(p.At, "&& is not of XPath: use and")
	case following[0] == '=' && strings.HasSuffix(p.Text[:p.At], "="):
		return p.Fail(p.At, "== is not of XPath: use =")
	case strings.HasPrefix(following, "#"):
		return p.Fail(p.At, "# is of CSS, whose type is css")
	}
	r, _ := utf8.DecodeRuneInString(following)
	return p.Fail(p.At, "%q cannot stand here", r)
}
