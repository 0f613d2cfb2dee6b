package refine

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/slipway-qa/slipway/worker/generation/lexicon"
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

// tokens splits a text of a language. Points in numbers and addresses belong to their word, and
// apostrophes too, but for words that have lost a vowel: "d'" and "envoyer".
func tokens(text string, l *lexicon.Lexicon) []token {
	var list []token
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		switch {
		case unicode.IsSpace(r):
			at += size
		case closings[r] != "" && quoteEnd(text, at, r, size) > 0:
			end := quoteEnd(text, at, r, size)
			_, last := utf8.DecodeLastRuneInString(text[:end])
			list = append(list, token{text: strings.TrimSpace(text[at+size : end-last]), quoted: true, first: at, end: end})
			at = end
		case strings.ContainsRune(".,;:!?", r):
			list = append(list, token{text: text[at : at+size], low: text[at : at+size], first: at, end: at + size})
			at += size
		default:
			head, _ := l.Elide(text[at:wordEnd(text, at)])
			end := at + len(head)
			list = append(list, token{text: head, low: strings.ToLower(strings.ReplaceAll(head, "’", "'")), first: at, end: end})
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
		if unicode.IsSpace(r) || end > at && strings.ContainsRune(`"“”«»`, r) {
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
func sentences(text string, l *lexicon.Lexicon) []string {
	var list []string
	add := func(s string) {
		if s = strings.Trim(s, " \t\r\n.;!"); s != "" {
			list = append(list, s)
		}
	}
	first, end := 0, 0
	for _, t := range tokens(text, l) {
		if strings.Contains(text[end:t.first], "\n") {
			add(text[first:t.first])
			first = t.first
		}
		if !t.quoted && (t.text == "." || t.text == ";" || t.text == "!") {
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

func newSpan(text string, l *lexicon.Lexicon) span { return span{text, tokens(text, l)} }

func (s span) cut(first, end int) span { return span{s.of, s.list[first:end]} }

// without returns a span without some tokens of its middle.
func (s span) without(first, end int) span {
	return span{s.of, slices.Concat(s.list[:first], s.list[end:])}
}

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

// trim returns a span without marks at its ends, and without the given phrases before it.
func (s span) trim(before [][]string) span {
	for len(s.list) > 0 && !s.list[0].quoted {
		n := s.at(0, before)
		if mark(s.list[0]) {
			n = 1
		}
		if n == 0 {
			break
		}
		s.list = s.list[n:]
	}
	for n := len(s.list); n > 0 && !s.list[n-1].quoted && mark(s.list[n-1]); n = len(s.list) {
		s.list = s.list[:n-1]
	}
	return s
}

func mark(t token) bool { return len(t.text) == 1 && strings.ContainsAny(t.text, ".,;:!?") }

// comma reports whether a comma stands at a place.
func (s span) comma(i int) bool { return i < len(s.list) && !s.list[i].quoted && s.list[i].text == "," }

// at returns the number of tokens of the first of several phrases that stand at a place of a
// span; 0 for none.
func (s span) at(i int, phrases [][]string) int {
	for _, p := range phrases {
		if s.hasAt(i, p) {
			return len(p)
		}
	}
	return 0
}

func (s span) hasAt(i int, phrase []string) bool {
	if i < 0 || i+len(phrase) > len(s.list) {
		return false
	}
	for k, word := range phrase {
		if t := &s.list[i+k]; t.quoted || t.low != word {
			return false
		}
	}
	return true
}

// find returns where the first of several phrases stands, from a place on, and its number of
// tokens; -1 for none.
func (s span) find(from int, phrases [][]string) (int, int) {
	for i := from; i < len(s.list); i++ {
		if n := s.at(i, phrases); n > 0 {
			return i, n
		}
	}
	return -1, 0
}

// value returns the text that a span names: what is quoted if that is all, else its words
// without articles before them.
func (s span) value(articles [][]string) (text string, quoted bool) {
	s = s.trim(articles)
	if len(s.list) == 1 {
		return s.list[0].text, s.list[0].quoted
	}
	if i := s.onlyQuoted(); i >= 0 {
		return s.list[i].text, true
	}
	return s.String(), false
}

// onlyQuoted returns the index of the one quoted text of a span; -1 unless there is just one.
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
