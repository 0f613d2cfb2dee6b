package intent

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// tokenKind is what a token is.
type tokenKind uint8

const (
	word     tokenKind = iota // also numbers, addresses, file names and symbols
	quoted                    // text is what stands between the quotes
	variable                  // {{name}}
	mark                      // a punctuation mark
)

// token is a word, a quoted text or a mark.
type token struct {
	kind       tokenKind
	text, low  string
	start, end int // in the text
	// line is set for the first token of a line, and blank when an empty line is before
	// it.
	line, blank bool
	// glued is set when no space is before it.
	glued bool
	n     int // its number in the text
	// begins is set for the first token of a sentence.
	begins bool
}

func (t token) is(low string) bool { return t.kind != quoted && t.low == low }

// shouted reports whether a word is in capitals: a name, and no word of the language.
func (t token) shouted() bool {
	return t.kind == word && len(t.text) > 1 && strings.ToUpper(t.text) == t.text && strings.ToLower(t.text) != t.text
}

// capital reports whether a word begins with a capital letter.
func (t token) capital() bool {
	c, _ := utf8.DecodeRuneInString(t.text)
	return t.kind == word && unicode.IsUpper(c)
}

// span is a part of the text.
type span []token

// quotes are the marks that open a quoted text, each with those that end it.
var quotes = map[rune]string{
	'"': `"`, '“': `”"“`, '”': `”`, '„': `“”"`, '«': `»`, '»': `«`, '‹': `›`,
	'`': "`", '‘': `’`, '‚': `‘’`, '\'': `'`, '’': `’`, '「': `」`,
}

// maxQuoted bounds a quoted text: what is longer was not meant to be one.
const maxQuoted = 4000

// tokenizer splits a text into tokens.
type tokenizer struct {
	text string
	// unclosed says up to where no end follows of an opening mark, so that a text of many
	// is read once.
	unclosed map[rune]int
	tokens   span
}

// tokenize splits a text into tokens, in one pass.
func tokenize(text string) span {
	t := tokenizer{text: text, unclosed: map[rune]int{}}
	line, blank, glued := true, false, false
	for at := 0; at < len(text); {
		c, size := utf8.DecodeRuneInString(text[at:])
		if c == '\n' {
			blank = line && len(t.tokens) > 0
			line, glued = true, false
			at += size
			continue
		}
		if unicode.IsSpace(c) || c == utf8.RuneError && size == 1 || c == '\u200b' || c == '\ufeff' {
			glued = false
			at += size
			continue
		}
		next := t.next(at, c, size)
		next.line, next.blank, next.glued, next.n = line, blank, glued, len(t.tokens)
		if next.kind == quoted {
			next.low = next.text
		} else {
			next.low = strings.ToLower(strings.ReplaceAll(next.text, "’", "'"))
		}
		t.tokens = append(t.tokens, next)
		line, blank, glued = false, false, true
		at = next.end
	}
	return t.tokens
}

func (t *tokenizer) next(at int, c rune, size int) token {
	if strings.HasPrefix(t.text[at:], "{{") {
		if end := strings.Index(t.text[at:min(len(t.text), at+200)], "}}"); end > 0 {
			end += at + 2
			return token{kind: variable, text: t.text[at:end], start: at, end: end}
		}
	}
	if text, end, ok := t.quoted(at, c, size); ok {
		return token{kind: quoted, text: text, start: at, end: end}
	}
	for _, arrow := range []string{"->", "=>", ">>", "...", "--"} {
		if strings.HasPrefix(t.text[at:], arrow) {
			return token{kind: mark, text: arrow, start: at, end: at + len(arrow)}
		}
	}
	if isMark(c) {
		return token{kind: mark, text: string(c), start: at, end: at + size}
	}
	end := t.wordEnd(at)
	return token{kind: word, text: t.text[at:end], start: at, end: end}
}

// quoted reads the text between quotes that open at a place. An apostrophe opens none:
// before it is a letter, or what follows has no end.
func (t *tokenizer) quoted(at int, c rune, size int) (string, int, bool) {
	closing, ok := quotes[c]
	if !ok || at < t.unclosed[c] || at > 0 && lettered(lastRune(t.text[:at])) {
		return "", 0, false
	}
	apostrophe := c == '\'' || c == '’' || c == '‘' || c == '‚'
	var out strings.Builder
	begin := at + size
	limit := min(len(t.text), begin+maxQuoted)
	for i := begin; i < limit; {
		r, n := utf8.DecodeRuneInString(t.text[i:])
		if r == '\\' && i+n < limit {
			e, m := utf8.DecodeRuneInString(t.text[i+n:])
			if e == c || e == '\\' || strings.ContainsRune(closing, e) {
				out.WriteRune(e)
				i += n + m
				continue
			}
		}
		if strings.ContainsRune(closing, r) && i > begin {
			after, _ := utf8.DecodeRuneInString(t.text[i+n:])
			if i+n == len(t.text) || !apostrophe || !lettered(after) {
				return out.String(), i + n, true
			}
		}
		if r == '\n' && apostrophe {
			limit = i
			break
		}
		out.WriteString(t.text[i : i+n])
		i += n
	}
	t.unclosed[c] = limit
	// An empty pair is the empty text.
	r, n := utf8.DecodeRuneInString(t.text[begin:])
	if begin < len(t.text) && strings.ContainsRune(closing, r) {
		return "", begin + n, true
	}
	return "", 0, false
}

func lastRune(s string) rune {
	c, _ := utf8.DecodeLastRuneInString(s)
	return c
}

func lettered(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) }

func isMark(c rune) bool {
	return strings.ContainsRune(`.,;:!?()[]{}<>|"“”„«»‹›‘’‚'…→•·–—`+"`", c)
}

// wordEnd returns the end of the word that begins at a place. Marks within a word
// belong to it: "3.50", "a@b.de", "https://x.de/?q=1", "don't", "file.txt", "12:30".
func (t *tokenizer) wordEnd(at int) int {
	address := strings.HasPrefix(t.text[at:], "http://") || strings.HasPrefix(t.text[at:], "https://") ||
		strings.HasPrefix(t.text[at:], "/") || strings.HasPrefix(t.text[at:], "file://") ||
		strings.HasPrefix(t.text[at:], "data:") || strings.HasPrefix(t.text[at:], "about:")
	i := at
	for i < len(t.text) {
		c, n := utf8.DecodeRuneInString(t.text[i:])
		if unicode.IsSpace(c) || c == utf8.RuneError && n == 1 {
			break
		}
		if strings.HasPrefix(t.text[i:], "{{") {
			end := strings.Index(t.text[i:min(len(t.text), i+200)], "}}")
			if end > 0 {
				i += end + 2
				continue
			}
		}
		if !isMark(c) {
			i += n
			continue
		}
		if !t.within(at, i, n, c, address) {
			break
		}
		i += n
	}
	if i == at {
		_, n := utf8.DecodeRuneInString(t.text[at:])
		i += n
	}
	return i
}

// within reports whether a mark at i is within the word that began at.
func (t *tokenizer) within(at, i, n int, c rune, address bool) bool {
	if i == at || i+n >= len(t.text) {
		return false
	}
	before := lastRune(t.text[:i])
	after, _ := utf8.DecodeRuneInString(t.text[i+n:])
	if unicode.IsSpace(after) {
		return false
	}
	if address {
		return !strings.ContainsRune(`"“”„«»<>`+"`", c) && (lettered(after) || strings.ContainsRune(`/?&=#%_-+[{`, after))
	}
	switch c {
	case '.', ':':
		return lettered(before) && lettered(after) && (c == '.' || unicode.IsDigit(after) || strings.HasPrefix(t.text[i:], "://"))
	case ',':
		return unicode.IsDigit(before) && unicode.IsDigit(after)
	case '\'', '’':
		return unicode.IsLetter(before) && unicode.IsLetter(after)
	case '·', '–':
		return lettered(before) && lettered(after)
	}
	return false
}

// text returns the words of a span as they were written. Where words were taken out of
// it, the parts are joined with spaces.
func (s span) text(src string) string {
	var parts []string
	for begin := 0; begin < len(s); {
		end := begin + 1
		for end < len(s) && s[end].n == s[end-1].n+1 {
			end++
		}
		if to := s[end-1].end; to <= len(src) && s[begin].start < to {
			parts = append(parts, strings.TrimSpace(src[s[begin].start:to]))
		}
		begin = end
	}
	return strings.Join(parts, " ")
}

// without returns a span without the words from i to j.
func (s span) without(i, j int) span { return append(append(span{}, s[:i]...), s[j:]...).trim() }

// trim removes marks from both ends.
func (s span) trim() span {
	for len(s) > 0 && s[0].kind == mark && !strings.Contains("([", s[0].text) {
		s = s[1:]
	}
	for len(s) > 0 && s[len(s)-1].kind == mark && !strings.Contains(")]", s[len(s)-1].text) {
		s = s[:len(s)-1]
	}
	return s
}

// value returns what a span says: the text of the one quoted token, or the words as
// they were written.
func (s span) value(src string) string {
	if len(s) == 1 && s[0].kind == quoted {
		return s[0].text
	}
	return s.text(src)
}

func (s span) hasQuoted() bool {
	for _, t := range s {
		if t.kind == quoted {
			return true
		}
	}
	return false
}
