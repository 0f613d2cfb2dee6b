package report

import "bytes"

// header is a name with its value in a text: a line of an HTTP request,
//
//	Authorization: Bearer abc
//
// or a member of an object that was printed as JSON or by Python,
//
//	"password": "abc"
//
// from its first byte to its end; the value is what must be masked.
type header struct {
	start, end           int
	valueStart, valueEnd int
}

// nextHeader finds the first header with a secret name at or after from; its
// start is len(s) when there is none. The result depends on the bytes of the header
// alone and not on those before it, and is the same when the value is masked: so
// masking twice changes nothing.
func nextHeader(s []byte, from int) header {
	for i := from; ; i++ {
		n := bytes.IndexByte(s[i:], ':')
		if n < 0 {
			return header{start: len(s)}
		}
		i += n
		if i == from {
			continue
		}
		var (
			h     header
			found bool
		)
		switch c := s[i-1]; {
		case c == '"' || c == '\'':
			h, found = printedMember(s, from, i)
		case isLetter(c):
			h, found = headerLine(s, from, i)
		}
		if found {
			return h
		}
	}
}

// headerLine reads a header whose name ends at colon. The value is the rest of
// the line. Prose has colons too ("TokenExpiredError: jwt expired"): the name
// must be that of credentials or cookies, or have a hyphen and a space after
// the colon, as other headers have them.
func headerLine(s []byte, from, colon int) (header, bool) {
	rest := s[colon+1:]
	if len(rest) > 1 && rest[0] == '/' && rest[1] == '/' {
		return header{}, false
	}
	start, hyphen := colon, false
	for start > from && colon-start < maxName && isHeaderByte(s[start-1]) {
		start--
		hyphen = hyphen || s[start] == '-'
	}
	if start > from && isHeaderByte(s[start-1]) {
		return header{}, false
	}
	spaced := len(rest) > 0 && (rest[0] == ' ' || rest[0] == '\t')
	name := s[start:colon]
	if start > from && s[start-1] == '/' && !spaced && startsWord(s, start-1) {
		return windowsFlag(s, from, start, colon)
	}
	if !hasSuffixFold(name, "authorization") && !hasSuffixFold(name, "cookie") &&
		(!hyphen || !spaced || secretName(name, false) == public) {
		return header{}, false
	}
	h := header{start: start, valueStart: afterBlanks(s, colon+1)}
	h.valueEnd = lineEnd(s, h.valueStart)
	h.end = h.valueEnd
	return h, true
}

// windowsFlag reads a flag as programs of Windows have them: /password:X. The value is
// a word, or what stands between quotes.
func windowsFlag(s []byte, from, name, colon int) (header, bool) {
	if flagSecrecy(s[name:colon]) == public {
		return header{}, false
	}
	f := flagFinder{s: s}
	h := f.value(colon + 1)
	h.start = max(name-2, from)
	return h, h.valueEnd > h.valueStart
}

// printedMember reads a member whose quoted name ends before colon. A quoted
// value goes to its closing quote, an object or an array to the end of the
// line, since finding its end would need parsing.
func printedMember(s []byte, from, colon int) (header, bool) {
	quote, start := s[colon-1], colon-1
	for start > from && colon-start <= maxName && isNameByte(s[start-1]) {
		start--
	}
	if start == from || s[start-1] != quote {
		return header{}, false
	}
	kind := secretName(s[start:colon-1], false)
	at := afterBlanks(s, colon+1)
	if kind == public || at == len(s) {
		return header{}, false
	}
	h := header{start: start - 1, valueStart: at}
	switch c := s[at]; {
	case c == '"' || c == '\'':
		h.valueStart++
		h.valueEnd = closingQuote(s, h.valueStart, c)
		h.end = min(h.valueEnd+1, len(s))
		return h, true
	case bytes.HasPrefix(s[at:], []byte(mask)):
		h.valueEnd = at + len(mask)
	case c == '{' || c == '[':
		h.valueEnd = lineEnd(s, at)
	case (c == '-' || c-'0' <= 9) && kind == secret:
		h.valueEnd = at
		for h.valueEnd < len(s) && isNumberByte(s[h.valueEnd]) {
			h.valueEnd++
		}
	default:
		return header{}, false
	}
	h.end = h.valueEnd
	return h, true
}

// closingQuote returns the offset of the quote that ends the string at i, or the
// end of the text.
func closingQuote(s []byte, i int, quote byte) int {
	for i < len(s) && s[i] != quote {
		if s[i] == '\\' {
			i++
		}
		i++
	}
	return min(i, len(s))
}

func afterBlanks(s []byte, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\t') {
		i++
	}
	return i
}

func lineEnd(s []byte, i int) int {
	if n := bytes.IndexAny(s[i:], "\r\n"); n >= 0 {
		return i + n
	}
	return len(s)
}

func isHeaderByte(c byte) bool { return isLetter(c) || c-'0' <= 9 || c == '-' || c == '_' }
func isNumberByte(c byte) bool {
	return c-'0' <= 9 || c == '.' || c == '-' || c == '+' || c|0x20 == 'e'
}

// hasSuffixFold reports whether a name ends in a word of small letters, in any
// case.
func hasSuffixFold(name []byte, word string) bool {
	if len(name) < len(word) {
		return false
	}
	tail := name[len(name)-len(word):]
	for i := range tail {
		if tail[i]|0x20 != word[i] {
			return false
		}
	}
	return true
}
