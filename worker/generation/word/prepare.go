package word

import (
	"hash/maphash"
	"slices"
	"strings"
	"sync"

	"github.com/slipway-qa/slipway/worker/generation/lexicon"
	"github.com/slipway-qa/slipway/worker/generation/word/token"
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
	quoted   bool   // and that is said, not seen by its looks
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
		w.quoted = name
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
