package export

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// source is what a compiler sees of a text: the code without its comments and
// with every string empty, and the strings as they are at run time.
type source struct {
	code    string
	strings []string
}

var (
	javaEscape = regexp.MustCompile(`\\\\|\\u+[0-9a-fA-F]{4}`)
	blank      = regexp.MustCompile(`\s+`)
)

// tokenize reads JavaScript, Python or Java as far as the exports go. broken is
// true for a string that does not end on its line.
func tokenize(target, code string) (s source, broken bool) {
	line := "//"
	opening := "\"'`"
	switch target {
	case PythonSelenium:
		line, opening = "#", "\"'"
	case JavaSelenium:
		opening = "\"'"
		// A compiler of Java does this first, in comments and everywhere.
		code = javaEscape.ReplaceAllStringFunc(code, func(m string) string {
			if m == `\\` {
				return m
			}
			n, _ := strconv.ParseUint(m[len(m)-4:], 16, 32)
			if r := rune(n); !utf16.IsSurrogate(r) {
				return string(r)
			}
			return m
		})
	}
	var out strings.Builder
	for i := 0; i < len(code); {
		rest := code[i:]
		triple := strings.HasPrefix(rest, `"""`)
		switch {
		case strings.HasPrefix(rest, line):
			end := strings.IndexAny(rest, "\n\r\u2028\u2029")
			if end < 0 {
				end = len(rest)
			}
			i += end
		case strings.HasPrefix(rest, "/*") && line == "//":
			i += strings.Index(rest, "*/") + 2
		case strings.HasPrefix(rest, "String.raw`"):
			i += len("String.raw`")
			i += strings.IndexByte(code[i:], '`') + 1
			out.WriteString(`""`)
		case target == PythonSelenium && (strings.HasPrefix(rest, `r"[`) || strings.HasPrefix(rest, `r"\W`)):
			i += 2
			i += strings.IndexByte(code[i:], '"') + 1
			out.WriteString(`""`)
		case triple:
			i += 3 + strings.Index(rest[3:], `"""`) + 3
			out.WriteString(`""`)
		case strings.HasPrefix(rest, `/[\p{C}`) || strings.HasPrefix(rest, `/\s+/`):
			// The regular expressions of the skeletons.
			end := strings.IndexByte(rest[1:], '/') + 2
			out.WriteString(rest[:end])
			i += end
		case strings.IndexByte(opening, rest[0]) >= 0:
			length, text, ok := readString(rest)
			if !ok {
				return s, true
			}
			i += length
			s.strings = append(s.strings, text)
			out.WriteString(`""`)
		default:
			out.WriteByte(rest[0])
			i++
		}
	}
	s.code = blank.ReplaceAllString(out.String(), " ")
	return s, false
}

// readString reads a string literal and gives its length in the code.
func readString(code string) (length int, text string, ok bool) {
	quote := code[0]
	var out []uint16
	for i := 1; i < len(code); {
		r, size := utf8.DecodeRuneInString(code[i:])
		switch {
		case code[i] == quote:
			return i + 1, string(utf16.Decode(out)), true
		case r == '\n' || r == '\r':
			if quote != '`' {
				return 0, "", false
			}
			i += size
		case r != '\\':
			out = utf16.AppendRune(out, r)
			i += size
		default:
			unit, n := readEscape(code[i:])
			if n == 0 {
				return 0, "", false
			}
			out = append(out, unit...)
			i += n
		}
	}
	return 0, "", false
}

var escapes = map[byte]rune{'n': '\n', 'r': '\r', 't': '\t', 'b': '\b', 'f': '\f', '\\': '\\', '\'': '\'', '"': '"', '`': '`', '$': '$'}

func readEscape(code string) (units []uint16, length int) {
	hexadecimal := func(digits string, length int) ([]uint16, int) {
		n, err := strconv.ParseUint(digits, 16, 32)
		if err != nil {
			return nil, 0
		}
		if n >= 0xd800 && n < 0xe000 {
			return []uint16{uint16(n)}, length
		}
		return utf16.AppendRune(nil, rune(n)), length
	}
	if len(code) < 2 {
		return nil, 0
	}
	if r, ok := escapes[code[1]]; ok {
		return utf16.AppendRune(nil, r), 2
	}
	switch {
	case strings.HasPrefix(code, `\u{`):
		end := strings.IndexByte(code, '}')
		return hexadecimal(code[3:end], end+1)
	case code[1] == 'u' && len(code) >= 6:
		return hexadecimal(code[2:6], 6)
	case code[1] == 'U' && len(code) >= 10:
		return hexadecimal(code[2:10], 10)
	case code[1] >= '0' && code[1] <= '3' && len(code) >= 4:
		n, err := strconv.ParseUint(code[1:4], 8, 32)
		if err != nil {
			return nil, 0
		}
		return []uint16{uint16(n)}, 4
	}
	return nil, 0
}
