package word

import (
	"hash/maphash"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/slipway-qa/slipway/worker/generation/next/lexicon"
	"github.com/slipway-qa/slipway/worker/generation/next/word/token"
)

// Word is a word made ready to be compared.
type Word struct {
	From, To int
	Text     string
	Folded   string
	weight   float32
	hash     uint64
	spelled  uint64
	join     uint64 // of this word and the next one written together
	lemmas   [maxLangs]uint64
	stems    [maxLangs]uint64
	edges    [2]uint32 // the first and the last three letters
	concepts []meaning
	numbers  []float64
	digits   bool   // numbers are written in digits, and nothing but their value counts
	parts    []Word // of a compound
	name     bool   // matches only as it is written
	known    bool
	// generic is set of the head of a compound that only says what kind of control it is:
	// "Kontomenü", "Suchfeld".
	generic bool
	heft    float32 // weight where it is no name
	initial bool    // ends in a full stop: "A.", "dept."
	acronym bool
	capital bool
}

// maxLangs is how many languages a text may be read in: its own and the other side's.
const maxLangs = 3

// contentWeight divides content words from function words.
const contentWeight = 0.5

// Weight is what the word counts: 1 for content, little for articles and the like.
func (w *Word) Weight() float64 { return float64(w.weight) }

// meaning is a concept with the language that the word has it in.
type meaning struct {
	id   lexicon.ConceptID
	lang uint8
}

// span is a phrase of several words with a concept of its own: "sign in".
type span struct {
	at, n    int
	hash     uint64
	concepts []meaning
}

// Text is a phrase or a text made ready to be compared. It is not changed any more, and may
// be used by several goroutines.
type Text struct {
	Source string
	Words  []Word
	key    string // folded, without marks
	hash   uint64
	spans  []span
	total  float64
	// linked is set where a language of the text makes compounds.
	linked   bool
	acronyms bool
	// vague is set where a word may match words that share no feature with it.
	vague    bool
	features features
	initials string
}

var seed = maphash.MakeSeed()

func hash(s string) uint64 {
	if s == "" {
		return 0
	}
	return maphash.String(seed, s) | 1
}

// maxWords bounds what is compared of one text.
const maxWords = 400

// side is one side of a comparison: the languages of both, in the same order, and which are
// its own. What its words mean in the others counts only where its own know no such word.
type side struct {
	langs []*lexicon.Lexicon
	mine  []bool
	mu    sync.Mutex
	known map[string]Word // what was learned of words
}

func newSide(langs, own []string) *side {
	s := &side{known: map[string]Word{}}
	for _, code := range langs {
		s.langs = append(s.langs, lexicon.Language(code))
		s.mine = append(s.mine, slices.Contains(own, code))
	}
	return s
}

// word returns what is compared of a word, whatever stands around it.
func (s *side) word(text string) Word {
	s.mu.Lock()
	w, ok := s.known[text]
	s.mu.Unlock()
	if ok {
		return w
	}
	w.Text = strings.Clone(text)
	w.fill(s.langs, s.mine)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.known) >= maxKept {
		clear(s.known)
	}
	s.known[w.Text] = w
	return w
}

// prepare makes a text ready. A name matches only as it is written: quoted texts, names of
// people.
func (s *side) prepare(text string, name bool) *Text {
	p := &Text{Source: text}
	for _, l := range s.langs {
		p.linked = p.linked || len(l.Links) > 0
	}
	p.cut(text, s.langs)
	for i := range p.Words {
		w := &p.Words[i]
		from, to := w.From, w.To
		*w = s.word(w.Text)
		w.From, w.To = from, to
		w.name = name || w.isName(s.langs, i == 0)
		if w.name {
			w.parts = nil
		}
		w.count(p.after(i))
		p.acronyms = p.acronyms || w.acronym
	}
	p.finish(s.langs, name)
	return p
}

// after is the byte after a word, 0 at the end.
func (p *Text) after(i int) byte {
	if to := p.Words[i].To; to+1 < len(p.Source) {
		return p.Source[to]
	}
	return 0
}

// cut makes the words of a text: hyphens part words, marks are none.
func (p *Text) cut(text string, ls []*lexicon.Lexicon) {
	elides := func(w string) bool {
		return slices.ContainsFunc(ls, func(l *lexicon.Lexicon) bool { return l.Elision(w) })
	}
	for _, t := range token.Split(text, elides) {
		if t.Kind == token.Punct || t.Kind == token.Quote || len(p.Words) >= maxWords {
			continue
		}
		if t.Kind != token.Word || !strings.ContainsAny(t.Text, "-‐‑") {
			p.Words = append(p.Words, Word{From: t.From, To: t.To, Text: t.Text})
			continue
		}
		at := t.From
		for _, part := range strings.FieldsFunc(t.Text, func(r rune) bool { return r == '-' || r == '‐' || r == '‑' }) {
			at += strings.Index(text[at:], part)
			p.Words = append(p.Words, Word{From: at, To: at + len(part), Text: part})
			at += len(part)
		}
	}
}

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
		lexicon.State, lexicon.Quantity, lexicon.Place, lexicon.Noun_, lexicon.Negation, lexicon.Ordinal, lexicon.Weekday, lexicon.Month, lexicon.Day,
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

// finish sets what the whole text is compared by.
func (p *Text) finish(ls []*lexicon.Lexicon, name bool) {
	folded := make([]string, len(p.Words))
	var initials strings.Builder
	for i := range p.Words {
		w := &p.Words[i]
		folded[i] = w.Folded
		p.total += float64(w.weight)
		if w.Folded != "" {
			initials.WriteByte(w.Folded[0])
		}
		if i+1 < len(p.Words) && len(w.numbers) == 0 {
			w.join = hash(w.Folded + token.Fold(p.Words[i+1].Text))
		}
	}
	p.initials = initials.String()
	p.key = strings.Join(folded, " ")
	p.hash = hash(p.key)
	p.even()
	for i := range folded {
		if !name {
			p.addSpan(ls, folded, i)
		}
	}
	p.describe()
}

// even lets function words count where there is nothing else.
func (p *Text) even() {
	for i := range p.Words {
		if p.Words[i].weight >= contentWeight {
			return
		}
	}
	for i := range p.Words {
		p.Words[i].weight = 1
	}
	p.total = float64(len(p.Words))
}

func (p *Text) addSpan(ls []*lexicon.Lexicon, folded []string, i int) {
	s := span{at: i}
	for k, l := range ls {
		cs, n := l.ConceptsAt(folded[i:])
		if n < s.n || n == 0 {
			continue
		}
		if n > s.n {
			s.n, s.concepts = n, nil
		}
		for _, c := range cs {
			s.concepts = append(s.concepts, meaning{c, uint8(k)})
		}
	}
	if s.n > 0 {
		s.hash = hash(strings.Join(folded[i:i+s.n], " "))
		p.spans = append(p.spans, s)
	}
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
