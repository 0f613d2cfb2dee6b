package javascript

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// kind is what a token is. Punctuators are their own first byte, but for those below.
type kind byte

const (
	wordToken     kind = 'a' // an identifier, a keyword, or a private name with its #
	numberToken   kind = '0'
	stringToken   kind = '"'
	templateToken kind = '`' // a piece of a template
	regexToken    kind = 'r'
	markupToken   kind = 'x' // the beginning of a JSX element
	arrowToken    kind = 'A' // =>
	stepToken     kind = '+' // ++ or --
	spreadToken   kind = 'E' // ...
	operatorToken kind = 'O' // any other operator
)

// token is a token of a script.
type token struct {
	from, to uint32 // bytes
	partner  int32  // of a bracket: the other one; else -1
	kind     kind
	line     bool // a line ends before it
	inserted bool // a brace of a template or of JSX
}

// The states of a scanner, besides the open brackets.
const (
	inTemplate = '`' // in ${ } of a template
	inTag      = 'g' // in a tag of JSX
	inChildren = 'j' // between the tags of an element
)

// maxTokens bounds a script; a source text of 2 MiB has fewer.
const maxTokens = 1 << 20

// maxBrackets bounds how deep brackets nest.
const maxBrackets = 1 << 12

// scanner splits a script into tokens, far enough to find its functions: it knows
// strings, templates, regular expressions, comments and JSX. It is no parser, and fails
// where brackets do not match: then nothing is known of the script.
type scanner struct {
	text   []byte
	pos    int
	tokens []token
	open   []opened
	jsx    bool
	line   bool
}

type opened struct {
	state byte
	token int32
}

// tokenize returns the tokens; false when the text is no script that is understood.
func tokenize(text []byte, jsx bool) ([]token, bool) {
	s := &scanner{text: text, jsx: jsx}
	s.tokens = make([]token, 0, len(text)/5+16)
	if bytes.HasPrefix(text, []byte("#!")) {
		s.skipLine()
	}
	for s.pos < len(text) {
		ok := false
		switch s.state() {
		case inTag:
			ok = s.tag()
		case inChildren:
			ok = s.children()
		default:
			ok = s.next()
		}
		if !ok || len(s.tokens) > maxTokens || len(s.open) > maxBrackets {
			return nil, false
		}
	}
	return s.tokens, len(s.open) == 0
}

func (s *scanner) state() byte {
	if len(s.open) == 0 {
		return 0
	}
	return s.open[len(s.open)-1].state
}

func (s *scanner) at(n int) byte {
	if s.pos+n < len(s.text) {
		return s.text[s.pos+n]
	}
	return 0
}

func (s *scanner) skipLine() {
	for s.pos < len(s.text) {
		if _, width := Newline(s.text[s.pos:]); width > 0 {
			return
		}
		s.pos++
	}
}

// Newline returns how many bytes a line's end at the beginning of p has.
func Newline(p []byte) (rune, int) {
	switch p[0] {
	case '\n':
		return '\n', 1
	case '\r':
		if len(p) > 1 && p[1] == '\n' {
			return '\r', 2
		}
		return '\r', 1
	case 0xe2:
		if len(p) > 2 && p[1] == 0x80 && p[2]&^1 == 0xa8 {
			return '\u2028', 3
		}
	}
	return 0, 0
}

func (s *scanner) add(k kind, from int) {
	s.tokens = append(s.tokens, token{from: uint32(from), to: uint32(s.pos), partner: -1, kind: k, line: s.line})
	s.line = false
}

// next reads one token, or what is between tokens.
func (s *scanner) next() bool {
	c := s.text[s.pos]
	if _, width := Newline(s.text[s.pos:]); width > 0 {
		s.pos += width
		s.line = true
		return true
	}
	switch {
	case c == ' ' || c == '\t' || c == '\v' || c == '\f':
		s.pos++
		return true
	case c == '/' && s.at(1) == '/':
		s.skipLine()
		return true
	case c == '/' && s.at(1) == '*':
		return s.comment()
	case c >= '0' && c <= '9' || c == '.' && s.at(1) >= '0' && s.at(1) <= '9':
		return s.number()
	case c == '"' || c == '\'':
		return s.quoted(c)
	case c == '`':
		s.pos++
		return s.template(s.pos - 1)
	case c == '/' && s.operandExpected():
		return s.regex()
	case c == '<' && s.jsx && s.operandExpected() && s.beginsElement():
		s.pos++
		s.add(markupToken, s.pos-1)
		s.open = append(s.open, opened{inTag, int32(len(s.tokens) - 1)})
		return true
	case wordByte(c) || c == '#' || c == '\\':
		return s.word()
	}
	if c >= utf8.RuneSelf {
		r, size := utf8.DecodeRune(s.text[s.pos:])
		if unicode.IsSpace(r) || r == '\ufeff' {
			s.pos += size
			return true
		}
		return s.word()
	}
	return s.punctuator(c)
}

func wordByte(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c == '$' || c >= '0' && c <= '9'
}

func (s *scanner) comment() bool {
	end := bytes.Index(s.text[s.pos+2:], []byte("*/"))
	if end < 0 {
		return false
	}
	if bytes.ContainsAny(s.text[s.pos:s.pos+2+end], "\n\r\u2028\u2029") {
		s.line = true
	}
	s.pos += end + 4
	return true
}

func (s *scanner) number() bool {
	from := s.pos
	for s.pos < len(s.text) {
		c := s.text[s.pos]
		sign := (c == '+' || c == '-') && s.text[s.pos-1]|0x20 == 'e' && s.pos > from && (s.text[from] != '0' ||
			s.pos == from+1 || s.text[from+1]|0x20 != 'x')
		if !wordByte(c) && c != '.' && !sign {
			break
		}
		s.pos++
	}
	s.add(numberToken, from)
	return true
}

func (s *scanner) quoted(quote byte) bool {
	from := s.pos
	for s.pos++; s.pos < len(s.text); s.pos++ {
		switch c := s.text[s.pos]; c {
		case quote:
			s.pos++
			s.add(stringToken, from)
			return true
		case '\\':
			s.pos++
			if s.at(0) == '\r' && s.at(1) == '\n' {
				s.pos++
			}
		case '\n', '\r':
			return false
		}
	}
	return false
}

// template reads a piece of a template, up to its end or the next ${.
func (s *scanner) template(from int) bool {
	for ; s.pos < len(s.text); s.pos++ {
		switch s.text[s.pos] {
		case '`':
			s.pos++
			s.add(templateToken, from)
			return true
		case '\\':
			s.pos++
		case '$':
			if s.at(1) == '{' {
				s.add(templateToken, from)
				s.pos += 2
				s.bracket('{', inTemplate)
				return true
			}
		}
	}
	return false
}

// bracket adds an opening bracket that is just behind.
func (s *scanner) bracket(k kind, state byte) {
	s.add(k, s.pos-1)
	t := &s.tokens[len(s.tokens)-1]
	t.inserted = state != byte(k)
	s.open = append(s.open, opened{state, int32(len(s.tokens) - 1)})
}

// close adds a closing bracket; false when it does not match.
func (s *scanner) close(c byte) bool {
	if len(s.open) == 0 {
		return false
	}
	o := s.open[len(s.open)-1]
	want := byte(')')
	switch s.tokens[o.token].kind {
	case '[':
		want = ']'
	case '{':
		want = '}'
	}
	if c != want {
		return false
	}
	s.open = s.open[:len(s.open)-1]
	s.pos++
	s.add(kind(c), s.pos-1)
	last := len(s.tokens) - 1
	s.tokens[o.token].partner = int32(last)
	s.tokens[last].partner, s.tokens[last].inserted = o.token, s.tokens[o.token].inserted
	if o.state == inTemplate {
		return s.template(s.pos)
	}
	return true
}

func (s *scanner) regex() bool {
	from, class := s.pos, false
	for s.pos++; s.pos < len(s.text); s.pos++ {
		switch c := s.text[s.pos]; {
		case c == '\n' || c == '\r':
			return false
		case c == '\\':
			s.pos++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			for s.pos++; s.pos < len(s.text) && wordByte(s.text[s.pos]); s.pos++ {
			}
			s.add(regexToken, from)
			return true
		}
	}
	return false
}

func (s *scanner) word() bool {
	from := s.pos
	if s.text[s.pos] == '#' {
		s.pos++
	}
	for s.pos < len(s.text) {
		c := s.text[s.pos]
		switch {
		case wordByte(c):
			s.pos++
			continue
		case c == '\\' && s.at(1) == 'u':
			s.pos += 2
			if s.at(0) == '{' {
				for s.pos < len(s.text) && s.text[s.pos] != '}' && s.pos-from < 1<<10 {
					s.pos++
				}
				s.pos++
			}
			continue
		case c >= utf8.RuneSelf:
			if r, size := utf8.DecodeRune(s.text[s.pos:]); r != '\ufeff' && !unicode.IsSpace(r) {
				s.pos += size
				continue
			}
		}
		break
	}
	s.pos = min(s.pos, len(s.text))
	if s.pos == from || s.pos == from+1 && s.text[from] == '#' {
		return false
	}
	s.add(wordToken, from)
	return true
}

// operators, the longest first; all others are one byte.
var operators = []struct {
	text string
	kind kind
}{
	{">>>=", operatorToken}, {"...", spreadToken}, {"===", operatorToken}, {"!==", operatorToken}, {"**=", operatorToken},
	{"<<=", operatorToken}, {">>=", operatorToken}, {"&&=", '='}, {"||=", '='}, {"??=", '='}, {"=>", arrowToken},
	{"==", operatorToken}, {"!=", operatorToken}, {"<=", operatorToken}, {">=", operatorToken}, {"++", stepToken}, {"--", stepToken},
	{"&&", operatorToken}, {"||", operatorToken}, {"??", operatorToken}, {"+=", operatorToken}, {"-=", operatorToken},
	{"*=", operatorToken}, {"/=", operatorToken}, {"%=", operatorToken}, {"&=", operatorToken}, {"|=", operatorToken},
	{"^=", operatorToken}, {"<<", operatorToken}, {"**", operatorToken},
}

func (s *scanner) punctuator(c byte) bool {
	switch c {
	case '(', '[', '{':
		s.pos++
		s.bracket(kind(c), c)
		return true
	case ')', ']', '}':
		return s.close(c)
	case '?':
		if s.at(1) == '.' && (s.at(2) < '0' || s.at(2) > '9') {
			s.pos += 2
			s.add('.', s.pos-2)
			return true
		}
	}
	for _, o := range operators {
		if o.text[0] == c && bytes.HasPrefix(s.text[s.pos:], []byte(o.text)) {
			s.pos += len(o.text)
			s.add(o.kind, s.pos-len(o.text))
			return true
		}
	}
	s.pos++
	switch c {
	case ';', ',', '.', ':', '?', '<', '>', '=', '*', '@', '!', '|', '&':
		s.add(kind(c), s.pos-1)
	case '+', '-', '/', '%', '^', '~':
		s.add(operatorToken, s.pos-1)
	default:
		return false
	}
	return true
}
