package sourcemap

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/slipway-qa/slipway/storage/symbol"
)

// window is how much of a file is in memory; one of up to wholeFile is there as a whole, so
// that it is read once.
const (
	window    = 128 << 10
	wholeFile = 1 << 20
)

// input reads JSON in a stream. The first error stays, and ends every loop over it.
type input struct {
	r    io.ReaderAt
	size int64
	buf  []byte
	at   int64 // of buf[0] in the file
	pos  int   // in buf
	err  error
}

func newInput(r io.ReaderAt, size int64) *input {
	room := int64(window)
	if size <= wholeFile {
		room = max(size, 0)
	}
	return &input{r: r, size: size, buf: make([]byte, 0, room)}
}

// offset returns where in the file the next byte is.
func (in *input) offset() int64 { return in.at + int64(in.pos) }

// seek goes to a place in the file.
func (in *input) seek(to int64) {
	if to >= in.at && to <= in.at+int64(len(in.buf)) {
		in.pos = int(to - in.at)
		return
	}
	in.at, in.pos, in.buf = to, 0, in.buf[:0]
}

// fill reads the next window when this one is used up; false at the end of the file.
func (in *input) fill() bool {
	if in.pos < len(in.buf) {
		return in.err == nil
	}
	in.at += int64(len(in.buf))
	in.pos = 0
	n := min(int64(cap(in.buf)), in.size-in.at)
	if in.err != nil || n <= 0 {
		in.buf = in.buf[:0]
		return false
	}
	in.buf = in.buf[:n]
	got, err := in.r.ReadAt(in.buf, in.at)
	if got < int(n) {
		if err == nil || errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		in.err = fmt.Errorf("read source map: %w", err)
		in.buf = in.buf[:0]
		return false
	}
	return true
}

// fail keeps what is wrong at the present place.
func (in *input) fail(code, format string, args ...any) {
	if in.err == nil {
		in.err = symbol.Invalid(code, "%s at byte %d", fmt.Sprintf(format, args...), in.offset())
	}
}

func (in *input) cutOff() { in.fail(symbol.Truncated, "the source map ends in the middle") }

// peek returns the next byte that is no white space; 0 at the end.
func (in *input) peek() byte {
	for in.fill() {
		switch c := in.buf[in.pos]; c {
		case ' ', '\t', '\n', '\r':
			in.pos++
		default:
			return c
		}
	}
	return 0
}

// take reads one certain byte after white space.
func (in *input) take(want byte) bool {
	c := in.peek()
	if c == want && in.err == nil && c != 0 {
		in.pos++
		return true
	}
	in.unexpected(c, fmt.Sprintf("%q", string(want)))
	return false
}

func (in *input) unexpected(c byte, want string) {
	switch {
	case in.err != nil:
	case in.offset() >= in.size:
		in.cutOff()
	default:
		in.fail(symbol.Malformed, "the JSON has %s instead of %s", strconv.QuoteToASCII(string(rune(c))), want)
	}
}

// more reads the comma of a list or its end: it reports whether another item follows.
func (in *input) more(end byte, first bool) bool {
	c := in.peek()
	switch {
	case in.err != nil:
		return false
	case c == end && c != 0:
		in.pos++
		return false
	case first:
		return c != 0 || in.missing()
	}
	return in.take(',')
}

func (in *input) missing() bool {
	in.cutOff()
	return false
}

// plain counts the bytes of a string up to its end, an escape or a control character.
// Eight are looked at at once: a byte is zero where it lends from the one above it
// (Warren, Hacker's Delight, 6-1).
func plain(p []byte) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(p); i += 8 {
		v := binary.LittleEndian.Uint64(p[i:])
		quote, escape := v^(ones*'"'), v^(ones*'\\')
		if ((v-ones*0x20)&^v|(quote-ones)&^quote|(escape-ones)&^escape)&highs != 0 {
			break
		}
	}
	for ; i < len(p); i++ {
		if c := p[i]; c < 0x20 || c == '"' || c == '\\' {
			break
		}
	}
	return i
}

// text reads a string in pieces: keep is called with each, escapes resolved; it may be
// nil. Lone surrogates become U+FFFD.
func (in *input) text(keep func(p []byte)) {
	if !in.take('"') {
		return
	}
	u := units{keep: keep}
	for in.fill() {
		rest := in.buf[in.pos:]
		n := plain(rest)
		if n > 0 {
			u.run(rest[:n])
			in.pos += n
			if rest = rest[n:]; len(rest) == 0 {
				continue
			}
		}
		c := rest[0]
		if c == '"' {
			in.pos++
			u.end()
			return
		}
		if c != '\\' {
			in.fail(symbol.Malformed, "a string of the JSON has the control character %#x", c)
			return
		}
		if len(rest) > 1 {
			if r := simpleEscapes[rest[1]]; r != 0 { // most are
				in.pos += 2
				u.simple(r)
				continue
			}
		}
		in.pos++
		r := in.escape()
		if in.err != nil {
			return
		}
		u.add(r)
	}
	in.cutOff()
}

// simpleEscapes holds what the escapes of one letter stand for (RFC 8259, 7).
var simpleEscapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// units joins the pieces of a string, and the UTF-16 code units of escapes.
type units struct {
	keep func(p []byte)
	high rune // a high surrogate that waits for its other half
	buf  []byte
}

// longRun is the size from which on a piece is handed on as it is.
const longRun = 1 << 10

// run keeps bytes without escapes.
func (u *units) run(p []byte) {
	if u.high != 0 {
		u.alone()
	}
	if u.keep == nil {
		return
	}
	if len(u.buf)+len(p) > 4*longRun || len(p) >= longRun {
		u.flush()
	}
	if len(p) >= longRun {
		u.keep(p)
		return
	}
	u.buf = append(u.buf, p...)
}

func (u *units) simple(c byte) {
	if u.high != 0 {
		u.alone()
	}
	if u.keep == nil {
		return
	}
	if u.buf = append(u.buf, c); len(u.buf) > 4*longRun {
		u.flush()
	}
}

func (u *units) write(r rune) {
	if u.keep == nil {
		return
	}
	if u.buf = utf8.AppendRune(u.buf, r); len(u.buf) > 4*longRun {
		u.flush()
	}
}

func (u *units) flush() {
	if len(u.buf) > 0 {
		u.keep(u.buf)
		u.buf = u.buf[:0]
	}
}

// alone writes the half of a pair that has no other half.
func (u *units) alone() {
	if u.high != 0 {
		u.high = 0
		u.write(utf8.RuneError)
	}
}

func (u *units) end() {
	u.alone()
	u.flush()
}

func (u *units) add(r rune) {
	if u.high != 0 {
		if joined := utf16.DecodeRune(u.high, r); joined != utf8.RuneError {
			u.high = 0
			u.write(joined)
			return
		}
		u.alone()
	}
	if utf16.IsSurrogate(r) && r < 0xdc00 {
		u.high = r
		return
	}
	u.write(r)
}

// escape reads what follows a backslash.
func (in *input) escape() rune {
	if !in.fill() {
		in.cutOff()
		return 0
	}
	c := in.buf[in.pos]
	in.pos++
	if c == 'u' {
		return in.hex()
	}
	if r := simpleEscapes[c]; r != 0 {
		return rune(r)
	}
	in.fail(symbol.Malformed, "a string of the JSON has the unknown escape %s", strconv.QuoteToASCII("\\"+string(rune(c))))
	return 0
}

func (in *input) hex() (r rune) {
	for range 4 {
		if !in.fill() {
			in.cutOff()
			return 0
		}
		c := in.buf[in.pos]
		in.pos++
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			in.fail(symbol.Malformed, "an escape of the JSON is not hexadecimal")
			return 0
		}
	}
	return r
}
