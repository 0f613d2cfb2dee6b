package sourcemap

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/slipway-qa/slipway/storage/symbol"
)

// string reads a string of which at most limit bytes are kept.
func (in *input) string(limit int) string { return string(in.bytes(limit)) }

// bytes is string whose result is valid until the next read.
func (in *input) bytes(limit int) []byte {
	if in.peek() == '"' { // most are in the window and without escapes
		rest := in.buf[in.pos+1:]
		if n := plain(rest); n < len(rest) && n <= limit && rest[n] == '"' {
			in.pos += n + 2
			return valid(rest[:n])
		}
	}
	var b []byte
	in.text(func(p []byte) {
		if room := limit - len(b); room > 0 {
			b = append(b, p[:min(len(p), room)]...)
		}
	})
	if len(b) == limit {
		b = cutRune(b)
	}
	return valid(b)
}

// valid replaces what is no UTF-8.
func valid(p []byte) []byte {
	if utf8.Valid(p) {
		return p
	}
	return bytes.ToValidUTF8(p, []byte("\ufffd"))
}

// cutRune removes an incomplete rune at the end.
func cutRune(b []byte) []byte {
	for n := 1; n <= min(3, len(b)); n++ {
		if c := b[len(b)-n]; utf8.RuneStart(c) {
			if !utf8.FullRune(b[len(b)-n:]) {
				return b[:len(b)-n]
			}
			break
		}
	}
	return b
}

// word reads a number or a literal as it is in the file; at most 4 KiB.
func (in *input) word() string {
	var b []byte
	for in.peekRaw() {
		c := in.buf[in.pos]
		if c != '-' && c != '+' && c != '.' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			break
		}
		if len(b) >= 4<<10 {
			in.fail(symbol.Malformed, "the JSON has a number of more than 4 KiB")
			return ""
		}
		b = append(b, c)
		in.pos++
	}
	return string(b)
}

func (in *input) peekRaw() bool { return in.fill() }

// isNumber reports whether a word is a number of JSON (RFC 8259, 6).
func isNumber(s string) bool {
	digits := func() bool {
		n := 0
		for n < len(s) && s[n] >= '0' && s[n] <= '9' {
			n++
		}
		s = s[n:]
		return n > 0
	}
	s = strings.TrimPrefix(s, "-")
	if strings.HasPrefix(s, "0") {
		s = s[1:]
	} else if !digits() {
		return false
	}
	if rest, ok := strings.CutPrefix(s, "."); ok {
		s = rest
		if !digits() {
			return false
		}
	}
	if s != "" && s[0]|0x20 == 'e' {
		s = s[1:]
		if s != "" && (s[0] == '+' || s[0] == '-') {
			s = s[1:]
		}
		if !digits() {
			return false
		}
	}
	return s == ""
}

// integer reads a number; false when it is no integer from 0 to maxValue. Another value
// than a number is skipped.
func (in *input) integer() (int64, bool) {
	c := in.peek()
	if c != '-' && (c < '0' || c > '9') {
		in.skip()
		return 0, false
	}
	word := in.word()
	if !isNumber(word) {
		in.fail(symbol.Malformed, "the JSON has the wrong number %s", strconv.QuoteToASCII(word))
		return 0, false
	}
	v, err := strconv.ParseFloat(word, 64)
	if err != nil || v < 0 || v > maxValue || v != math.Trunc(v) {
		return 0, false
	}
	return int64(v), true
}

// literal reads true, false, null or a number.
func (in *input) literal() {
	c := in.peek()
	word := in.word()
	switch {
	case in.err != nil:
	case word == "true", word == "false", word == "null", isNumber(word):
	case word == "":
		in.unexpected(c, "a value")
	case in.offset() >= in.size:
		in.cutOff()
	default:
		in.fail(symbol.Malformed, "the JSON has %s instead of a value", strconv.QuoteToASCII(word[:min(len(word), 40)]))
	}
}

// skip reads a value of any kind and checks that it is JSON.
func (in *input) skip() {
	var open []byte // the ends of what is open
	for in.err == nil {
		switch in.peek() {
		case '{':
			in.pos++
			open = append(open, '}')
		case '[':
			in.pos++
			open = append(open, ']')
		case '"':
			in.text(nil)
			open = in.close(open)
		default:
			in.literal()
			open = in.close(open)
		}
		if len(open) > maxDepth {
			in.fail(symbol.TooLarge, "the JSON nests more than %d deep", maxDepth)
		}
		if in.err != nil || len(open) == 0 {
			return
		}
		if open[len(open)-1]&0x80 == 0 { // just opened
			open = in.enter(open)
			if len(open) == 0 {
				return
			}
		}
	}
}

// enter reads what follows the beginning of an object or a list: its end, or the key.
// The high bit marks those that have had an item.
func (in *input) enter(open []byte) []byte {
	end := open[len(open)-1]
	if in.peek() == end && in.err == nil {
		in.pos++
		return in.close(open[:len(open)-1])
	}
	open[len(open)-1] |= 0x80
	if end == '}' {
		in.key()
	}
	return open
}

// close reads, after a value, the ends and the comma before the next value.
func (in *input) close(open []byte) []byte {
	for len(open) > 0 && in.err == nil {
		end := open[len(open)-1] &^ 0x80
		if in.more(end, false) {
			if end == '}' {
				in.key()
			}
			return open
		}
		if in.err != nil {
			return open
		}
		open = open[:len(open)-1]
	}
	return open
}

// key reads the key of a member and the colon; at most 64 bytes of it are kept.
func (in *input) key() string {
	if c := in.peek(); c != '"' {
		in.unexpected(c, "the name of a member")
		return ""
	}
	name := in.string(64)
	in.take(':')
	return name
}

// array reads a list: item is called at each value and reads it.
func (in *input) array(item func(n int)) {
	if !in.take('[') {
		return
	}
	for n := 0; in.more(']', n == 0); n++ {
		item(n)
	}
}

// object reads an object: member is called at each value and reads it.
func (in *input) object(member func(key string)) {
	if !in.take('{') {
		return
	}
	for first := true; in.more('}', first); first = false {
		key := in.key()
		if in.err != nil {
			return
		}
		member(key)
	}
}
