package find

import (
	"slices"
	"strings"
	"unicode"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/word"
	"github.com/slipway-qa/slipway/worker/generation/word/token"
)

// atom is a word that has to be explained.
type atom struct {
	span  intent.Span
	text  string
	lemma string
	// name: it is part of a name, and must be there as it is.
	name bool
	// capital: it is written like a name.
	capital bool
	// noun: it says what kind of thing is meant, and may be explained by the group.
	noun bool
}

// text is a text of the page.
type text struct {
	source  string
	numbers []number
	counted bool
}

// number is a number in a text, at a word of it.
type number struct {
	value float64
	at    int
}

// phrase is what is looked for: words with their spans, prepared, and what was compared.
type phrase struct {
	ix    *index
	atoms []atom
	lang  string
	words *word.Text
	// of says for each prepared word which atom it is of.
	of  []int
	got map[int]match
}

// match is how a phrase meets a text.
type match struct {
	per   []float64 // for each atom, 0 to 1
	hits  int       // atoms that met
	whole bool      // nothing else of meaning is in the text
	badge bool      // nothing else but a number at the end is in the text
	run   bool      // the words that met stand side by side and in order
	at    []int     // the words of the text that met
}

// meets reports whether two matches took the same words of a text.
func (m match) meets(o match) bool {
	for _, i := range m.at {
		for _, j := range o.at {
			if i == j {
				return true
			}
		}
	}
	return false
}

// phrase prepares words to be looked for.
func (ix *index) phrase(atoms []atom, lang string) *phrase {
	p := &phrase{ix: ix, atoms: atoms, lang: lang, got: map[int]match{}}
	if len(atoms) == 0 {
		return p
	}
	var b strings.Builder
	ends := make([]int, len(atoms))
	name := true
	for i, a := range atoms {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(a.text)
		ends[i] = b.Len()
		name = name && a.name
	}
	p.words = ix.comparer(lang).Phrase(b.String(), name)
	p.of = make([]int, len(p.words.Words))
	at := 0
	for i := range p.words.Words {
		for at < len(ends)-1 && p.words.Words[i].From >= ends[at] {
			at++
		}
		p.of[i] = at
	}
	return p
}

// comparer returns what compares a language of the text with the page.
func (ix *index) comparer(lang string) *word.Comparer {
	c := ix.comparers[lang]
	if c == nil {
		c = word.New(lang, ix.words.page, "en")
		ix.comparers[lang] = c
	}
	return c
}

// content is the least weight of words that have a meaning of their own.
const content = 0.5

// counts reports whether two words that match in this way say that a thing was meant: initials
// and what may be a typing error do not.
func counts(k word.Kind) bool { return k != word.Typo && k != word.None }

// match compares the phrase with a text.
func (p *phrase) match(id int) match {
	if id < 0 || p.words == nil {
		return match{per: make([]float64, len(p.atoms))}
	}
	if m, ok := p.got[id]; ok {
		return m
	}
	t := p.ix.comparer(p.lang).Text(p.ix.texts[id].source)
	m := p.fold(word.Match(p.words, t), t)
	p.got[id] = m
	return m
}

// none is the match of a phrase with most texts.
var none = match{}

// fold turns a score into what it says for each atom.
func (p *phrase) fold(s word.Score, t *word.Text) match {
	if len(s.Pairs) == 0 {
		return none
	}
	m := match{per: make([]float64, len(p.atoms)), run: true}
	covered := make([]float64, len(p.words.Words))
	last := -1
	for _, pr := range s.Pairs {
		if !counts(pr.Kind) {
			continue
		}
		for i := pr.Phrase; i < pr.Phrase+pr.Phrases; i++ {
			covered[i] = p.quality(pr, t)
		}
		for i := pr.Text; i < pr.Text+pr.Texts; i++ {
			m.at = append(m.at, i)
		}
		if last >= 0 && !adjacent(t, last, pr.Text) {
			m.run = false
		}
		last = pr.Text + pr.Texts
	}
	p.atomize(&m, covered)
	m.whole = m.hits == len(p.atoms) && covers(t, m.at)
	m.badge = m.hits == len(p.atoms) && !m.whole && badged(t, m.at)
	return m
}

// badged reports whether a text has nothing besides the words at some places but a number at
// its end: "Inbox 3", "Supermarkt · 4".
func badged(t *word.Text, at []int) bool {
	last := len(t.Words) - 1
	return last > 0 && len(token.Values(t.Words[last].Text)) > 0 && covers(t, append(slices.Clone(at), last))
}

// quality is what a match of words counts. A compound whose other part only says what kind of
// thing it is, is its first part: "Betreff" and "Betreffzeile".
func (p *phrase) quality(pr word.Pair, t *word.Text) float64 {
	if pr.Kind != word.Part || pr.Phrases != 1 || pr.Texts != 1 {
		return pr.Kind.Quality()
	}
	a, b := p.words.Words[pr.Phrase].Folded, t.Words[pr.Text].Folded
	if len(a) > len(b) {
		a, b = b, a
	}
	rest, ok := strings.CutPrefix(b, a)
	if !ok {
		return pr.Kind.Quality()
	}
	for _, link := range []string{"", "s", "es", "n", "en"} {
		if head, ok := strings.CutPrefix(rest, link); ok && p.ix.words.kindNoun(head) {
			return 0.86
		}
	}
	return pr.Kind.Quality()
}

// adjacent reports whether nothing of meaning stands between two places of a text.
func adjacent(t *word.Text, from, to int) bool {
	if to < from {
		return false
	}
	for i := from; i < to; i++ {
		if t.Words[i].Weight() >= content {
			return false
		}
	}
	return true
}

// covers reports whether all words of meaning are among those at some places.
func covers(t *word.Text, at []int) bool {
	for i := range t.Words {
		if t.Words[i].Weight() < content || counter(t, i) {
			continue
		}
		found := false
		for _, j := range at {
			found = found || i == j
		}
		if !found {
			return false
		}
	}
	return true
}

// counter reports whether a word is a number in brackets at the end: "Someday (2)".
func counter(t *word.Text, i int) bool {
	w := &t.Words[i]
	return i > 0 && i == len(t.Words)-1 && w.From > 0 && t.Source[w.From-1] == '(' && w.To < len(t.Source) && t.Source[w.To] == ')' &&
		len(token.Values(w.Text)) > 0
}

// atomize sums up the prepared words of each atom: all of meaning must have met.
func (p *phrase) atomize(m *match, covered []float64) {
	sum, n := make([]float64, len(p.atoms)), make([]float64, len(p.atoms))
	for i, c := range covered {
		a, w := p.of[i], p.words.Words[i].Weight()
		if c == 0 && w < content {
			continue
		}
		if c == 0 {
			n[a] = -1e9
		}
		sum[a] += c * w
		n[a] += w
	}
	for i := range p.atoms {
		if n[i] > 0 {
			m.per[i] = sum[i] / n[i]
		}
		if m.per[i] > 0 || n[i] == 0 && p.light(i) {
			m.hits++
		}
	}
	if len(m.at) == 0 {
		m.hits = 0
	}
}

// light reports whether an atom is only a function word, which needs no explaining.
func (p *phrase) light(a int) bool {
	for i := range p.of {
		if p.of[i] == a && p.words.Words[i].Weight() >= content && !p.ix.words.adverb(p.words.Words[i].Folded) {
			return false
		}
	}
	return true
}

// numbersOf returns the numbers of a text with the words that they are.
func (ix *index) numbersOf(id int) []number {
	t := &ix.texts[id]
	if t.counted {
		return t.numbers
	}
	t.counted = true
	for i, w := range ix.comparer("").Text(t.source).Words {
		for _, v := range token.Values(w.Text) {
			t.numbers = append(t.numbers, number{v, i})
		}
	}
	return t.numbers
}

// split cuts a text into folded words.
func split(s string) []string {
	fields := strings.FieldsFunc(token.Fold(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) &&
			r != '_' && r != '\''
	})
	return fields
}

// proper reports whether a word is written like a name.
func proper(w string) bool {
	for _, r := range w {
		return unicode.IsUpper(r)
	}
	return false
}
