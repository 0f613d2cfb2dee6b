package word

import (
	"cmp"
	"slices"
	"strings"
)

// Match compares a phrase with a text.
func Match(p, t *Text) Score {
	if len(p.Words) == 0 || len(t.Words) == 0 {
		return Score{}
	}
	if p.hash == t.hash && p.key == t.key {
		return p.whole(t)
	}
	if !p.vague && !t.vague && !p.features.share(&t.features) {
		return Score{}
	}
	var room [32]Pair
	pairs := candidates(p, t, room[:0])
	if len(pairs) == 0 {
		return Score{}
	}
	return p.score(t, assign(p, t, pairs))
}

// whole is the score of a text that is the same.
func (p *Text) whole(t *Text) Score {
	kind := Folded
	if p.Source == t.Source {
		kind = Exact
	}
	pairs := make([]Pair, len(p.Words))
	for i := range pairs {
		pairs[i] = Pair{i, 1, i, 1, kind}
	}
	return Score{Value: 1, Kind: kind, Phrase: 1, Text: 1, Pairs: pairs}
}

// maxPairs bounds what is looked at of one text.
const maxPairs = 256

// candidates are all matches of a word or span of the phrase with one of the text.
func candidates(p, t *Text, pairs []Pair) []Pair {
	for i := range p.Words {
		w := &p.Words[i]
		for k := range t.Words {
			if kind := compare(w, &t.Words[k], p.linked || t.linked); kind != None {
				pairs = append(pairs, Pair{i, 1, k, 1, kind})
			}
		}
	}
	pairs = joined(p, t, pairs)
	if len(p.spans) > 0 || len(t.spans) > 0 {
		pairs = spans(p, t, pairs)
	}
	if p.linked || t.linked {
		pairs = compounds(p, t, pairs)
	}
	if p.acronyms || t.acronyms {
		pairs = acronyms(p, t, pairs)
	}
	return pairs[:min(len(pairs), maxPairs)]
}

// compare returns how two words match.
func compare(a, b *Word, linked bool) Kind {
	if a.hash == b.hash {
		if a.Text == b.Text {
			return Exact
		}
		return Folded
	}
	if len(a.numbers) > 0 && len(b.numbers) > 0 && sameNumber(a.numbers, b.numbers) {
		return Folded
	}
	if a.digits || b.digits {
		return None
	}
	if a.spelled != 0 && a.spelled == b.hash || b.spelled != 0 && b.spelled == a.hash {
		return Folded
	}
	if a.initial || b.initial {
		if abbreviates(a, b) || abbreviates(b, a) {
			return Initial
		}
	}
	if a.quoted || b.quoted || (a.name || b.name) && a.capital && b.capital {
		return genitive(a, b)
	}
	if a.weight <= lightWeight || b.weight <= lightWeight {
		// Function words are only themselves.
		return None
	}
	if inflected(a, b) {
		return form(a.Folded, b.Folded)
	}
	if a.name || b.name {
		return None
	}
	if kind := meanings(a.concepts, b.concepts); kind != None {
		return kind
	}
	if a.edges[0] != b.edges[0] && a.edges[1] != b.edges[1] {
		return None
	}
	return similar(a, b, linked)
}

// inflected reports whether two words have a lemma in common, or a stem where a language
// does not know the lemma of both.
func inflected(a, b *Word) bool {
	for i := range a.lemmas {
		if a.lemmas[i] != 0 && a.lemmas[i] == b.lemmas[i] {
			return true
		}
		if a.stems[i] != 0 && a.stems[i] == b.stems[i] && (a.lemmas[i] == 0 || b.lemmas[i] == 0) {
			return true
		}
	}
	return false
}

// form tells another number from other inflection: one is the other with a short ending.
func form(a, b string) Kind {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) <= 2 && strings.HasPrefix(b, a[:len(a)-1]) {
		switch b[len(b)-1] {
		case 's', 'n', 'e', 'r', 'x':
			return Plural
		}
	}
	return Stem_
}

// likeliest is how many of the first concepts of a word are what it usually means.
const likeliest = 3

// meanings returns whether two words share a concept, and whether in one language.
func meanings(a, b []meaning) Kind {
	best := None
	for i, x := range a {
		for k, y := range b {
			switch {
			case x.id != y.id:
			case i > 0 && k > 0 || i >= likeliest || k >= likeliest:
				best = max(best, Sense)
			case x.lang == y.lang:
				return Concept
			default:
				best = max(best, Translation)
			}
		}
	}
	return best
}

// genitive is the only inflection of names: "Annas".
func genitive(a, b *Word) Kind {
	if !a.capital || !b.capital || a.known && b.known {
		return None
	}
	x, y := a.Folded, b.Folded
	if len(x) > len(y) {
		x, y = y, x
	}
	if len(x) >= 4 && len(y) == len(x)+1 && y[len(x)] == 's' && y[:len(x)] == x {
		return Stem_
	}
	return None
}

// abbreviates reports whether a is short for b: "A." for "Anne", "dept." for "department".
func abbreviates(a, b *Word) bool {
	if !a.initial || len(b.Folded) <= len(a.Folded) || !strings.HasPrefix(b.Folded, a.Folded) {
		return false
	}
	if len(a.Folded) == 1 {
		return a.capital && b.capital
	}
	return len(a.Folded) >= 3 && len(a.Folded) <= 4 && !a.name
}

// similar compares words that have an edge in common: one error, or parts of a compound.
func similar(a, b *Word, linked bool) Kind {
	if linked {
		if kind := part(a, b); kind != None {
			return kind
		}
	}
	if a.known && b.known || len(a.Folded) < 6 || len(b.Folded) < 6 {
		return None
	}
	if oneError(a.Folded, b.Folded) {
		return Typo
	}
	return None
}

// oneError reports whether one letter more, less, other, or two swapped make b of a.
func oneError(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > 1 {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if len(a) < len(b) {
		return a[i:] == b[i+1:]
	}
	if i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:] {
		return true
	}
	return i < len(a) && a[i+1:] == b[i+1:]
}

// joined finds words that one side writes together: "check box", "e-mail".
func joined(p, t *Text, pairs []Pair) []Pair {
	for i := range p.Words {
		for k := range t.Words {
			if j := t.Words[k].join; j != 0 && j == p.Words[i].hash {
				pairs = append(pairs, Pair{i, 1, k, 2, Folded})
			}
			if j := p.Words[i].join; j != 0 && j == t.Words[k].hash {
				pairs = append(pairs, Pair{i, 2, k, 1, Folded})
			}
		}
	}
	return pairs
}

// spans finds phrases of several words with a concept: "sign in" and "Anmelden".
func spans(p, t *Text, pairs []Pair) []Pair {
	for _, a := range p.spans {
		for k := range t.Words {
			if kind := meanings(a.concepts, t.Words[k].concepts); kind != None && !t.Words[k].name {
				pairs = append(pairs, Pair{a.at, a.n, k, 1, kind})
			}
		}
		for _, b := range t.spans {
			if a.hash == b.hash {
				pairs = append(pairs, Pair{a.at, a.n, b.at, b.n, Folded})
			} else if kind := meanings(a.concepts, b.concepts); kind != None {
				pairs = append(pairs, Pair{a.at, a.n, b.at, b.n, kind})
			}
		}
	}
	for _, b := range t.spans {
		for i := range p.Words {
			if kind := meanings(p.Words[i].concepts, b.concepts); kind != None && !p.Words[i].name {
				pairs = append(pairs, Pair{i, 1, b.at, b.n, kind})
			}
		}
	}
	return pairs
}

// assign takes the best matches, so that no word is used twice; of equal ones those in order.
func assign(p, t *Text, pairs []Pair) []Pair {
	slices.SortStableFunc(pairs, func(a, b Pair) int {
		if c := cmp.Compare(b.worth(p, t), a.worth(p, t)); c != 0 {
			return c
		}
		return cmp.Compare(apart(a), apart(b))
	})
	out := make([]Pair, 0, len(pairs))
	for _, pr := range pairs {
		if !slices.ContainsFunc(out, pr.overlaps) {
			out = append(out, pr)
		}
	}
	slices.SortFunc(out, func(a, b Pair) int { return cmp.Compare(a.Phrase, b.Phrase) })
	return out
}

// worth is how much of both sides a match explains.
func (p Pair) worth(phrase, text *Text) float64 {
	var sum float64
	for i := p.Phrase; i < p.Phrase+p.Phrases; i++ {
		sum += phrase.Words[i].Weight()
	}
	for i := p.Text; i < p.Text+p.Texts; i++ {
		sum += text.Words[i].Weight()
	}
	return sum * p.Kind.Quality()
}

func apart(p Pair) int {
	if p.Text < p.Phrase {
		return p.Phrase - p.Text
	}
	return p.Text - p.Phrase
}

func (p Pair) overlaps(o Pair) bool {
	return p.Phrase < o.Phrase+o.Phrases && o.Phrase < p.Phrase+p.Phrases || p.Text < o.Text+o.Texts && o.Text < p.Text+p.Texts
}

// score adds up what is matched of both sides.
func (p *Text) score(t *Text, pairs []Pair) Score {
	s := Score{Pairs: pairs}
	worst := Exact
	content := false
	for _, pr := range pairs {
		q := pr.Kind.Quality()
		for i := pr.Phrase; i < pr.Phrase+pr.Phrases; i++ {
			s.Phrase += q * p.Words[i].Weight()
			if p.Words[i].weight >= contentWeight {
				worst, content = min(worst, pr.Kind), true
			}
		}
		for i := pr.Text; i < pr.Text+pr.Texts; i++ {
			s.Text += q * t.Words[i].Weight()
		}
	}
	if !content {
		return Score{}
	}
	s.Phrase /= p.total
	s.Text /= t.total
	s.Kind = worst
	s.Value = s.Phrase * (0.6 + 0.4*s.Text)
	return s
}
