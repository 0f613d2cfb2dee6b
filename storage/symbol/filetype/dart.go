package filetype

import (
	"bytes"
	"regexp"
	"strings"
	"sync"
)

// dartPair matches two texts of a list in JSON.
var dartPair = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[\s,]*"((?:[^"\\]|\\.)*)"\s*,\s*"((?:[^"\\]|\\.)*)"`)
})

// dartName matches what Dart's compiler calls things in an obfuscated program.
var dartName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^_?[A-Za-z]{1,4}$`) })

// isDartMap reports whether a text begins as the obfuscation map of Dart does: a list of texts in JSON,
// each original name followed by the one in the program, which is the same or very short. Other
// lists of short texts are none: some name stays as it is, or the file is called so.
func isDartMap(head []byte, name string) bool {
	rest, ok := bytes.CutPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("["))
	if !ok {
		return false
	}
	const enough = 200
	same, short, other := 0, 0, 0
	for same+short+other < enough {
		m := dartPair().FindSubmatch(rest)
		if m == nil {
			break
		}
		switch {
		case bytes.Equal(m[1], m[2]) && len(m[1]) > 2, string(m[1]) == "SENTRY_DEBUG_ID_MARKER":
			same++
		case bytes.Equal(m[1], m[2]), dartName().Match(m[2]):
			short++
		default:
			other++
		}
		rest = rest[len(m[0]):]
	}
	called := strings.Contains(strings.ToLower(name), "obfuscation") || strings.Contains(strings.ToLower(name), "symbolmap")
	return same+short > 9*other && (same > 0 || called && short > 0)
}
