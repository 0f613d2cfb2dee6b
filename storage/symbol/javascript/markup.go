package javascript

import (
	"bytes"
	"unicode/utf8"
)

// tag reads on in a tag of JSX (https://facebook.github.io/jsx/): names and attributes are
// skipped, expressions in braces are tokens.
func (s *scanner) tag() bool {
	c := s.text[s.pos]
	switch {
	case c == '{':
		s.pos++
		s.bracket('{', 'b')
		return true
	case c == '"' || c == '\'':
		end := bytes.IndexByte(s.text[s.pos+1:], c)
		if end < 0 {
			return false
		}
		s.pos += end + 2
		return true
	case c == '/' && s.at(1) == '>':
		s.pos += 2
		s.open = s.open[:len(s.open)-1]
		return true
	case c == '/' && s.at(1) == '*':
		return s.comment()
	case c == '/' && s.at(1) == '/':
		s.skipLine()
		return true
	case c == '>':
		s.pos++
		s.open[len(s.open)-1].state = inChildren
		return true
	case wordByte(c) || c >= utf8.RuneSelf || bytes.IndexByte([]byte(" \t\r\n.:-="), c) >= 0:
		s.pos++
		return true
	}
	return false
}

// children reads on between the tags of an element.
func (s *scanner) children() bool {
	n := bytes.IndexAny(s.text[s.pos:], "<{")
	if n < 0 {
		return false
	}
	s.pos += n
	if s.text[s.pos] == '{' {
		s.pos++
		s.bracket('{', 'b')
		return true
	}
	if s.at(1) == '/' {
		end := bytes.IndexByte(s.text[s.pos:], '>')
		if end < 0 {
			return false
		}
		s.pos += end + 1
		s.open = s.open[:len(s.open)-1]
		return true
	}
	s.pos++
	s.open = append(s.open, opened{inTag, s.open[len(s.open)-1].token})
	return true
}

// beginsElement reports whether the < at the present place begins an element rather than
// type parameters of an arrow function.
func (s *scanner) beginsElement() bool {
	rest := s.text[s.pos+1:]
	n := 0
	for n < len(rest) && (wordByte(rest[n]) || rest[n] >= utf8.RuneSelf) {
		n++
	}
	if n == 0 {
		return len(rest) > 0 && rest[0] == '>'
	}
	if rest[0] >= '0' && rest[0] <= '9' {
		return false
	}
	rest = bytes.TrimLeft(rest[n:min(len(rest), n+64)], " \t\r\n")
	return !bytes.HasPrefix(rest, []byte(",")) && !bytes.HasPrefix(rest, []byte("extends ")) && !bytes.HasPrefix(rest, []byte("="))
}

// beforeOperand are the keywords that an operand follows.
var beforeOperand = map[string]bool{
	"return": true, "typeof": true, "case": true, "do": true, "else": true, "in": true, "instanceof": true, "new": true,
	"void": true, "delete": true, "throw": true, "yield": true, "await": true, "default": true, "extends": true,
}

// operandExpected reports whether what comes is an operand, so that a slash begins a
// regular expression and < an element.
func (s *scanner) operandExpected() bool {
	if len(s.tokens) == 0 {
		return true
	}
	t := &s.tokens[len(s.tokens)-1]
	switch t.kind {
	case wordToken:
		member := len(s.tokens) > 1 && s.tokens[len(s.tokens)-2].kind == '.'
		return !member && beforeOperand[string(s.text[t.from:t.to])]
	case numberToken, stringToken, templateToken, regexToken, markupToken, ']', stepToken:
		return false
	case '!':
		return !s.nonNull()
	case ')':
		if t.partner < 1 {
			return false
		}
		head := &s.tokens[t.partner-1]
		switch string(s.text[head.from:head.to]) {
		case "if", "while", "for", "with":
			return t.partner < 2 || s.tokens[t.partner-2].kind != '.'
		}
		return false
	case '}':
		return !t.inserted && s.blockBrace(int(t.partner))
	}
	return true
}

// nonNull reports whether the last token, a !, is behind an operand, as TypeScript has it.
func (s *scanner) nonNull() bool {
	n := len(s.tokens)
	if n < 2 || s.tokens[n-2].to != s.tokens[n-1].from {
		return false
	}
	switch t := &s.tokens[n-2]; t.kind {
	case ')', ']', stringToken, templateToken:
		return true
	case wordToken:
		return !beforeOperand[string(s.text[t.from:t.to])]
	}
	return false
}

// blockBrace reports whether a brace begins a block rather than an object.
func (s *scanner) blockBrace(i int) bool {
	if i <= 0 {
		return true
	}
	t := &s.tokens[i-1]
	switch t.kind {
	case ')', ';', '{', '}', arrowToken, '>', ']':
		return true
	case wordToken:
		switch string(s.text[t.from:t.to]) {
		case "return", "typeof", "case", "in", "instanceof", "new", "void", "delete", "throw", "yield", "await", "default", "of":
			return false
		}
		return true
	}
	return false
}
