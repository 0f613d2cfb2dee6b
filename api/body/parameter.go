package body

import "strings"

// Parameter returns the value of a header's parameter, such as the boundary of a
// Content-Type: a quoted string, or all up to the next semicolon. It is more
// lenient than mime.ParseMediaType, because clients are.
func Parameter(header, name string) (string, bool) {
	for rest := header; ; {
		i := strings.IndexByte(rest, ';')
		if i < 0 {
			return "", false
		}
		rest = strings.TrimLeft(rest[i+1:], " \t")
		key, value, ok := strings.Cut(rest, "=")
		if !ok {
			return "", false
		}
		if semicolon := strings.IndexByte(key, ';'); semicolon >= 0 {
			rest = rest[semicolon:] // a parameter without a value
			continue
		}
		text, after := unquote(strings.TrimLeft(value, " \t"))
		if strings.EqualFold(strings.TrimSpace(key), name) {
			return text, true
		}
		rest = after
	}
}

// unquote splits a parameter's value from what follows it. A backslash escapes a
// quote or a backslash only: old browsers send whole Windows paths.
func unquote(value string) (text, rest string) {
	if value == "" || value[0] != '"' {
		i := strings.IndexByte(value, ';')
		if i < 0 {
			i = len(value)
		}
		return strings.TrimRight(value[:i], " \t"), value[i:]
	}
	var b strings.Builder
	for i := 1; i < len(value); i++ {
		switch c := value[i]; {
		case c == '"':
			return b.String(), value[i+1:]
		case c == '\\' && i+1 < len(value) && (value[i+1] == '"' || value[i+1] == '\\'):
			i++
			b.WriteByte(value[i])
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), ""
}
