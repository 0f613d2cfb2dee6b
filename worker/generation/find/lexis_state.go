package find

import (
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/lexicon"
	"github.com/slipway-qa/slipway/worker/generation/word/token"
)

// last reports whether a word means the last one.
func (w *words) last(t string) bool {
	for _, class := range []lexicon.Class{lexicon.Quantity, lexicon.Place} {
		if e := w.entry(t, class); e != nil && e.Name == "last" {
			return true
		}
	}
	return false
}

// ordinalIn reports whether a text has an ordinal number: "2nd floor", "second", "2.".
func (w *words) ordinalIn(s string, n int) bool {
	for _, t := range split(s) {
		if e := w.entry(t, lexicon.Ordinal); e != nil && int(e.Value) == n {
			return true
		}
		if n == -1 && w.last(t) {
			return true
		}
		i := 0
		for i < len(t) && t[i] >= '0' && t[i] <= '9' {
			i++
		}
		if i > 0 && len(t)-i <= 3 && t[:i] == strconv.Itoa(n) {
			return true
		}
	}
	return false
}

// stateClass returns the class of a word for a state; the word where it has none.
func (w *words) stateClass(name string) string {
	if e := w.entry(name, lexicon.State); e != nil {
		return e.Name
	}
	return name
}

// sameState reports whether two words are for the same state.
func (w *words) sameState(a, b string) bool {
	if token.Fold(a) == token.Fold(b) || w.stateClass(a) == w.stateClass(b) {
		return true
	}
	similar := [][]string{{"checked", "done", "selected", "on", "read", "paid"}, {"done", "crossed_out"}}
	for _, set := range similar[1:] {
		if slices.Contains(set, w.stateClass(a)) && slices.Contains(set, w.stateClass(b)) {
			return true
		}
	}
	return false
}

// hasState reports whether a short text says a state: "paid", "paid ✓", "Status: paid".
func (w *words) hasState(s, name string) bool {
	class := w.stateClass(name)
	if e := w.entry(s, lexicon.State); e != nil {
		return w.sameState(s, name)
	}
	ts := split(s)
	if len(ts) == 0 || len(ts) > 5 {
		return false
	}
	for i, t := range ts {
		if i > 0 && w.negates(ts[i-1]) {
			continue
		}
		if t == token.Fold(name) {
			return true
		}
		for _, code := range w.langs {
			for _, e := range lexicon.Language(code).Entries(t) {
				if e.Class == lexicon.State && e.Name == class {
					return true
				}
			}
		}
	}
	return false
}

// adverb reports whether a word says when or how much and nothing of a thing: still, already.
func (w *words) adverb(s string) bool {
	e := w.entry(s, lexicon.Quantity)
	return e != nil && slices.Contains([]string{"already", "still", "again", "too", "exactly", "about", "min", "max"}, e.Name)
}

// kindNoun reports whether a word only says of what kind a thing is: field, list, message.
func (w *words) kindNoun(s string) bool {
	e := w.entry(s, lexicon.Noun_)
	return e != nil && e.Name != "thing"
}

// negates reports whether a word denies what follows.
func (w *words) negates(t string) bool { return w.entry(t, lexicon.Negation) != nil }

// truth says what a text is as an answer: 1 yes, -1 no, 0 neither.
func (w *words) truth(s, lang string) int {
	switch f := strings.Trim(token.Fold(s), " .!"); f {
	case "yes", "true", "on", "✓", "✔", "☑", "x", "ja", "an", "si", "oui", "wahr", "vrai", "verdadero", "1":
		return 1
	case "no", "false", "off", "✗", "✘", "✕", "×", "–", "-", "—", "nein", "aus", "non", "0", "none", "keine", "n/a":
		return -1
	default:
		switch w.stateClass(f) {
		case "on", "enabled", "active", "checked":
			return 1
		case "off", "disabled", "inactive", "unchecked":
			return -1
		}
		cs := w.concepts(f, langsOf(lang)...)
		if w.anyOf(cs, "yes", "desired") {
			return 1
		}
		if w.anyOf(cs, "no") {
			return -1
		}
	}
	return 0
}

// falsy reports whether the value of a column says that the record does not have it.
func (w *words) falsy(s string) bool { return strings.TrimSpace(s) == "" || w.truth(s, "") < 0 }

// denied reports whether the words of a phrase stand behind a negation in a text: "no bath".
func (w *words) denied(s string, p *phrase) bool {
	ts := split(s)
	if len(ts) < 2 || len(ts) > 12 || !w.negates(ts[0]) && !w.without(ts[0]) {
		return false
	}
	for _, a := range p.atoms {
		if w.negates(a.text) || w.without(a.text) {
			return false
		}
	}
	return true
}

// without reports whether a word is a preposition that denies.
func (w *words) without(t string) bool {
	e := w.entry(t, lexicon.Preposition)
	return e != nil && e.Name == "without"
}
