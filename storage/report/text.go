package report

import (
	"bytes"
	"encoding/base64"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// appendTo appends the decoded text to dst. NUL, which PostgreSQL text
// refuses, and lone surrogates, which UTF-8 cannot hold, become U+FFFD.
func (t text) appendTo(dst []byte) []byte {
	if !t.escaped {
		return append(dst, t.raw...)
	}
	for raw := t.raw; len(raw) > 0; {
		i := bytes.IndexByte(raw, '\\')
		if i < 0 {
			return append(dst, raw...)
		}
		dst = append(dst, raw[:i]...)
		r, n := unescape(raw[i:])
		dst = utf8.AppendRune(dst, r)
		raw = raw[i+n:]
	}
	return dst
}

// bytes returns the decoded text, which shares the document's memory unless
// it holds escapes.
func (t text) bytes() []byte {
	if !t.escaped {
		return t.raw
	}
	return t.appendTo(make([]byte, 0, len(t.raw)))
}

func (t text) String() string { return string(t.bytes()) }

// unescape decodes the valid escape that raw begins with and returns its
// length: 12 for a surrogate pair.
func unescape(raw []byte) (rune, int) {
	switch c := raw[1]; c {
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
	default:
		return rune(c), 2
	}
	r, _ := hex4(raw)
	switch {
	case r == 0:
		return utf8.RuneError, 6
	case !utf16.IsSurrogate(r):
		return r, 6
	}
	if len(raw) >= 12 && raw[6] == '\\' && raw[7] == 'u' {
		low, _ := hex4(raw[6:])
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return utf8.RuneError, 6
}

// hex4 reads the four digits of an escape \uXXXX.
func hex4(b []byte) (rune, bool) {
	if len(b) < 6 {
		return 0, false
	}
	var r rune
	for _, c := range b[2:6] {
		d, ok := hexDigit(c)
		if !ok {
			return 0, false
		}
		r = r<<4 | rune(d)
	}
	return r, true
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case c-'0' <= 9:
		return c - '0', true
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10, true
	}
	return 0, false
}

// parseUUID reads a UUID of any version and variant, with dashes at their
// places (RFC 9562, section 4) or with none.
func parseUUID(b []byte) (id [16]byte, ok bool) {
	dashes := len(b) == 36
	if !dashes && len(b) != 32 {
		return id, false
	}
	n := 0
	for i, c := range b {
		if dashes && (i == 8 || i == 13 || i == 18 || i == 23) {
			if c != '-' {
				return id, false
			}
			continue
		}
		d, ok := hexDigit(c)
		if !ok {
			return id, false
		}
		id[n/2] = id[n/2]<<4 | d
		n++
	}
	return id, true
}

// parseInteger reads a JSON number that is an integer of 64 bits; a fraction
// of zeros passes, as some encoders know only floating point.
func parseInteger(b []byte) (int64, bool) {
	if whole, fraction, found := bytes.Cut(b, []byte{'.'}); found {
		if len(bytes.TrimLeft(fraction, "0")) > 0 {
			return 0, false
		}
		b = whole
	}
	if len(b) > 20 { // longer than any integer of 64 bits
		return 0, false
	}
	n, err := strconv.ParseInt(string(b), 10, 64)
	return n, err == nil
}

// isWhole reports whether a JSON number is an integer of any size.
func isWhole(b []byte) bool {
	whole, fraction, _ := bytes.Cut(b, []byte{'.'})
	return len(bytes.Trim(fraction, "0")) == 0 && bytes.IndexByte(whole, 'e') < 0 && bytes.IndexByte(whole, 'E') < 0
}

// parsePosition reads a line or a column. What is not a positive integer
// counts as absent, 0: clients write 0, negative numbers and text for code
// without a source.
func parsePosition(b []byte) int64 {
	n, ok := parseInteger(b)
	if !ok || n < 0 {
		return 0
	}
	return n
}

// isIntegerText reports whether b is an integer as clients write those of 64
// bits: decimal or hexadecimal digits, with or without sign and 0x.
func isIntegerText(b []byte) bool {
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		b = b[1:]
	}
	if len(b) > 2 && b[0] == '0' && b[1]|0x20 == 'x' {
		b = b[2:]
	}
	for _, c := range b {
		if _, ok := hexDigit(c); !ok {
			return false
		}
	}
	return len(b) > 0
}

// isBase64 reports whether b is Base64 text in the standard alphabet (RFC 4648,
// section 4), with or without padding and with line ends.
func isBase64(b []byte) bool {
	n, pad := 0, 0
	for _, c := range b {
		switch {
		case c == '=':
			pad++
		case c == '\n' || c == '\r':
		case pad > 0:
			return false
		case c|0x20 >= 'a' && c|0x20 <= 'z', c-'0' <= 9, c == '+', c == '/':
			n++
		default:
			return false
		}
	}
	return n%4 != 1 && (pad == 0 || pad <= 2 && (n+pad)%4 == 0)
}

// decodeFingerprint reads Base64 text of exactly 32 bytes, padded or not.
func decodeFingerprint(b []byte) ([]byte, bool) {
	if len(b) == 44 {
		if b[43] != '=' {
			return nil, false
		}
		b = b[:43]
	}
	if len(b) != 43 {
		return nil, false
	}
	var id [33]byte
	n, err := base64.RawStdEncoding.Decode(id[:], b)
	return id[:32], err == nil && n == 32
}
