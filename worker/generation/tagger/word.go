package tagger

import (
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/lexicon"
)

// word is a token with what the lexicon knows of it.
type word struct {
	intent.Token
	shape string
	// classes are what the word is to grammar: "art", "prep:to", "noun:field", "state:paid".
	classes []string
	// effects are what verbs that the word may be a form of do; those with a particle only where it is near.
	effects []string
	form    string // of the first verb
	// concepts are what controls that are called so do, the same in all languages: "delete", "cart".
	concepts []string
	lemma    string
}

const (
	// near is how many words behind a verb its particle may stand.
	near = 8
	// mostEffects bounds the senses of a verb that are told apart.
	mostEffects = 4
)

// words looks the tokens of a text up.
func words(tokens []intent.Token, lang string) []word {
	lex := lexicon.Language(lang)
	list := make([]word, len(tokens))
	folds := make([]string, len(tokens))
	for i, t := range tokens {
		list[i] = word{Token: t, shape: shape(&t)}
		if t.Kind == intent.TokenWord {
			folds[i] = t.Text
		}
	}
	for i := range list {
		w := &list[i]
		if w.Kind != intent.TokenWord {
			continue
		}
		w.lemma = lex.Lemma(w.Text)
		w.addClasses(lex.Entries(w.Text), "")
		if entries, n := lex.At(folds[i:min(i+6, len(folds))]); n > 1 {
			for k := range n {
				list[i+k].addClasses(entries, "+")
			}
		}
		w.effects, w.form = effects(lex, list[i:])
		for _, c := range lex.Concepts(w.Text) {
			if len(w.concepts) < 3 {
				w.concepts = append(w.concepts, c.Name())
			}
		}
	}
	return list
}

// shape is how a token looks.
func shape(t *intent.Token) string {
	switch {
	case t.Kind != intent.TokenWord:
		return string(t.Kind)
	case t.Cap && len(t.Text) > 1 && strings.ToUpper(t.Text) == t.Text:
		return "UP"
	case t.Cap:
		return "Cap"
	case strings.ContainsAny(t.Text, "0123456789_@/"):
		return "mixed"
	}
	return "low"
}

// addClasses adds what entries of the lexicon say; mark is "+" of a phrase of several words.
func (w *word) addClasses(entries []lexicon.Entry, mark string) {
	for k := range entries {
		e := &entries[k]
		names := e.Names
		if len(names) == 0 {
			names = []string{e.Name}
		}
		for _, name := range names[:min(len(names), 2)] {
			c := mark + string(e.Class) + ":" + name
			if e.Class == lexicon.Number || e.Class == lexicon.Measure {
				c = mark + string(e.Class)
			}
			if !slices.Contains(w.classes, c) && len(w.classes) < 8 {
				w.classes = append(w.classes, c)
			}
		}
	}
}

// effects returns what the first of some words does as a verb, and its form.
func effects(lex *lexicon.Lexicon, list []word) (out []string, form string) {
	for _, v := range lex.Verbs(list[0].Text) {
		whole := v.Particle == "" || v.Joined
		if !whole && !particle(list[1:], v.Particle) {
			continue
		}
		e := v.Effect
		if !whole {
			e += "+"
		}
		if form == "" {
			form = v.Form
		}
		switch i := slices.Index(out, e); {
		case i >= 0 || len(out) == mostEffects:
		case whole:
			out = append(out, e)
		default:
			out = slices.Insert(out, 0, e)
		}
	}
	return out, form
}

// particle reports whether the words of a particle stand near the beginning of a list.
func particle(list []word, phrase string) bool {
	want := strings.Fields(strings.ToLower(phrase))
	for i := 0; i+len(want) <= len(list) && i < near; i++ {
		if list[i].Kind == intent.TokenMark && strings.ContainsAny(list[i].Text, ".;!?") {
			return false
		}
		found := true
		for k, p := range want {
			found = found && list[i+k].Fold == p
		}
		if found {
			return true
		}
	}
	return false
}

// grammatical are the classes of words that carry no content of their own.
var grammatical = []string{"article", "pronoun", "possessive", "demonstrative", "auxiliary", "negation", "conjunction", "preposition",
	"quantity", "relative", "there", "polite", "stop", "question"}

// functional reports whether a word belongs to grammar alone.
func (w *word) functional() bool {
	return slices.ContainsFunc(w.classes, func(c string) bool {
		class, _, _ := strings.Cut(c, ":")
		return slices.Contains(grammatical, class)
	})
}

// names reports whether the lexicon knows a word as a noun, a state, a measure or the like.
func (w *word) names() bool {
	return slices.ContainsFunc(w.classes, func(c string) bool {
		class, _, _ := strings.Cut(c, ":")
		return class == "noun" || class == "state" || class == "measure" || class == "ordinal" || class == "unit" || class == "place"
	})
}
