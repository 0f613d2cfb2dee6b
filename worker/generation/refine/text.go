package refine

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// token is a word, a mark, or a quoted text as a whole.
type token struct {
	text   string // as it was written, without its quotes
	low    string // in lower case; "" of a quoted text
	quoted bool
	// first and end are where it stands in the text.
	first, end int
}

// closings are the quotes that end a quoted text, by the one that begins it.
var closings = map[rune]string{
	'"': "\"", '“': "”\"“", '„': "“”\"", '«': "»", '»': "«", '‹': "›", '‘': "’", '`': "`", '\'': "'", '‚': "‘’",
}

// tokens splits a text. Apostrophes in words, and points in numbers and addresses,
// belong to their word.
func tokens(text string) []token {
	var list []token
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		switch {
		case unicode.IsSpace(r):
			at += size
		case closings[r] != "" && quoteEnd(text, at, r, size) > 0:
			end := quoteEnd(text, at, r, size)
			_, last := utf8.DecodeLastRuneInString(text[:end])
			list = append(list, token{text: text[at+size : end-last], quoted: true, first: at, end: end})
			at = end
		case strings.ContainsRune(".,;:!?\n", r):
			list = append(list, token{text: text[at : at+size], low: text[at : at+size], first: at, end: at + size})
			at += size
		default:
			end := wordEnd(text, at)
			list = append(list, token{text: text[at:end], low: strings.ToLower(text[at:end]), first: at, end: end})
			at = end
		}
	}
	return list
}

// maxQuoted bounds a quoted text: a quote that nobody closed is a mark like others.
const maxQuoted = 2000

// quoteEnd returns where a quoted text ends that begins at a quote; 0 when it is none.
func quoteEnd(text string, at int, quote rune, size int) int {
	searched := text[at+size:]
	searched = searched[:min(len(searched), maxQuoted)]
	for end := 1; end < len(searched); {
		i := strings.IndexAny(searched[end:], closings[quote])
		if i < 0 {
			return 0
		}
		end += i
		_, last := utf8.DecodeRuneInString(searched[end:])
		if r, _ := utf8.DecodeRuneInString(searched[end+last:]); !unicode.IsLetter(r) {
			return at + size + end + last
		}
		end += last // an apostrophe in a word
	}
	return 0
}

// wordEnd returns where a word ends: at a space, or at a mark before one.
func wordEnd(text string, at int) int {
	end := at
	for end < len(text) {
		r, size := utf8.DecodeRuneInString(text[end:])
		if unicode.IsSpace(r) || end > at && (r == '"' || r == '“' || r == '”') {
			break
		}
		end += size
	}
	word := strings.TrimRight(text[at:end], ".,;:!?")
	if word == "" {
		_, size := utf8.DecodeRuneInString(text[at:])
		return at + size
	}
	return at + len(word)
}

// sentences splits a text at points, semicolons and new lines outside of quotes.
func sentences(text string) []string {
	var list []string
	add := func(s string) {
		if s = strings.Trim(s, " \t\r\n.;!"); s != "" {
			list = append(list, s)
		}
	}
	first, end := 0, 0
	for _, t := range tokens(text) {
		newLine := strings.Contains(text[end:t.first], "\n")
		ends := !t.quoted && (t.text == "." || t.text == ";" || t.text == "!")
		if newLine {
			add(text[first:t.first])
			first = t.first
		}
		if ends {
			add(text[first:t.end])
			first = t.end
		}
		end = t.end
	}
	add(text[first:])
	return list
}

// span is a run of tokens of one text.
type span struct {
	of   string
	list []token
}

func newSpan(text string) span { return span{text, tokens(text)} }

func (s span) cut(first, end int) span { return span{s.of, s.list[first:end]} }

// String returns the text of a span as it was written, without what was taken out of
// its middle.
func (s span) String() string {
	var b strings.Builder
	for i, t := range s.list {
		if i > 0 {
			gap := s.of[s.list[i-1].end:t.first]
			if strings.TrimSpace(gap) != "" {
				gap = " "
			}
			b.WriteString(gap)
		}
		b.WriteString(s.of[t.first:t.end])
	}
	return b.String()
}

// trim returns a span without marks and the given words at its ends.
func (s span) trim(words wordSet) span {
	for len(s.list) > 0 && !s.list[0].quoted && (mark(s.list[0]) || words[s.list[0].low]) {
		s.list = s.list[1:]
	}
	for n := len(s.list); n > 0 && !s.list[n-1].quoted && mark(s.list[n-1]); n = len(s.list) {
		s.list = s.list[:n-1]
	}
	return s
}

func mark(t token) bool { return len(t.text) == 1 && strings.ContainsAny(t.text, ".,;:!?") }

// at returns the number of tokens of the first of several groups of words that stand
// at a place of a span; 0 for none.
func (s span) at(i int, groups []string) int {
	for _, group := range groups {
		if n := s.hasAt(i, group); n > 0 {
			return n
		}
	}
	return 0
}

func (s span) hasAt(i int, group string) int {
	n := 0
	for word := range strings.FieldsSeq(group) {
		if i+n >= len(s.list) || s.list[i+n].quoted || s.list[i+n].low != word {
			return 0
		}
		n++
	}
	return n
}

// find returns where the first of several groups of words stands, from a place on, and
// its number of tokens; -1 for none.
func (s span) find(from int, groups []string) (int, int) {
	for i := from; i < len(s.list); i++ {
		if n := s.at(i, groups); n > 0 {
			return i, n
		}
	}
	return -1, 0
}

// value returns the text that a span names: what is quoted if that is all, else its
// words without articles before them.
func (s span) value() (string, bool) {
	s = s.trim(articles)
	if len(s.list) == 1 {
		return s.list[0].text, s.list[0].quoted
	}
	if i := s.onlyQuoted(); i >= 0 {
		return s.list[i].text, true
	}
	return s.String(), false
}

// onlyQuoted returns the index of the one quoted text of a span; -1 unless there is
// just one.
func (s span) onlyQuoted() int {
	at := -1
	for i, t := range s.list {
		if t.quoted {
			if at >= 0 {
				return -1
			}
			at = i
		}
	}
	return at
}
