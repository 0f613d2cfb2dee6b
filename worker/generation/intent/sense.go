package intent

import (
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/lexicon"
)

// sense is one meaning of the verb of a goal in its clause.
type sense struct {
	lexicon.VerbForm
	// rest are the items of the clause without the verb and its particle.
	before, after []item
	score         float64
	spans         []Span // of the verb and its particle
}

// verbSenses returns what the verb of a clause may mean, likeliest first.
func (r *reader) verbSenses(c *clause) []sense {
	head := &c.items[c.head]
	var list []sense
	seen := map[*lexicon.Verb]bool{}
	for _, v := range head.verbs {
		if seen[v.Verb] {
			continue
		}
		s, ok := r.particle(c, v)
		if !ok || !r.meant(&s) {
			continue
		}
		seen[v.Verb] = true
		s.score += r.fits(&s, c) - 0.25*float64(len(list))
		list = append(list, s)
	}
	r.preferWhole(list)
	for i := 1; i < len(list); i++ {
		for j := i; j > 0 && list[j].score > list[j-1].score; j-- {
			list[j], list[j-1] = list[j-1], list[j]
		}
	}
	return list
}

// meant reports whether a verb that has its sense in one surrounding only stands in that: what is
// taken is taken away out of the cart, or where it is taken out again, and "receive" turns on what
// somebody wants to receive, which unwished reads.
func (r *reader) meant(s *sense) bool {
	switch s.Attr("only") {
	case "wished":
		return false
	case "taken":
		return r.takenOut(s.said())
	}
	return true
}

// preferWhole lowers senses that leave a separable particle of another one in the clause, and
// making something where a definite thing can be opened.
func (r *reader) preferWhole(list []sense) {
	split, opens := false, false
	for i := range list {
		split = split || list[i].Separable && !list[i].Joined
		opens = opens || (list[i].Effect == string(Open) || list[i].Effect == string(Act)) && list[i].Particle == ""
	}
	for i := range list {
		s := &list[i]
		if split && !(s.Separable && !s.Joined) {
			s.score -= 3
		}
		if opens && s.Effect == string(Add) && len(s.after) > 0 && s.after[0].has(lexicon.Article, "definite") {
			s.score -= 2
		}
	}
}

// particle looks for the particle of v in the clause.
func (r *reader) particle(c *clause, v lexicon.VerbForm) (sense, bool) {
	s := sense{VerbForm: v, before: c.items[:c.head], after: c.items[c.head+1:], spans: []Span{c.items[c.head].Span}}
	if v.Reflexive {
		i := reflexiveAt(s.after, s.before)
		if i < 0 && len(v.Clitics) == 0 {
			return s, false
		}
		s.score++
	}
	if v.Particle == "" || v.Joined {
		if v.Joined {
			s.score += 2
		}
		return s, true
	}
	want := strings.Fields(strings.ReplaceAll(fold(v.Particle), "'", "' ")) // "un coup d'œil" has four words in a text
	for i := range s.after {
		n := matchWords(s.after[i:], want)
		if n == 0 {
			if s.after[i].mark && !s.after[i].sign("()") && !v.Separable {
				return s, false
			}
			if i > 0 && len(want) == 1 && v.Effect == string(Remove) && s.after[i].has(lexicon.Preposition, "from") &&
				strings.HasPrefix(s.after[i].fold, v.Particle+" ") {
				s.score += 3
				return s, true // "take X out of the bag": it leads in as well
			}
			if rest, ok := strings.CutPrefix(s.after[i].fold, v.Particle+" "); ok && len(want) == 1 && s.after[i].has(lexicon.Preposition, "until") {
				r.splitParticle(&s, i, rest)
				return s, true
			}
			continue
		}
		next := i + n
		free := next >= len(s.after) || s.after[next].mark || s.after[next].has(lexicon.Quantity, "again", "too", "already") ||
			s.after[next].has(lexicon.Conjunction) || s.after[next].has(lexicon.Preposition) && !s.after[next].has(lexicon.Preposition, "per")
		if (i > 0 || v.Separable) && !free {
			if v.Separable {
				continue
			}
			if !s.after[i].has(lexicon.Preposition, "from") || len(want) > 1 {
				continue
			}
			s.score += 3
			return s, true // "take X off the list": it leads in as well
		}
		s.score += 4 * float64(len(want))
		for _, it := range s.after[i:next] {
			s.spans = append(s.spans, it.Span)
		}
		s.after = append(append([]item{}, s.after[:i]...), s.after[next:]...)
		return s, true
	}
	return s, false
}

// splitParticle takes the particle out of what the lexicon has as one: "up to" behind "turn".
func (r *reader) splitParticle(s *sense, i int, rest string) {
	it := s.after[i]
	s.spans = append(s.spans, Span{it.From, it.To - len(rest) - 1})
	it.From, it.text, it.fold, it.words = it.To-len(rest), rest, rest, nil
	it.entries, it.verbs = r.lex.Entries(rest), r.lex.Verbs(rest)
	s.after = append(append(append([]item{}, s.after[:i]...), it), s.after[i+1:]...)
	s.score += 3
}

func reflexiveAt(after, before []item) int {
	for i := range after {
		if after[i].has(lexicon.Pronoun) && i < 3 {
			return i
		}
	}
	for i := range before {
		if before[i].has(lexicon.Pronoun) {
			return i
		}
	}
	return -1
}

// matchWords returns how many items the words stand in, 0 where they do not.
func matchWords(items []item, words []string) int {
	n := 0
	for len(words) > 0 {
		if n >= len(items) || items[n].value != nil && !items[n].number || items[n].name() {
			return 0
		}
		parts := strings.Fields(items[n].fold)
		if len(parts) == 0 || len(parts) > len(words) {
			return 0
		}
		for k, p := range parts {
			if p != words[k] {
				return 0
			}
		}
		words = words[len(parts):]
		n++
	}
	return n
}
