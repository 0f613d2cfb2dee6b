package codegen

import (
	"github.com/slipway-qa/slipway/api/authoring/recording"
)

// maxNested bounds how deep values are nested.
const maxNested = 32

// The kinds of values.
const (
	valueText = iota
	valueNumber
	valueWord // true, false, null, undefined, or another name alone
	valueRegexp
	valueList
	valueObject
	valueChain    // calls, each on what the one before returned
	valueFunction // a function, of which only the tokens are kept
	valueOther    // what means something only when it runs
)

// value is what stands between the parentheses of a call.
type value struct {
	kind    int
	text    string // of a text, number, word or pattern
	flags   string // of a pattern
	list    []value
	members map[string]value
	chain   []call
	body    []token
	line    int
}

// call is a member, or a call of one.
type call struct {
	name   string
	called bool
	args   []value
	line   int
}

// parser reads expressions.
type parser struct {
	tokens []token
	at     int
}

func (p *parser) peek() token { return p.tokens[p.at] }

func (p *parser) look(n int) token { return p.tokens[min(p.at+n, len(p.tokens)-1)] }

func (p *parser) take() token {
	t := p.tokens[p.at]
	if t.kind != tokenEnd {
		p.at++
	}
	return t
}

func (p *parser) accept(sign string) bool {
	if p.peek().is(sign) {
		p.at++
		return true
	}
	return false
}

func unread(t token) error {
	return recording.Invalid(at(t.line), "is no code of a recording: only calls of page, locators and expect are read, no control flow")
}

// chain reads name.name(args).name(args).
func (p *parser) chain(depth int) ([]call, error) {
	var all []call
	for {
		t := p.take()
		if t.kind != tokenWord {
			return nil, unread(t)
		}
		c := call{name: t.text, line: t.line}
		if p.accept("(") {
			args, err := p.list(")", depth)
			if err != nil {
				return nil, err
			}
			c.called, c.args = true, args
		}
		all = append(all, c)
		if !p.accept(".") {
			return all, nil
		}
	}
}

// list reads values up to a sign.
func (p *parser) list(end string, depth int) (all []value, err error) {
	for !p.accept(end) {
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
		if !p.accept(",") && !p.peek().is(end) {
			return nil, unread(p.peek())
		}
	}
	return all, nil
}

func (p *parser) value(depth int) (value, error) {
	t := p.peek()
	v := value{line: t.line}
	if depth > maxNested {
		return v, recording.Invalid(at(t.line), "is nested more than %d deep", maxNested)
	}
	if p.functionFollows() {
		v.kind = valueFunction
		return v, p.function(&v)
	}
	switch {
	case t.kind == tokenText:
		p.at++
		v.kind, v.text = valueText, t.text
	case t.kind == tokenNumber:
		p.at++
		v.kind, v.text = valueNumber, t.text
	case t.is("-") && p.look(1).kind == tokenNumber:
		v.kind, v.text = valueNumber, "-"+p.look(1).text
		p.at += 2
	case t.kind == tokenRegexp:
		p.at++
		v.kind, v.text, v.flags = valueRegexp, t.text, t.flags
	case p.accept("["):
		list, err := p.list("]", depth)
		v.kind, v.list = valueList, list
		return v, err
	case p.accept("{"):
		return p.object(v, depth)
	case t.kind == tokenWord:
		chain, err := p.chain(depth)
		if err != nil {
			return v, err
		}
		v.kind, v.chain = valueChain, chain
		if len(chain) == 1 && !chain[0].called {
			v.kind, v.text = valueWord, chain[0].name
		}
	case t.is("`"):
		p.at++
		v.kind = valueOther
	default:
		return v, unread(t)
	}
	return v, nil
}

func (p *parser) object(v value, depth int) (value, error) {
	v.kind, v.members = valueObject, map[string]value{}
	for !p.accept("}") {
		if p.peek().is(".") { // ...devices['Pixel 5']
			spread := value{kind: valueOther, line: p.peek().line}
			if err := p.expression(&spread); err != nil {
				return v, err
			}
			v.members["..."] = spread
			p.accept(",")
			continue
		}
		name := p.take()
		if name.kind != tokenWord && name.kind != tokenText || !p.accept(":") {
			return v, unread(name)
		}
		member, err := p.value(depth + 1)
		if err != nil {
			return v, err
		}
		v.members[name.text] = member
		if !p.accept(",") && !p.peek().is("}") {
			return v, unread(p.peek())
		}
	}
	return v, nil
}

// functionFollows reports whether a value is a function: async, name =>, (names) =>.
func (p *parser) functionFollows() bool {
	switch t := p.peek(); {
	case t.word("async"), t.word("function"):
		return true
	case t.kind == tokenWord:
		return p.look(1).is("=>")
	case !t.is("("):
		return false
	}
	end := p.closing(p.at)
	return end >= 0 && p.tokens[min(end+1, len(p.tokens)-1)].is("=>")
}

// closing returns the place of the token that closes what the one at a place opens; -1 when
// there is none.
func (p *parser) closing(from int) int {
	depth := 0
	for i := from; i < len(p.tokens); i++ {
		switch t := p.tokens[i]; {
		case t.is("("), t.is("["), t.is("{"):
			depth++
		case t.is(")"), t.is("]"), t.is("}"):
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// function passes a function and keeps the tokens of its body.
func (p *parser) function(v *value) error {
	for {
		t := p.peek()
		switch {
		case t.kind == tokenEnd:
			return unread(t)
		case t.is("=>") && !p.look(1).is("{"):
			p.at++
			return p.expression(v)
		case t.is("{"):
			end := p.closing(p.at)
			if end < 0 {
				return unread(t)
			}
			v.body = p.tokens[p.at+1 : end]
			p.at = end + 1
			return nil
		case t.is("("):
			end := p.closing(p.at)
			if end < 0 {
				return unread(t)
			}
			p.at = end + 1
		default:
			p.at++
		}
	}
}

// expression passes one, such as the body of a function.
func (p *parser) expression(v *value) error {
	start := p.at
	for {
		switch t := p.peek(); {
		case t.kind == tokenEnd, t.is(","), t.is(")"), t.is("]"), t.is("}"):
			v.body = p.tokens[start:p.at]
			return nil
		case t.is("("), t.is("["), t.is("{"):
			end := p.closing(p.at)
			if end < 0 {
				return unread(t)
			}
			p.at = end + 1
		default:
			p.at++
		}
	}
}
