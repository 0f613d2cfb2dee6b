package minidump

import (
	"bytes"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// text16 reads a text of UTF-16 with its length in bytes before it; "" for offset 0 and
// for what cannot be read.
func (x *file) text16(offset uint64, what string) string {
	b, ok := x.lengthAndText(offset, what)
	if !ok {
		return ""
	}
	return x.utf16(b)
}

// text8 reads a text of UTF-8 with its length in bytes before it.
func (x *file) text8(offset uint64, what string) (string, bool) {
	b, ok := x.lengthAndText(offset, what)
	return clean(b), ok
}

func (x *file) lengthAndText(offset uint64, what string) ([]byte, bool) {
	if offset == 0 {
		return nil, false
	}
	head, ok := x.bytes(location{offset, 4})
	if !ok {
		x.warn("the %s at offset %d lies outside of the file", what, offset)
		return nil, false
	}
	n := uint64(x.order.Uint32(head))
	if n > x.size-offset-4 {
		x.warn("the %s at offset %d claims %d bytes, more than the file has", what, offset, n)
		return nil, false
	}
	if n > maxString {
		x.warn("the %s at offset %d has %d bytes; %d are read", what, offset, n, maxString)
		n = maxString
	}
	if x.texts += int(n); x.texts > maxTexts {
		x.warn("the texts of the file have more than %d bytes together", maxTexts)
		return nil, false
	}
	return x.bytes(location{offset + 4, n})
}

// utf16 decodes text up to its first zero.
func (x *file) utf16(b []byte) string {
	units := make([]uint16, 0, len(b)/2)
	for ; len(b) >= 2; b = b[2:] {
		u := x.order.Uint16(b)
		if u == 0 {
			break
		}
		units = append(units, u)
	}
	return string(utf16.Decode(units))
}

// clean returns text up to its first zero, as valid UTF-8.
func clean(b []byte) string {
	if n := bytes.IndexByte(b, 0); n >= 0 {
		b = b[:n]
	}
	if utf8.Valid(b) {
		return string(b)
	}
	return strings.ToValidUTF8(string(b), "\uFFFD")
}
