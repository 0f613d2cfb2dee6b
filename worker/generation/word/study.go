package word

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/slipway-qa/slipway/worker/generation/lexicon"
	"github.com/slipway-qa/slipway/worker/generation/word/token"
)

// fill sets what a word is compared by.
func (w *Word) fill(ls []*lexicon.Lexicon, mine []bool) {
	w.heft = 1
	for i, l := range ls {
		if mine[i] {
			w.heft = min(w.heft, heft(l, w.Text))
		}
	}
	w.Folded = strings.Trim(token.Fold(possessive(w.Text)), "'")
	w.hash = hash(w.Folded)
	w.numbers = token.Values(w.Text)
	w.digits = len(w.numbers) > 0
	r, _ := utf8.DecodeRuneInString(w.Text)
	w.capital = unicode.IsUpper(r)
	if len(w.numbers) > 0 {
		return
	}
	if s := token.Spelled(w.Text); s != w.Folded {
		w.spelled = hash(s)
	}
	w.acronym = isAcronym(w.Text)
	w.edges = edges(w.Folded)
	w.study(ls, mine)
	w.split(ls)
}

// study learns of its own languages first, and of the others meanings only where those know
// nothing.
func (w *Word) study(ls []*lexicon.Lexicon, mine []bool) {
	for i, l := range ls {
		if mine[i] {
			w.learn(i, l)
		}
	}
	known, concepts, numbers := w.known, w.concepts, w.numbers
	for i, l := range ls {
		if !mine[i] {
			w.learn(i, l)
		}
	}
	if known {
		w.concepts, w.numbers = concepts, numbers
	}
}

// minStem is the length of words from which on a stem says something: those of "Bad" and
// "Baden" are the same.
const minStem = 4

// learn sets what a language knows of a word.
func (w *Word) learn(i int, l *lexicon.Lexicon) {
	w.known = w.known || l.Known(w.Folded)
	w.lemmas[i] = hash(l.Spelling(token.Fold(l.Lemma(w.Folded))))
	if len(w.Folded) >= minStem {
		lower := strings.Trim(possessive(token.Lower(w.Text)), "'")
		w.stems[i] = hash(token.Stem(l.Spelling(lower), l.Stemmer))
	}
	for _, c := range l.Concepts(w.Text) {
		if !slices.ContainsFunc(w.concepts, func(m meaning) bool { return m.id == c }) {
			w.concepts = append(w.concepts, meaning{c, uint8(i)})
		}
	}
	if e := l.Entry(w.Folded, lexicon.Number); e != nil && w.numbers == nil && e.Lemma == w.Folded {
		w.numbers = []float64{e.Value}
	}
}

// isName reports whether a word is a name by its looks: a capital, and no language knows it.
// Where all nouns have one, only short words are taken for names: their stems fall together.
func (w *Word) isName(ls []*lexicon.Lexicon, first bool) bool {
	if w.known || !w.capital {
		return false
	}
	for _, l := range ls {
		if l.Capitals {
			return utf8.RuneCountInString(w.Text) < 6
		}
	}
	return !first || len(w.Folded) < 6
}

func (w *Word) split(ls []*lexicon.Lexicon) {
	if len(w.Text) < 2 || strings.ToLower(w.Text[1:]) != w.Text[1:] {
		return // "OpenDelete" is two texts in one
	}
	for _, l := range ls {
		first, head, ok := l.Parts(w.Text)
		if !ok {
			continue
		}
		w.parts = []Word{{Text: first, weight: 1}, {Text: head, weight: 1}}
		for i := range w.parts {
			w.parts[i].Folded = w.parts[i].Text
			w.parts[i].hash = hash(w.parts[i].Text)
			for k, l := range ls {
				w.parts[i].learn(k, l)
			}
		}
		noun := l.Entry(head, lexicon.Noun_)
		w.parts[1].generic = noun != nil && noun.Name != "thing"
		return
	}
}

// count sets what a word weighs, and whether a full stop makes it an abbreviation.
func (w *Word) count(next byte) {
	w.weight = 1
	w.initial = next == '.' && len(w.numbers) == 0 && len(w.Folded) <= 5
	if w.name || w.initial && w.capital {
		return
	}
	w.weight = w.heft
}

// How much function words count: those that are nothing else, and those that may also name
// something ("on", "off", "last").
const (
	lightWeight = 0.15
	mixedWeight = 0.4
)

// lightClasses are function words; meantClasses are words that name something.
var (
	lightClasses = []lexicon.Class{
		lexicon.Article, lexicon.Pronoun, lexicon.Possessive, lexicon.Demonstrative, lexicon.Auxiliary, lexicon.Conjunction, lexicon.Preposition,
		lexicon.Relative, lexicon.Polite, lexicon.Stop,
	}
	meantClasses = []lexicon.Class{
		lexicon.State, lexicon.Quantity, lexicon.Place, lexicon.Noun_, lexicon.Negation, lexicon.Ordinal, lexicon.Weekday,
		lexicon.Month, lexicon.Day,
	}
)

// heft returns what a word counts in a language.
func heft(l *lexicon.Lexicon, word string) float32 {
	light, meant := false, false
	es := l.Entries(word)
	for i := range es {
		light = light || slices.Contains(lightClasses, es[i].Class)
		meant = meant || slices.Contains(meantClasses, es[i].Class)
	}
	switch {
	case light && meant:
		return mixedWeight
	case light:
		return lightWeight
	}
	return 1
}

// possessive takes the "'s" off a name.
func possessive(s string) string {
	for _, end := range []string{"'s", "’s", "'S"} {
		if rest, ok := strings.CutSuffix(s, end); ok && rest != "" {
			return rest
		}
	}
	return s
}

func isAcronym(s string) bool {
	if len(s) < 2 || len(s) > 5 {
		return false
	}
	for i := 0; i < len(s); i++ {
		if s[i] < 'A' || s[i] > 'Z' {
			return false
		}
	}
	return true
}

// edges are the first and the last three letters of words of four and more: of two words
// with one error between them one edge is the same.
func edges(s string) [2]uint32 {
	if len(s) < 4 {
		return [2]uint32{}
	}
	pack := func(t string) uint32 { return uint32(t[0])<<16 | uint32(t[1])<<8 | uint32(t[2]) }
	return [2]uint32{pack(s), pack(s[len(s)-3:])}
}

// sameNumber reports whether two numbers may have one value.
func sameNumber(a, b []float64) bool {
	for _, x := range a {
		for _, y := range b {
			if x == y || math.Abs(x-y) < 1e-9*math.Abs(x) {
				return true
			}
		}
	}
	return false
}
