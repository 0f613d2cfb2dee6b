package word

import (
	"slices"
	"strings"
	"sync"

	"github.com/slipway-qa/slipway/worker/generation/word/token"
)

// Comparer compares phrases of a sentence with texts of a page, and keeps both prepared. It
// may be used by several goroutines.
type Comparer struct {
	phrase, text *side
	mu           sync.Mutex
	kept         map[key]*Text
}

type key struct {
	text       string
	page, name bool
}

// maxKept bounds the prepared texts: about those of twenty large pages.
const maxKept = 50000

// New returns a comparer for a sentence in a language and a page in others; where the
// language of the page is not known it is taken for English or the sentence's.
func New(lang string, page ...string) *Comparer {
	if page = unique(page); len(page) == 0 {
		page = unique([]string{"en", lang})
	}
	langs := unique(append([]string{lang}, page...))
	return &Comparer{phrase: newSide(langs, langs[:1]), text: newSide(langs, page), kept: map[key]*Text{}}
}

func unique(langs []string) []string {
	var out []string
	for _, l := range langs {
		if l, _, _ = strings.Cut(strings.ToLower(l), "-"); l != "" && !slices.Contains(out, l) {
			out = append(out, l)
		}
	}
	return out[:min(len(out), maxLangs)]
}

// Phrase prepares what a sentence says. A name (quoted, or of a person) matches only as it is
// written.
func (c *Comparer) Phrase(phrase string, name bool) *Text {
	return c.prepared(key{phrase, false, name}, c.phrase)
}

// Text prepares what a page shows.
func (c *Comparer) Text(text string) *Text {
	return c.prepared(key{text, true, false}, c.text)
}

func (c *Comparer) prepared(k key, s *side) *Text {
	c.mu.Lock()
	t := c.kept[k]
	c.mu.Unlock()
	if t != nil {
		return t
	}
	t = s.prepare(k.text, k.name)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.kept) >= maxKept {
		c.kept = map[key]*Text{}
	}
	c.kept[k] = t
	return t
}

// Compare compares a phrase with a text of the page.
func (c *Comparer) Compare(phrase, text string) Score {
	return Match(c.Phrase(phrase, false), c.Text(text))
}

// CompareName compares a name with a text of the page.
func (c *Comparer) CompareName(name, text string) Score {
	return Match(c.Phrase(name, true), c.Text(text))
}

// Equal reports whether two texts are the same but for case, diacritics, marks, and how
// numbers are written.
func Equal(a, b string) bool {
	x, y := bare(a), bare(b)
	return len(x) == len(y) && startsWith(y, x)
}

// Contains reports whether a text holds a phrase as it is written: all its words in their
// order, whole, but for case, diacritics, marks, and how numbers are written.
func Contains(text, phrase string) bool {
	t, p := bare(text), bare(phrase)
	if len(p) == 0 {
		return false
	}
	for i := 0; i+len(p) <= len(t); i++ {
		if startsWith(t[i:], p) {
			return true
		}
	}
	return false
}

// bareWord is a word for comparing as written.
type bareWord struct {
	folded, spelled string
	numbers         []float64
}

// bare are the words of a text without marks.
func bare(text string) []bareWord {
	var out []bareWord
	for _, t := range token.Split(text, nil) {
		if t.Kind != token.Punct && t.Kind != token.Quote {
			out = append(out, bareWord{token.Fold(t.Text), token.Spelled(t.Text), token.Values(t.Text)})
		}
	}
	return out
}

func startsWith(t, p []bareWord) bool {
	for i := range p {
		same := t[i].folded == p[i].folded || t[i].spelled != "" && t[i].spelled == p[i].folded || p[i].spelled != "" &&
			p[i].spelled == t[i].folded
		if !same && !sameNumber(t[i].numbers, p[i].numbers) {
			return false
		}
	}
	return true
}
