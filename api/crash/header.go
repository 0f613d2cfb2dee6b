package crash

import (
	"bytes"
	"strings"
)

// boundaryOf gives the boundary of a multipart content type, and whether it is
// multipart at all. Clients write boundaries that the grammar of parameters
// does not allow without quotes, so the value is taken as it stands.
func boundaryOf(contentType string) (string, bool) {
	if len(contentType) < 10 || !strings.EqualFold(contentType[:10], "multipart/") {
		return "", false
	}
	return parameter(contentType, "boundary"), true
}

// parameter gives the value of a header's parameter, "" when it is absent: a
// quoted string, or all up to the next semicolon.
func parameter(header, name string) string {
	for rest := header; ; {
		i := strings.IndexByte(rest, ';')
		if i < 0 {
			return ""
		}
		rest = strings.TrimLeft(rest[i+1:], " \t")
		key, value, ok := strings.Cut(rest, "=")
		if !ok {
			return ""
		}
		value = strings.TrimLeft(value, " \t")
		text, after := unquote(value)
		if strings.EqualFold(strings.TrimSpace(key), name) {
			return text
		}
		rest = after
	}
}

// unquote splits a parameter's value from what follows it. A backslash escapes
// a quote or a backslash only: old browsers send whole Windows paths.
func unquote(value string) (text, rest string) {
	if value == "" || value[0] != '"' {
		i := strings.IndexByte(value, ';')
		if i < 0 {
			i = len(value)
		}
		return strings.TrimRight(value[:i], " \t"), value[i:]
	}
	var b bytes.Buffer
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
