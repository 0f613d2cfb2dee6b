package report

import (
	"strconv"
	"strings"
	"unicode"
)

// maxPathKey cuts member names that a document chose, so that an error text
// stays readable: real names and ids are shorter.
const maxPathKey = 64

// inMember puts a member name before the path of the error and returns false.
// Paths are built on the way back from a failure only.
func (s *scanner) inMember(key []byte) bool {
	name := string(key)
	if len(name) > maxPathKey {
		name = strings.ToValidUTF8(name[:maxPathKey], "") + "..."
	}
	name = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, name)
	switch m := s.err.Member; {
	case m == "" || m[0] == '[':
		s.err.Member = name + m
	default:
		s.err.Member = name + "." + m
	}
	return false
}

// inElement puts the index of an element before the path of the error and returns
// false.
func (s *scanner) inElement(index int) bool {
	name := "[" + strconv.Itoa(index) + "]"
	if m := s.err.Member; m != "" && m[0] != '[' {
		name += "."
	}
	s.err.Member = name + s.err.Member
	return false
}
