package intent

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// class is what a token is by its letters alone.
type class int

const (
	wordToken   class = iota
	numberToken       // 12, 12.40, 1.500,00
	quoteToken        // whole, with its marks
	markToken         // one sign of punctuation
	codeToken         // an address of mail or of the web, a file: never split, never a word
)

// token is a part of the source that is read as one.
type token struct {
	Span
	class class
	text  string // as written; of a quote what stands in it
	fold  string // lower case, plain apostrophes
	cap   bool   // begins with a capital letter
	space bool   // stands after a space
	line  bool   // the first of its line
	num   float64
	// clitic: cut off from the word before it ("gárdala", "mets-la", "Ana's").
	clitic bool
}

// quotes are the marks of quotes: each opening one with those that close it.
var quotes = map[rune]string{'"': "\"”", '“': "”“\"", '„': "“”\"", '«': "»", '»': "«", '‹': "›", '‘': "’", '‚': "‘’", '「': "」", '`': "`"}

// tokenize cuts s into tokens in one pass.
func tokenize(s string) []token {
	toks := make([]token, 0, len(s)/4+4)
	line, space := true, false
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if unicode.IsSpace(r) {
			line = line || r == '\n'
			space = true
			i += size
			continue
		}
		t := next(s, i, r, size)
		t.space, t.line = space, line
		t.fold = fold(t.text)
		toks = append(toks, t)
		i, space, line = t.To, false, false
	}
	return toks
}

// next returns the token that begins at i with the rune r.
func next(s string, i int, r rune, size int) token {
	if end, inner, ok := quoted(s, i, r, size); ok {
		return token{Span: Span{i, end}, class: quoteToken, text: inner, cap: true}
	}
	if r == '(' {
		if end := bracketed(s, i); end > 0 {
			return token{Span: Span{i, end}, class: codeToken, text: s[i:end]}
		}
	}
	if unicode.IsDigit(r) || signed(s, i, r, size) {
		if t, ok := numeral(s, i); ok {
			return t
		}
	}
	if unicode.IsLetter(r) || unicode.IsDigit(r) || r == '@' || r == '#' || r == '_' {
		return letters(s, i, r)
	}
	if unicode.IsSymbol(r) && !strings.ContainsRune("><=|^`~€$£¥°¢", r) {
		return token{Span: Span{i, i + size}, class: wordToken, text: s[i : i+size]} // "×", "★", "+"
	}
	return token{Span: Span{i, i + size}, class: markToken, text: s[i : i+size]}
}

// bracketed returns where a number of a phone with its code in brackets ends: "(44) 123 1234",
// 0 where none begins at i.
func bracketed(s string, i int) int {
	j := i + 1
	for digitAt(s, j) {
		j++
	}
	if j == i+1 || j+2 >= len(s) || s[j] != ')' || s[j+1] != ' ' || !digitAt(s, j+2) {
		return 0
	}
	j += 2
	for digitAt(s, j) || j+1 < len(s) && (s[j] == ' ' || s[j] == '-') && digitAt(s, j+1) {
		j++
	}
	return j
}

// signed reports whether r is the sign of a number.
func signed(s string, i int, r rune, size int) bool {
	if r != '-' && r != '+' && r != '−' {
		return false
	}
	free := i == 0 || strings.IndexByte(" \t\n(", s[i-1]) >= 0
	return free && i+size < len(s) && s[i+size] >= '0' && s[i+size] <= '9'
}

// quoted reads a quotation that begins at i. A plain apostrophe quotes only where no letter
// stands before it, and is closed only where none stands after.
func quoted(s string, i int, r rune, size int) (end int, inner string, ok bool) {
	closing, known := quotes[r]
	if r == '\'' {
		closing, known = "'", true
	}
	if !known || i > 0 && (r == '\'' || r == '‘' || r == '`') && wordBefore(s, i) {
		return 0, "", false
	}
	const longest = 2000 // a mark that nothing closes must not swallow the text again and again
	stop := min(len(s), i+size+longest)
	for j := i + size; j < stop; {
		c, n := utf8.DecodeRuneInString(s[j:])
		if c == '\n' && r != '`' {
			return 0, "", false
		}
		if strings.ContainsRune(closing, c) && !(isApostrophe(c) && letterAt(s, j+n)) {
			return j + n, s[i+size : j], j > i+size
		}
		j += n
	}
	return 0, "", false
}

func isApostrophe(r rune) bool { return r == '\'' || r == '’' }

func wordBefore(s string, i int) bool {
	r, _ := utf8.DecodeLastRuneInString(s[:i])
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

func letterAt(s string, i int) bool {
	if i >= len(s) {
		return false
	}
	r, _ := utf8.DecodeRuneInString(s[i:])
	return unicode.IsLetter(r)
}

// letters reads a word or an address from i.
func letters(s string, i int, first rune) token {
	j, code := i, first == '@'
	for j < len(s) {
		r, n := utf8.DecodeRuneInString(s[j:])
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r) || r == '_':
		case j == i:
		case r == '@' && letterAt(s, j+n):
			code = true
		case strings.ContainsRune("-‑/", r) && (letterAt(s, j+n) || digitAt(s, j+n)):
			code = code || r == '/' && strings.Contains(s[i:j], ".")
		case r == ':' && letterAt(s, j+n) && j > i:
			code = true
		case strings.ContainsRune(".:?=&%+#~", r) && inWord(s, i, j, n, code):
			code = true
		case isApostrophe(r) && letterAt(s, j+n):
		case r == '/' && strings.HasPrefix(s[i:], "http"):
			code = true
		default:
			return wordOf(s, i, j, code)
		}
		j += n
	}
	return wordOf(s, i, j, code)
}

// inWord reports whether a sign at j inside of s[i:] belongs to an address or a file's name:
// "ann@lee.io", "https://a.b/c?d=e", "beach.png", but not "d.h." or "end.Next".
func inWord(s string, i, j, n int, code bool) bool {
	if !letterAt(s, j+n) && !digitAt(s, j+n) && !(s[j] == ':' && strings.HasPrefix(s[j:], "://")) {
		return false
	}
	if code || strings.HasPrefix(s[j:], "://") {
		return true
	}
	if s[j] != '.' || j-i < 2 {
		return false
	}
	r, _ := utf8.DecodeRuneInString(s[j+n:])
	return unicode.IsLower(r) || unicode.IsDigit(r)
}

func digitAt(s string, i int) bool { return i < len(s) && s[i] >= '0' && s[i] <= '9' }

func wordOf(s string, i, j int, code bool) token {
	c := wordToken
	if code {
		c = codeToken
	}
	first, _ := utf8.DecodeRuneInString(s[i:])
	return token{Span: Span{i, j}, class: c, text: s[i:j], cap: unicode.IsUpper(first) || unicode.IsTitle(first)}
}

// fold returns s in lower case with plain apostrophes and dashes.
func fold(s string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '’', '‘':
			return '\''
		case '‑', '–':
			return '-'
		}
		return unicode.ToLower(r)
	}, s)
}

func (t token) is(words ...string) bool {
	if t.class == quoteToken {
		return false
	}
	for _, w := range words {
		if t.fold == w {
			return true
		}
	}
	return false
}

func (t token) mark(signs string) bool {
	return t.class == markToken && strings.Contains(signs, t.text)
}
