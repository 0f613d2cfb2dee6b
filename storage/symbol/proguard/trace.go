package proguard

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// LineKind says what a line of a text is.
type LineKind int

// The kinds of lines.
const (
	// OtherLine is any text.
	OtherLine LineKind = iota
	// FrameLine is "at class.method(file:line)", with anything before.
	FrameLine
	// ExceptionLine has the name of an exception: "class: message", "Caused by: class",
	// "[CIRCULAR REFERENCE: class]", each with anything before.
	ExceptionLine
)

// span is a part of a line.
type span struct{ from, to int }

func (s span) of(line string) string { return line[s.from:s.to] }

// traceLine is a line of a text with its parts.
type traceLine struct {
	kind                LineKind
	class, method, file span
	// digits are ":" and the number, empty when the frame has none.
	digits span
	number int32 // -1 none
}

// parseLine finds the frame or the exception of a line as R8's retrace does by default:
// what its regular expression matches. Of an exception line that is the first name
// where the line begins with it, else the last that stands behind a colon and before a
// colon, a bracket, or the end.
func parseLine(line string) traceLine {
	if l, ok := parseFrame(line); ok {
		return l
	}
	if class, ok := parseException(line); ok {
		return traceLine{kind: ExceptionLine, class: class, number: -1}
	}
	return traceLine{number: -1}
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// inClass marks the ASCII bytes that names in traces can have.
var inClass = func() (table [256]bool) {
	for i := range table {
		table[i] = i >= 0x80 || !isSpace(byte(i)) && !strings.ContainsRune("[];:()<>", rune(i))
	}
	return table
}()

// nameAt returns the end of the name that begins at an index; the index when none does.
func nameAt(line string, at int) int {
	if at >= len(line) || line[at]-'0' <= 9 {
		return at
	}
	for at < len(line) && inClass[line[at]] {
		at++
	}
	return at
}

func skipSpaces(line string, at int) int {
	for at < len(line) && isSpace(line[at]) {
		at++
	}
	return at
}

// parseFrame reads "... at class.method(file:line)".
func parseFrame(line string) (l traceLine, ok bool) {
	end := -2 // of the parenthesis, once it was looked for
	for from := 0; ; {
		i := strings.Index(line[from:], "at")
		if i < 0 {
			return l, false
		}
		i += from
		from = i + 2
		if i > 0 && isWord(line, i) {
			continue
		}
		start := skipSpaces(line, from)
		if start == from {
			continue
		}
		open, found := l.parseNames(line, start)
		if !found {
			continue
		}
		if end == -2 {
			end = closing(line)
		}
		if end <= open {
			continue
		}
		l.parseSource(line, open+1, end)
		return l, true
	}
}

// isWord reports whether the character before an index belongs to a word.
func isWord(line string, at int) bool {
	r, _ := utf8.DecodeLastRuneInString(line[:at])
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)
}

// parseNames reads "class.method(" and returns the index of the parenthesis.
func (l *traceLine) parseNames(line string, start int) (open int, ok bool) {
	end := nameAt(line, start)
	if end == start {
		return 0, false
	}
	for _, name := range []string{"<init>", "<clinit>"} {
		if strings.HasPrefix(line[end:], name) && line[end-1] == '.' && end-1 > start {
			l.class, l.method = span{start, end - 1}, span{end, end + len(name)}
			end += len(name)
			ok = true
			break
		}
	}
	open = skipSpaces(line, end)
	if open >= len(line) || line[open] != '(' {
		return 0, false
	}
	for dot := end; !ok; {
		if dot = strings.LastIndexByte(line[start:dot], '.') + start; dot <= start {
			return 0, false
		}
		if dot+1 < end && line[dot+1]-'0' > 9 {
			l.class, l.method, ok = span{start, dot}, span{dot + 1, end}, true
		}
	}
	// Class loaders and modules stand before the class: loader/module@version/class.
	l.class.from += strings.LastIndexByte(l.class.of(line), '/') + 1
	l.kind = FrameLine
	return open, l.class.from < l.class.to
}

// closing returns the index of the last parenthesis that ends a frame; -1 when none does.
// After it may stand "~[archive:version]".
func closing(line string) int {
	for end := len(line); ; {
		end = strings.LastIndexByte(line[:end], ')')
		if end < 0 {
			return -1
		}
		rest := line[end+1:]
		if rest != "" {
			rest = strings.TrimLeftFunc(rest, func(r rune) bool { return unicode.Is(unicode.Z, r) })
		}
		if rest == "" || strings.HasPrefix(rest, "~[") && strings.HasSuffix(rest, "]") {
			return end
		}
	}
}

// parseSource divides "file:line".
func (l *traceLine) parseSource(line string, from, to int) {
	l.file, l.digits, l.number = span{from, to}, span{to, to}, -1
	colon := to
	for colon > from && line[colon-1]-'0' <= 9 {
		colon--
	}
	if colon == to || colon == from || line[colon-1] != ':' {
		return
	}
	l.file.to, l.digits = colon-1, span{colon - 1, to}
	number := int64(0)
	for _, digit := range []byte(line[colon:to]) {
		number = min(number*10+int64(digit-'0'), maxLineNumber+1)
	}
	if number <= maxLineNumber {
		l.number = int32(number)
	}
}

// suppressed is the word before suppressed exceptions, which is no class.
const suppressed = "Suppressed"

// parseException finds the class of an exception.
func parseException(line string) (class span, ok bool) {
	first := span{0, nameAt(line, 0)}
	if first.to > 0 {
		name, after := first, first.to
		if after < len(line) && line[after] == ':' {
			after++
		} else if line[name.to-1] == '"' {
			name.to--
		}
		if second, ok := classAt(line, after); ok && name.to > 0 && name.to < after {
			if name.of(line) != suppressed {
				return trimLoader(line, name), true
			}
			return trimLoader(line, second), true
		}
	}
	for end := len(line); end > 0; {
		end = strings.LastIndexAny(line[:end], `:"`)
		if end < 0 {
			break
		}
		if name, ok := classAt(line, end+1); ok {
			return trimLoader(line, name), name.of(line) != suppressed
		}
	}
	if first.to > 0 && endsClass(line, first.to) && first.of(line) != suppressed {
		return trimLoader(line, first), true
	}
	return span{}, false
}

func trimLoader(line string, class span) span {
	class.from += strings.LastIndexByte(class.of(line), '/') + 1
	return class
}

// classAt reads spaces and a name that ends the line, or stands before a colon or a bracket.
func classAt(line string, at int) (span, bool) {
	from := skipSpaces(line, at)
	if from == at {
		return span{}, false
	}
	to := nameAt(line, from)
	return span{from, to}, to > from && endsClass(line, to)
}

func endsClass(line string, at int) bool {
	return at == len(line) || line[at] == ':' || line[at] == ']'
}

// circular stands before an exception that was printed already. Old virtual machines print
// no space after it.
const circular = "[CIRCULAR REFERENCE:"

// exceptions returns all names of a line that could be its exception, from left to right:
// messages may look like one too.
func exceptions(line string) (all []span) {
	if to := nameAt(line, 0); to > 0 && endsClass(line, to) {
		all = append(all, trimLoader(line, span{0, to}))
	}
	for i := 0; i < len(line); i++ {
		if line[i] != ':' && line[i] != '"' {
			continue
		}
		if name, ok := classAt(line, i+1); ok {
			all = append(all, trimLoader(line, name))
		}
	}
	return all
}
