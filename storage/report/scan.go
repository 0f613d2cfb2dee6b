package report

import (
	"encoding/binary"
	"math/bits"
	"strconv"
)

// scanner is the tokenizer: a position in a document and the first error. It
// accepts exactly the grammar of RFC 8259 over bytes that are known to be
// UTF-8. Methods return false at the first error and store it in err; loops
// over members and elements end with `return s.err == nil`.
type scanner struct {
	buf      []byte
	pos      int
	maxDepth int
	err      *Error
}

// text is a string token: the bytes between the quotes, and whether they hold
// escapes.
type text struct {
	raw     []byte
	escaped bool
}

// cursor walks the members of one object or the elements of one array.
type cursor struct {
	key []byte // the current member's name, decoded
	n   int    // members or elements so far, the current one included
}

func (s *scanner) fail(code int, msg string) bool {
	if s.err == nil {
		s.err = &Error{Code: code, Msg: msg}
	}
	return false
}

func (s *scanner) invalidValue(msg string) bool { return s.fail(CodeMember, msg) }

// unexpected reports a breach of the grammar at the current position.
func (s *scanner) unexpected(wanted string) bool {
	if s.pos >= len(s.buf) {
		return s.fail(CodeMalformed, "the document ends early, at byte "+strconv.Itoa(len(s.buf)))
	}
	return s.fail(CodeMalformed, "not valid JSON at byte "+strconv.Itoa(s.pos)+": "+wanted)
}

// token moves over white space and returns the byte that follows, 0 at the
// end of the document.
func (s *scanner) token() byte {
	if s.pos < len(s.buf) && s.buf[s.pos] > ' ' {
		return s.buf[s.pos]
	}
	return s.space()
}

func (s *scanner) space() byte {
	i := s.pos
	for i < len(s.buf) {
		c := s.buf[i]
		if c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			s.pos = i
			return c
		}
		i++
	}
	s.pos = i
	return 0
}

// member moves to the value of the next member of an object whose opening
// brace has been passed. It is false after the closing brace and on error.
func (s *scanner) member(m *cursor) bool {
	c := s.token()
	if c == '}' {
		s.pos++
		return false
	}
	if m.n > 0 {
		if c != ',' {
			return s.unexpected("a comma or a closing brace is wanted")
		}
		s.pos++
		c = s.token()
	}
	if c != '"' {
		return s.unexpected("a member name is wanted")
	}
	name, ok := s.str()
	if !ok {
		return false
	}
	m.key = name.bytes()
	m.n++
	if s.token() != ':' {
		return s.unexpected("a colon is wanted")
	}
	s.pos++
	s.token()
	return true
}

// element moves to the next element of an array whose opening bracket has
// been passed. It is false after the closing bracket and on error.
func (s *scanner) element(m *cursor) bool {
	c := s.token()
	if c == ']' {
		s.pos++
		return false
	}
	if m.n > 0 {
		if c != ',' {
			return s.unexpected("a comma or a closing bracket is wanted")
		}
		s.pos++
		s.token()
	}
	m.n++
	return true
}

// skip moves over any value. depth is the number of objects and arrays around
// it.
func (s *scanner) skip(depth int) bool {
	switch c := s.token(); c {
	case '"':
		_, ok := s.str()
		return ok
	case '{', '[':
		if depth >= s.maxDepth {
			return s.tooDeep()
		}
		s.pos++
		var m cursor
		if c == '{' {
			for s.member(&m) {
				if !s.skip(depth + 1) {
					return false
				}
			}
		} else {
			for s.element(&m) {
				if !s.skip(depth + 1) {
					return false
				}
			}
		}
		return s.err == nil
	default:
		return s.scalar(c)
	}
}

func (s *scanner) tooDeep() bool {
	return s.fail(CodeMalformed, "nested deeper than "+strconv.Itoa(s.maxDepth)+" levels")
}

// scalar moves over a number, true, false or null that begins with c.
func (s *scanner) scalar(c byte) bool {
	switch c {
	case 't':
		return s.literal("true")
	case 'f':
		return s.literal("false")
	case 'n':
		return s.literal("null")
	}
	_, ok := s.number()
	return ok
}

func (s *scanner) literal(word string) bool {
	if len(s.buf)-s.pos < len(word) || string(s.buf[s.pos:s.pos+len(word)]) != word {
		return s.unexpected("a value is wanted")
	}
	s.pos += len(word)
	return true
}

// number moves over a number and returns its text.
func (s *scanner) number() ([]byte, bool) {
	start, i := s.pos, s.pos
	if i < len(s.buf) && s.buf[i] == '-' {
		i++
	}
	switch {
	case i < len(s.buf) && s.buf[i] == '0':
		i++
	case s.digit(i):
		i = s.digits(i)
	default:
		return nil, s.unexpected("a value is wanted")
	}
	if i < len(s.buf) && s.buf[i] == '.' {
		if i++; !s.digit(i) {
			s.pos = i
			return nil, s.unexpected("a digit is wanted")
		}
		i = s.digits(i)
	}
	if i < len(s.buf) && s.buf[i]|0x20 == 'e' {
		i++
		if i < len(s.buf) && (s.buf[i] == '+' || s.buf[i] == '-') {
			i++
		}
		if !s.digit(i) {
			s.pos = i
			return nil, s.unexpected("a digit is wanted")
		}
		i = s.digits(i)
	}
	s.pos = i
	return s.buf[start:i], true
}

func (s *scanner) digit(i int) bool { return i < len(s.buf) && s.buf[i]-'0' <= 9 }

func (s *scanner) digits(i int) int {
	for s.digit(i) {
		i++
	}
	return i
}

// str moves over a string, its opening quote being the current byte. It looks
// at eight bytes at a time for a quote, a backslash or a control character.
// Escapes of lone surrogates pass: clients cut text inside a pair, and some
// encode undecodable bytes of the environment like that.
func (s *scanner) str() (text, bool) {
	const (
		ones    = 0x0101010101010101
		highs   = 0x8080808080808080
		quotes  = '"' * ones
		slashes = '\\' * ones
		spaces  = ' ' * ones
	)
	buf := s.buf
	start := s.pos + 1
	i, escaped := start, false
	for {
		if i+8 <= len(buf) {
			x := binary.LittleEndian.Uint64(buf[i:])
			q, b := x^quotes, x^slashes
			// The lowest marked byte is exact; marks above it may be wrong.
			mark := ((q-ones)&^q | (b-ones)&^b | (x-spaces)&^x) & highs
			if mark == 0 {
				i += 8
				continue
			}
			i += bits.TrailingZeros64(mark) >> 3
		} else {
			for i < len(buf) && buf[i] != '"' && buf[i] != '\\' && buf[i] >= ' ' {
				i++
			}
			if i >= len(buf) {
				s.pos = len(buf)
				return text{}, s.unexpected("")
			}
		}
		if buf[i] == '"' {
			s.pos = i + 1
			return text{buf[start:i], escaped}, true
		}
		n := 0
		if buf[i] == '\\' {
			n = escapeLen(buf[i:])
		}
		if n == 0 {
			s.pos = i
			return text{}, s.unexpected("an unknown escape or a control character in a string")
		}
		escaped = true
		i += n
	}
}

// escapeLen returns the length of the escape that b begins with, 0 if it is
// none.
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if _, ok := hex4(b); ok {
			return 6
		}
	}
	return 0
}
