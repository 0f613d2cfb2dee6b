package report

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

// mask replaces a secret. It is plain ASCII without escapes, quotes or delimiters
// of a query, so that a masked value is recognized.
const mask = "[scrubbed]"

// Scrub appends the document of head to dst with its secrets masked: a secret
// part of a string becomes [scrubbed], a secret value that is no string
// becomes "[scrubbed]". The result is a valid document in which Check finds
// nothing more to mask.
func Scrub(dst []byte, head Head) []byte {
	dst = slices.Grow(dst, len(head.Document)+len(head.Secrets)*(len(mask)+2))
	from := 0
	for _, s := range head.Secrets {
		dst = append(dst, head.Document[from:s.Start]...)
		if s.Unquoted {
			dst = append(dst, `"`+mask+`"`...)
		} else {
			dst = append(dst, mask...)
		}
		from = s.End
	}
	return append(dst, head.Document[from:]...)
}

// mark adds a span, and fails when there are too many.
func (f *secretFinder) mark(s Span) bool {
	if len(f.secrets) >= f.limit {
		return f.tooMany("secret values", f.limit)
	}
	f.secrets = append(f.secrets, s)
	return true
}

// mayHoldSecret is the cheap check before maskText: without an equals sign, an at
// sign, a colon and a hyphen there is no parameter, no password in a URL, no header
// line and no flag.
func mayHoldSecret(t text) bool {
	return len(t.raw) > 2 && (bytes.IndexByte(t.raw, ':') >= 0 || bytes.IndexByte(t.raw, '=') >= 0 ||
		bytes.IndexByte(t.raw, '@') >= 0 || bytes.IndexByte(t.raw, '-') >= 0 || t.escaped && bytes.Contains(t.raw, []byte(`\u00`)))
}

// maskText marks the secrets inside a string: values of parameters, variables
// and headers, and passwords in URLs. It works on decoded text, as clients
// escape the ampersand, and then moves the spans to where the document has
// them. start is the offset of the string in the document.
func (f *secretFinder) maskText(t text, start int, item bool) bool {
	decoded := t.raw
	if t.escaped {
		f.scratch = t.appendTo(f.scratch[:0])
		decoded = f.scratch
	}
	first := len(f.secrets)
	if n := environmentValue(decoded, item); n > 0 {
		if n < len(decoded) && string(decoded[n:]) != mask && !f.mark(Span{Start: n, End: len(decoded)}) {
			return false
		}
	} else if !f.maskLines(decoded) {
		return false
	}
	spans := f.secrets[first:]
	if len(spans) == 0 {
		return true
	}
	if t.escaped {
		rebase(spans, t.raw)
	}
	for i := range spans {
		spans[i].Start += start
		spans[i].End += start
	}
	return true
}

// environmentValue returns where the value begins in an item of an environment,
// NAME=value, whose name is secret: the value is all that follows. It is 0 for
// any other text.
func environmentValue(s []byte, item bool) int {
	if !item {
		return 0
	}
	n := 0
	for n < len(s) && n < maxName && isNameByte(s[n]) {
		n++
	}
	if n == 0 || n == len(s) || s[n] != '=' || secretName(s[:n], true) == public {
		return 0
	}
	return n + 1
}

// maskLines marks headers and flags, and in the text between them parameters and
// URLs. A header and a flag are treated apart, with their names, so that nothing before
// them extends into them, whether they are masked already or not.
func (f *secretFinder) maskLines(s []byte) bool {
	flags := flagFinder{s: s, command: f.command, programs: f.programs}
	from, line, flag := 0, nextHeader(s, 0), flags.next(0)
	for {
		h := line
		if flag.start < line.start {
			h = flag
		}
		if !f.maskPlain(s[from:h.start], from) {
			return false
		}
		if h.start == len(s) {
			return true
		}
		if v := s[h.valueStart:h.valueEnd]; len(v) > 0 && string(v) != mask &&
			!f.mark(Span{Start: h.valueStart, End: h.valueEnd}) {
			return false
		}
		from = h.end
		if line.start < from {
			line = nextHeader(s, from)
		}
		if flag.start < from {
			flag = flags.next(from)
		}
	}
}

// maskPlain marks the secrets of a part of a text that begins at offset.
func (f *secretFinder) maskPlain(s []byte, offset int) bool {
	first := len(f.secrets)
	if bytes.IndexByte(s, '=') >= 0 && !f.maskParameters(s) {
		return false
	}
	parameters := len(f.secrets)
	if bytes.IndexByte(s, '@') >= 0 && !f.maskURLs(s, f.secrets[first:]) {
		return false
	}
	spans := f.secrets[first:]
	if parameters > first && len(f.secrets) > parameters {
		spans = outermost(spans)
		f.secrets = f.secrets[:first+len(spans)]
	}
	for i := range spans {
		spans[i].Start += offset
		spans[i].End += offset
	}
	return true
}

// maxName bounds the names that are looked for in text.
const maxName = 128

// maskParameters marks the values of secret names before an equals sign. A
// value ends where a query parameter, a field of a connection string or a word
// of a command line ends.
func (f *secretFinder) maskParameters(s []byte) bool {
	for i := 0; ; {
		n := bytes.IndexByte(s[i:], '=')
		if n < 0 {
			return true
		}
		equals := i + n
		name := equals
		for name > i && equals-name < maxName && isNameByte(s[name-1]) {
			name--
		}
		i = equals + 1
		if name == equals || secretName(s[name:equals], true) == public {
			continue
		}
		var end int
		i, end = valueAt(s, i)
		if end > i && string(s[i:end]) != mask && !f.mark(Span{Start: i, End: end}) {
			return false
		}
		i = end
	}
}

// valueAt returns the bounds of the value at i: what stands between quotes,
// else all up to the end of a parameter, a field or a word.
func valueAt(s []byte, i int) (start, end int) {
	if i < len(s) && (s[i] == '"' || s[i] == '\'') {
		if n := bytes.IndexByte(s[i+1:], s[i]); n >= 0 {
			return i + 1, i + 1 + n
		}
		return i + 1, len(s)
	}
	for end = i; end < len(s) && !endsValue(s[end]); {
		end++
	}
	return i, end
}

func isNameByte(c byte) bool {
	return isLetter(c) || c-'0' <= 9 || c == '_' || c == '-' || c == '.' || c == '[' || c == ']' || c == '%'
}

func endsValue(c byte) bool {
	switch c {
	case '&', ';', '"', '\'', '`', '<', '>':
		return true
	}
	return c <= ' '
}

// maskURLs marks the passwords of URLs: scheme://user:password@host. The
// values of parameters, which are masked already, are skipped as the mask will be,
// so that masking does not turn other text into a URL.
func (f *secretFinder) maskURLs(s []byte, values []Span) bool {
	for i := 0; ; {
		n := bytes.Index(s[i:], []byte("://"))
		if n < 0 {
			return true
		}
		i += n + 3
		for len(values) > 0 && values[0].End <= i {
			values = values[1:]
		}
		if len(values) > 0 && values[0].Start < i {
			i = values[0].End
			continue
		}
		end, at, colon := i, -1, -1
	authority:
		for ; end < len(s); end++ {
			for len(values) > 0 && end == values[0].Start {
				end, values = values[0].End, values[1:]
			}
			switch {
			case end == len(s) || endsAuthority(s[end]):
				break authority
			case s[end] == '@':
				at = end
			case s[end] == ':' && colon < 0:
				colon = end
			}
		}
		if colon >= 0 && at > colon+1 && string(s[colon+1:at]) != mask && !f.mark(Span{Start: colon + 1, End: at}) {
			return false
		}
		i = max(i, end-1) // the colon of the next URL may be the last byte
	}
}

func endsAuthority(c byte) bool {
	switch c {
	case '/', '?', '#', '"', '\'', '`', '<', '>':
		return true
	}
	return c <= ' '
}

// outermost sorts spans and drops those inside others. Spans of text never
// overlap in part: a password contains the whole value of a parameter or none
// of it.
func outermost(spans []Span) []Span {
	slices.SortFunc(spans, func(a, b Span) int { return a.Start - b.Start })
	kept := spans[:1]
	for _, span := range spans[1:] {
		if span.Start >= kept[len(kept)-1].End {
			kept = append(kept, span)
		}
	}
	return kept
}

// rebase converts ascending offsets in decoded text to offsets in the escaped text.
func rebase(spans []Span, raw []byte) {
	at, decoded := 0, 0
	to := func(target int) int {
		for decoded < target {
			if raw[at] != '\\' {
				at++
				decoded++
				continue
			}
			r, n := unescape(raw[at:])
			at += n
			decoded += utf8.RuneLen(r)
		}
		return at
	}
	for i := range spans {
		spans[i].Start = to(spans[i].Start)
		spans[i].End = to(spans[i].End)
	}
}
