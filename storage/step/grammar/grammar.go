// Package grammar is what the checks of CSS and XPath share: the error that says what is
// wrong with a text and where, and the reader below their parsers.
//
// A parser embeds a Reader, which holds the text and how far it has been read, and adds
// the rules of its language. It reads byte by byte; what it compares is ASCII.
//
// An error knows how much of the text made it certain, since a text may have variables
// whose values are not known yet: an error before the first of them is one in any case.
// What a parser looked at without reading it counts too, so Fail is told which
// characters leave a decision open until the next one.
//
// The package is a leaf. A Reader is used by one goroutine.
package grammar

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// MaxDepth bounds brackets in brackets.
const MaxDepth = 32

// Error says what is wrong with a text.
type Error struct {
	// Position is that of the first wrong character, from 1.
	Position int
	// Read is how many bytes had been read when the error was certain: whatever
	// follows them, the text is wrong. It is more than the text has where its end is
	// what is wrong.
	Read int
	Msg  string
}

func (e *Error) Error() string { return fmt.Sprintf("character %d: %s", e.Position, e.Msg) }

// Reader reads a text from its begin to its end.
type Reader struct {
	Text  string
	At    int // the next byte
	Depth int // of the brackets
	// Undecided are the characters after which the next one may decide.
	Undecided string
}

// Next returns the next byte, 0 at the end.
func (r *Reader) Next() byte { return r.Peek(0) }

// Peek returns the byte n bytes ahead, 0 behind the end.
func (r *Reader) Peek(n int) byte {
	if r.At+n >= len(r.Text) {
		return 0
	}
	return r.Text[r.At+n]
}

// Take reads a byte if it is the next one.
func (r *Reader) Take(c byte) bool {
	if r.At == len(r.Text) || r.Text[r.At] != c {
		return false
	}
	r.At++
	return true
}

// maxLookahead is how many characters behind what has been read may decide, where the
// first ones leave it open.
const maxLookahead = 3

// Fail returns an error about the character at a byte.
func (r *Reader) Fail(at int, format string, args ...any) *Error {
	read := r.At
	for range maxLookahead {
		next, size := utf8.DecodeRuneInString(r.Text[min(read, len(r.Text)):])
		read += max(size, 1)
		if !strings.ContainsRune(r.Undecided, next) {
			break
		}
	}
	return &Error{Position: utf8.RuneCountInString(r.Text[:at]) + 1, Read: read, Msg: fmt.Sprintf(format, args...)}
}

// Shorten returns a name as it is quoted in an error.
func Shorten(name string) string {
	const most = 40
	if len(name) > most {
		return strings.ToValidUTF8(name[:most], "") + "..."
	}
	return name
}
