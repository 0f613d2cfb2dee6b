package plan

import (
	"slices"
	"strings"
)

// The scores of names, from an equal one down. An element whose name is less alike
// than enough is no candidate.
const (
	sameText    = 1.0
	sameCase    = 0.99 // but for case and white space
	sameWords   = 0.97 // but for punctuation
	sameLetters = 0.94 // but for spaces: "sign up", "Signup"
	sameCounted = 0.93 // but for a number behind: "Inbox (3)"
	sameStems   = 0.9  // "item", "Items"
	sameMeaning = 0.86 // "log in", "Sign in"
	sameTyped   = 0.84 // but for a slip in a long word
	enough      = 0.5
)

// wanted is a name that is looked for.
type wanted struct {
	phraseText
	exact bool // a quoted one
	// loose is set where a name may say less than the phrase: the field "Email" for
	// "email address".
	loose bool
	stems []string
	// meanings are further names for the same.
	meanings []phraseText
}

func newWanted(name string, exact bool) *wanted {
	w := &wanted{phraseText: parseText(name), exact: exact}
	for _, word := range content(w.words) {
		w.stems = append(w.stems, stem(word))
	}
	for _, other := range meanings(w.phraseText) {
		w.meanings = append(w.meanings, parseText(other))
	}
	return w
}

// compare returns from 0 to 1 how well a text is the name that is looked for.
func (w *wanted) compare(t *phraseText) float64 {
	switch {
	case w.raw == "" || t.raw == "":
		return 0
	case w.raw == t.raw:
		return sameText
	case w.folded == t.folded:
		return sameCase
	case len(w.words) == 0:
		return w.compareSymbol(t)
	case len(t.words) == 0: // the page has a symbol
		if slices.ContainsFunc(w.meanings, func(m phraseText) bool { return m.folded == t.folded }) {
			return sameMeaning
		}
		return 0
	}
	if slices.Equal(w.words, t.words) && symbols(w.folded) == symbols(t.folded) {
		return sameWords
	}
	best := w.compareWords(t)
	for i := range w.meanings {
		if best >= sameMeaning || w.exact {
			break // what is quoted is said in just these words
		}
		if m := &w.meanings[i]; m.folded == t.folded || len(m.words) > 0 && slices.Equal(m.words, t.words) {
			best = sameMeaning
		}
	}
	return best
}

func (w *wanted) compareWords(t *phraseText) float64 {
	switch {
	case slices.Equal(w.words, t.words):
		return sameWords - 0.02
	case len(w.compact) > 3 && w.compact == t.compact:
		return sameLetters
	case counted(w.words, t):
		return sameCounted
	}
	best := 0.0
	if at := indexOf(t.words, w.words); at >= 0 {
		best = 0.6 + 0.28*share(w.words, t.words)
		if at == 0 {
			best += 0.02
		}
	}
	if w.exact {
		return best
	}
	return max(best, w.compareStems(t))
}

func (w *wanted) compareStems(t *phraseText) float64 {
	theirs := make([]string, 0, len(t.words))
	for _, word := range content(t.words) {
		theirs = append(theirs, stem(word))
	}
	if slices.Equal(w.stems, theirs) {
		return sameStems
	}
	found := 0
	for _, s := range w.stems {
		if slices.Contains(theirs, s) {
			found++
		}
	}
	switch {
	case found == len(w.stems):
		return 0.52 + 0.3*share(w.stems, theirs)
	case found > 0 && allIn(theirs, w.stems) && 2*letterCount(theirs) >= letterCount(w.stems):
		if w.loose {
			return 0.4 + 0.4*share(theirs, w.stems)
		}
		return 0.3 + 0.4*share(theirs, w.stems)
	case w.slip(t):
		return sameTyped
	default:
		return 0
	}
}

// slip reports whether a text has the same words but for one wrong letter in long
// ones.
func (w *wanted) slip(t *phraseText) bool {
	if len(w.words) != len(t.words) {
		return false
	}
	slips := 0
	for i, word := range w.words {
		if word == t.words[i] {
			continue
		}
		slips++
		if len(word) < 6 || len(t.words[i]) < 6 || word[0] != t.words[i][0] || hasDigit(word) || hasDigit(t.words[i]) || !oneEdit(word, t.words[i]) {
			return false
		}
	}
	return slips == 1
}

// compareSymbol compares a name without words, such as + or ×.
func (w *wanted) compareSymbol(t *phraseText) float64 {
	for i := range w.meanings {
		if w.meanings[i].folded == t.folded {
			return sameMeaning
		}
	}
	if slices.Contains(strings.Fields(t.folded), w.folded) {
		return 0.6 + 0.28*float64(len(w.folded))/float64(len(t.folded))
	}
	return 0
}

// symbols returns what stands in a text beside words, as far as it tells names
// apart: C and C++, + and -.
func symbols(folded string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("+-#@$€£%=<>&/", r) {
			return r
		}
		return -1
	}, folded)
}

// counted reports whether a text is the words and a number in brackets, or behind.
func counted(words []string, t *phraseText) bool {
	if len(t.words) != len(words)+1 || !slices.Equal(t.words[:len(words)], words) {
		return false
	}
	last := t.words[len(words)]
	return isNumber(last) && !isNumber(words[len(words)-1]) && strings.HasSuffix(strings.TrimRight(t.folded, ")]} "), last) &&
		strings.ContainsAny(t.folded, "([{")
}

func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789.,") == ""
}

func hasDigit(s string) bool { return strings.ContainsAny(s, "0123456789") }

// indexOf returns where a run of words begins in others; -1 if nowhere.
func indexOf(all, run []string) int {
	for i := 0; i+len(run) <= len(all); i++ {
		if slices.Equal(all[i:i+len(run)], run) {
			return i
		}
	}
	return -1
}

func allIn(some, all []string) bool {
	for _, s := range some {
		if !slices.Contains(all, s) {
			return false
		}
	}
	return len(some) > 0
}

// share returns how much of the letters of a text some of its words are.
func share(some, all []string) float64 {
	a, b := letterCount(some), letterCount(all)
	if b == 0 {
		return 0
	}
	return min(1, float64(a)/float64(b))
}

func letterCount(words []string) (n int) {
	for _, w := range words {
		n += len(w)
	}
	return n
}

// oneEdit reports whether a letter more, less, other, or two exchanged, turns one
// word into the other.
func oneEdit(a, b string) bool {
	if len(a) < len(b) {
		a, b = b, a
	}
	if len(a)-len(b) > 1 {
		return false
	}
	i := 0
	for i < len(b) && a[i] == b[i] {
		i++
	}
	if len(a) > len(b) {
		return a[i+1:] == b[i:]
	}
	if a == b || a[i+1:] == b[i+1:] {
		return true
	}
	return i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
}
