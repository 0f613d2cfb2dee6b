package codegen

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/slipway-qa/slipway/api/authoring/recording"
)

// The kinds of tokens.
const (
	tokenEnd    = iota
	tokenWord   // a name or a word of the language
	tokenText   // a string without substitutions
	tokenNumber // text is what stands there
	tokenRegexp // text is the pattern, flags what stands behind it
	tokenSign   // one character, or =>
)

type token struct {
	kind  int
	text  string
	flags string
	line  int
}

func (t token) is(sign string) bool   { return t.kind == tokenSign && t.text == sign }
func (t token) word(name string) bool { return t.kind == tokenWord && t.text == name }

// maxTokens is far above what a recording of step.MaxSteps steps has.
const maxTokens = 200_000

// lexer reads the tokens of JavaScript and TypeScript that recordings are written with.
type lexer struct {
	text string
	at   int
	line int
	last token
}

func lex(text string) ([]token, error) {
	l := &lexer{text: text, line: 1}
	var all []token
	for {
		t, err := l.next()
		if err != nil {
			return nil, err
		}
		if len(all) == maxTokens {
			return nil, recording.Invalid(at(l.line), "the code is too long")
		}
		all = append(all, t)
		l.last = t
		if t.kind == tokenEnd {
			return all, nil
		}
	}
}

// at is the place of a line.
func at(line int) string { return "line " + strconv.Itoa(line) }

func (l *lexer) wrong(format string, args ...any) error {
	return recording.Invalid(at(l.line), format, args...)
}

// space passes spaces and comments.
func (l *lexer) space() error {
	for l.at < len(l.text) {
		switch c := l.text[l.at]; {
		case c == '\n':
			l.line++
			l.at++
		case c == ' ' || c == '\t' || c == '\r':
			l.at++
		case strings.HasPrefix(l.text[l.at:], "//"):
			end := strings.IndexByte(l.text[l.at:], '\n')
			if end < 0 {
				end = len(l.text) - l.at
			}
			l.at += end
		case strings.HasPrefix(l.text[l.at:], "/*"):
			end := strings.Index(l.text[l.at+2:], "*/")
			if end < 0 {
				return l.wrong("a comment has no end")
			}
			l.line += strings.Count(l.text[l.at:l.at+2+end], "\n")
			l.at += end + 4
		default:
			return nil
		}
	}
	return nil
}

func (l *lexer) next() (token, error) {
	if err := l.space(); err != nil {
		return token{}, err
	}
	t := token{line: l.line}
	if l.at == len(l.text) {
		return t, nil
	}
	c := l.text[l.at]
	switch {
	case c == '\'' || c == '"' || c == '`':
		return l.quoted(c)
	case c >= '0' && c <= '9' || c == '.' && l.at+1 < len(l.text) && l.text[l.at+1] >= '0' && l.text[l.at+1] <= '9':
		return l.run(tokenNumber, func(c byte) bool { return c >= '0' && c <= '9' || c == '.' || c == '_' || c == 'e' || c == 'E' }), nil
	case letter(c):
		return l.run(tokenWord, func(c byte) bool { return letter(c) || c >= '0' && c <= '9' }), nil
	case c == '/' && l.regexpMayFollow():
		return l.regexp()
	case strings.HasPrefix(l.text[l.at:], "=>"):
		t.kind, t.text = tokenSign, "=>"
		l.at += 2
		return t, nil
	}
	_, size := utf8.DecodeRuneInString(l.text[l.at:])
	t.kind, t.text = tokenSign, l.text[l.at:l.at+size]
	l.at += size
	return t, nil
}

func letter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '$' || c >= utf8.RuneSelf
}

// run reads what consists of some characters.
func (l *lexer) run(kind int, of func(byte) bool) token {
	start := l.at
	for l.at < len(l.text) && of(l.text[l.at]) {
		l.at++
	}
	return token{kind: kind, text: l.text[start:l.at], line: l.line}
}

// regexpMayFollow: behind a value / divides.
func (l *lexer) regexpMayFollow() bool {
	switch l.last.kind {
	case tokenWord, tokenText, tokenNumber, tokenRegexp:
		return false
	case tokenSign:
		return l.last.text != ")" && l.last.text != "]" && l.last.text != "}"
	}
	return true
}

func (l *lexer) regexp() (token, error) {
	t := token{kind: tokenRegexp, line: l.line}
	class := false
	for i := l.at + 1; i < len(l.text) && l.text[i] != '\n'; i++ {
		switch c := l.text[i]; {
		case c == '\\':
			i++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			t.text = l.text[l.at+1 : i]
			l.at = i + 1
			t.flags = l.run(tokenWord, letter).text
			return t, nil
		}
	}
	return t, l.wrong("a regular expression has no end")
}

// quoted reads a string. One with substitutions means something only when it runs.
func (l *lexer) quoted(quote byte) (token, error) {
	t := token{kind: tokenText, line: l.line}
	var out strings.Builder
	for i := l.at + 1; i < len(l.text); i++ {
		switch c := l.text[i]; {
		case c == quote:
			l.at = i + 1
			t.text = out.String()
			return t, nil
		case c == '\n' && quote != '`':
			return t, l.wrong("a string has no end")
		case c == '$' && quote == '`' && strings.HasPrefix(l.text[i:], "${"):
			return l.substituted(i, t)
		case c == '\\':
			size, err := l.escape(l.text[i:], &out)
			if err != nil {
				return t, err
			}
			i += size - 1
		default:
			if c == '\n' {
				l.line++
			}
			out.WriteByte(c)
		}
	}
	return t, l.wrong("a string has no end")
}

// substituted passes a template with substitutions, which is a sign that no value may be.
func (l *lexer) substituted(from int, t token) (token, error) {
	for i, depth := from, 0; i < len(l.text); i++ {
		switch l.text[i] {
		case '{':
			depth++
		case '}':
			depth--
		case '\n':
			l.line++
		case '\\':
			i++
		case '`':
			if depth == 0 {
				l.at = i + 1
				t.kind, t.text = tokenSign, "`"
				return t, nil
			}
		}
	}
	return t, l.wrong("a string has no end")
}

// escape reads an escape, and returns its length.
func (l *lexer) escape(text string, out *strings.Builder) (int, error) {
	if len(text) < 2 {
		return 0, l.wrong("a string has no end")
	}
	simple := map[byte]byte{'n': '\n', 't': '\t', 'r': '\r', 'b': '\b', 'f': '\f', 'v': '\v'}
	switch c := text[1]; {
	case simple[c] != 0:
		out.WriteByte(simple[c])
		return 2, nil
	case c == '\n':
		l.line++
		return 2, nil
	case c == 'x' || c == 'u':
		digits, size := "", 0
		switch {
		case c == 'x' && len(text) >= 4:
			digits, size = text[2:4], 4
		case strings.HasPrefix(text[2:], "{") && strings.IndexByte(text, '}') > 3:
			size = strings.IndexByte(text, '}') + 1
			digits = text[3 : size-1]
		case c == 'u' && len(text) >= 6:
			digits, size = text[2:6], 6
		}
		n, err := strconv.ParseUint(digits, 16, 32)
		if err != nil {
			return 0, l.wrong("an escape in a string is no number")
		}
		if n > utf8.MaxRune {
			n = utf8.RuneError
		}
		out.WriteRune(rune(n)) //nolint:gosec // at most utf8.MaxRune
		return size, nil
	case c == '0' && (len(text) == 2 || text[2] < '0' || text[2] > '9'):
		return 0, l.wrong("a string must not hold the character NUL")
	}
	_, size := utf8.DecodeRuneInString(text[1:])
	out.WriteString(text[1 : 1+size])
	return 1 + size, nil
}
