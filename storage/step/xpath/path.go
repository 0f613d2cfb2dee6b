package xpath

import (
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage/step/grammar"
)

var (
	axes = []string{"ancestor", "ancestor-or-self", "attribute", "child", "descendant", "descendant-or-self", "following",
		"following-sibling", "namespace", "parent", "preceding", "preceding-sibling", "self"}
	nodeTypes = []string{"comment", "text", "processing-instruction", "node"}
)

// path reads a location path, or a value with what may follow it: predicates and a
// path below it.
func (p *parser) path() (kind, *Error) {
	start := p.At
	switch isValue, found, err := p.value(); {
	case err != nil:
		return 0, err
	case isValue:
		return p.below(start, found)
	}
	if p.Take('/') {
		if !p.Take('/') {
			p.space()
			if !p.isStep() {
				return nodes, nil // the document
			}
		}
		p.space()
	}
	return nodes, p.steps()
}

// below reads the predicates and the path behind a value.
func (p *parser) below(start int, found kind) (kind, *Error) {
	c := p.Next()
	if c != '[' && c != '/' {
		return found, nil
	}
	if found != nodes {
		return 0, p.Fail(start, "finds %s, where %c needs nodes", found, c)
	}
	if err := p.predicates(); err != nil {
		return 0, err
	}
	if !p.Take('/') {
		return nodes, nil
	}
	p.Take('/')
	p.space()
	return nodes, p.steps()
}

// steps reads the steps of a path, with / and // between them.
func (p *parser) steps() *Error {
	for {
		if err := p.step(); err != nil {
			return err
		}
		if !p.Take('/') {
			return nil
		}
		p.Take('/')
		p.space()
	}
}

// isStep reports whether a step begins here.
func (p *parser) isStep() bool {
	c := p.Next()
	return c == '.' || c == '@' || c == '*' || p.peekName() != ""
}

func (p *parser) step() *Error {
	if p.Take('.') {
		p.Take('.')
		p.space()
		return nil // without predicates
	}
	if p.Take('@') {
		p.space()
	} else if err := p.axis(); err != nil {
		return err
	}
	if err := p.nodeTest(); err != nil {
		return err
	}
	return p.predicates()
}

// axis reads the name of an axis with its ::, where there is one.
func (p *parser) axis() *Error {
	start := p.At
	name := p.name()
	p.space()
	if name == "" || !strings.HasPrefix(p.Text[p.At:], "::") {
		p.At = start
		return nil
	}
	if !slices.Contains(axes, name) {
		return p.Fail(start, "there is no axis %s::", grammar.Shorten(name))
	}
	p.At += len("::")
	p.space()
	return nil
}

// nodeTest reads a name, * or the type of a node, and the space behind it.
func (p *parser) nodeTest() *Error {
	start := p.At
	if p.Take('*') {
		p.space()
		return nil
	}
	name := p.name()
	if name == "" {
		return p.unexpected()
	}
	if p.Next() == ':' && p.Peek(1) != ':' {
		return p.Fail(start, "the prefix %s is declared nowhere: use *[local-name()='...']", grammar.Shorten(name))
	}
	p.space()
	if p.Next() != '(' {
		return nil
	}
	if !slices.Contains(nodeTypes, name) {
		return p.Fail(start, "the function %s() cannot be a step of a path%s", grammar.Shorten(name), instead(name))
	}
	return p.brackets(')', func() *Error {
		if c := p.Next(); name == "processing-instruction" && (c == '"' || c == '\'') {
			return p.literal()
		}
		return nil
	})
}

func (p *parser) predicates() *Error {
	for p.Next() == '[' {
		err := p.brackets(']', func() *Error {
			_, err := p.expression()
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// value reads what is not a path: an expression in brackets, a literal, a number or
// the call of a function, and the space behind it. Without one it reads nothing.
func (p *parser) value() (isValue bool, found kind, err *Error) {
	switch c := p.Next(); {
	case c == '(':
		err = p.brackets(')', func() (err *Error) {
			found, err = p.expression()
			return err
		})
		return true, found, err
	case c == '"' || c == '\'':
		err = p.literal()
		return true, text, err
	case isDigit(c), c == '.' && isDigit(p.Peek(1)):
		p.number()
		return true, number, nil
	case c == '$':
		return false, 0, p.Fail(p.At, "a page has no variables of XPath; those of tests are written {{name}}")
	}
	start := p.At
	name := p.name()
	p.space()
	if name == "" || p.Next() != '(' || slices.Contains(nodeTypes, name) {
		p.At = start
		return false, 0, nil
	}
	found, err = p.call(start, name)
	return true, found, err
}
