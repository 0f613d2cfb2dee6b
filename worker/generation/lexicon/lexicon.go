// Package lexicon holds the words of human languages: what verbs do to a page, what nouns
// name, states, measures, units, numbers and the small words of grammar, and concepts that
// words of several languages share. A language is a folder of data (README.md says how it is
// written); a further one needs no code.
//
// Words are looked up as they stand in a text, inflected. A lookup costs a map access.
package lexicon

import (
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/word/token"
)

// Class is the kind of an entry: what file and line it stood on.
type Class string

// The classes.
const (
	Noun_         Class = "noun"
	State         Class = "state"
	Measure       Class = "measure"
	Unit          Class = "unit"
	Number        Class = "number"
	Ordinal       Class = "ordinal"
	Fraction      Class = "fraction"
	Month         Class = "month"
	Weekday       Class = "weekday"
	Clock         Class = "clock" // half past: Value is minutes to the hour beside it
	Day           Class = "day"   // today, tomorrow: Value is days from now
	Article       Class = "article"
	Pronoun       Class = "pronoun"
	Possessive    Class = "possessive"
	Demonstrative Class = "demonstrative"
	Auxiliary     Class = "auxiliary"
	Negation      Class = "negation"
	Conjunction   Class = "conjunction"
	Preposition   Class = "preposition"
	Quantity      Class = "quantity"
	Place         Class = "place"
	Relative      Class = "relative"
	Question      Class = "question"
	There         Class = "there"
	Polite        Class = "polite"
	Stop          Class = "stop"
	Denial        Class = "denial" // verbs that deny the deed behind them: "avoid"
)

// Entry is one sense of a word or phrase.
type Entry struct {
	Class Class
	// Lemma is its base form as the data write it.
	Lemma string
	// Name is which of its class: a kind, a state, a measure, a unit class, the sense of a
	// function word.
	Name string
	// Names are all senses, best first, of prepositions and conjunctions; Name is the first.
	Names []string
	// Form is how it is inflected: "", plural, inflected, comparative, superlative, and of
	// participles that are states the form of the verb.
	Form string
	// Value is the number of numbers, ordinals, months (1), weekdays (0 is Sunday), days, and
	// the factor of units.
	Value float64
	attrs map[string][]string
}

// Attr returns the first value of a key of the entry's line, "" without one.
func (e *Entry) Attr(key string) string {
	if v := e.attrs[key]; len(v) > 0 {
		return v[0]
	}
	return ""
}

// Verb is one sense of a verb.
type Verb struct {
	Lemma     string // "take off", "abhaken", "darse de alta"
	Base      string // the word that is inflected: "take", "haken", "dar"
	Particle  string // "off", "ab", "de alta"; what must be found in the clause too
	Separable bool   // Particle is written with the verb in some forms
	Reflexive bool
	Effect    string
	Property  string   // of effect check
	State     string   // that the target takes
	Need      []string // what the object must be for this sense
	Risk      string   // destroy, pay, send
	Order     int      // of the line in the file: a smaller one is likelier
	frame     map[string][]string
}

// Slot returns which slot a preposition marks: "to", "become"; "" where the frame says none.
func (v *Verb) Slot(preposition string) string { return slotOf(v.frame, preposition) }

// Object returns which slot the direct object takes: "target" unless the frame says another.
func (v *Verb) Object() string {
	if o := v.frame["obj"]; len(o) > 0 {
		return o[0]
	}
	return "target"
}

// Attr returns the first value of a key of the verb's line.
func (v *Verb) Attr(key string) string {
	if a := v.frame[key]; len(a) > 0 {
		return a[0]
	}
	return ""
}

// Attrs returns all values of a key of the verb's line.
func (v *Verb) Attrs(key string) []string { return v.frame[key] }

// VerbForm is a verb as it stood in the text.
type VerbForm struct {
	*Verb
	// Form is imperative, infinitive, third, participle, gerund, past, subjunctive or future.
	Form string
	// Joined: the particle is in the word ("abgehakt"), and is not to be looked for.
	Joined bool
	// Clitics are pronouns written with the verb: "lo" of "guárdalo".
	Clitics []string
}

// Lexicon is the words of one language.
type Lexicon struct {
	Code    string
	Stemmer string
	Links   []string // letters between the parts of compounds; none where words are not joined
	// Capitals is set where all nouns are written with a capital: it makes no name then.
	Capitals bool
	clitics  []string
	elision  map[string]bool
	same     map[string]string // endings that two spellings of a word differ in
	entries  map[string][]Entry
	verbs    map[string][]VerbForm
	inOrder  []*Verb        // as the data have them
	longest  map[string]int // by first word, how many words its longest entry has
	concept  map[string][]ConceptID
	wide     map[string]int // as longest, of concepts
	words    map[ConceptID][]string
	folded   map[string]string // lemma of a form, where there is one
	// revisions are phrases for changes of a test that exists, by what they ask for.
	revisions map[string][][]string
	// refusals are phrases of messages that something was not taken.
	refusals []string
}

// Verbs returns the senses of a verb form, likeliest first: also those with a particle, which
// the caller has to find in the clause unless Joined.
func (l *Lexicon) Verbs(word string) []VerbForm {
	key := token.Lower(word)
	if v := l.verbs[key]; len(v) > 0 {
		return v
	}
	if f := token.Fold(key); f != key {
		if v := l.verbs[f]; len(v) > 0 {
			return v
		}
	}
	return l.enclitic(key)
}

// Plain returns the first verb of an effect that has no particle, of a concept where one is said; nil
// where the language has none.
func (l *Lexicon) Plain(effect, concept string) *Verb {
	for _, v := range l.inOrder {
		if v.Effect == effect && v.Particle == "" && len(v.Need) == 0 && (concept == "" || v.Attr("concept") == concept) {
			return v
		}
	}
	return nil
}

// With returns the first verb of an effect that a particle belongs to ("back" of "go back"); nil without one.
func (l *Lexicon) With(particle, effect string) *Verb {
	p := token.Fold(particle)
	for _, v := range l.inOrder {
		if v.Effect == effect && v.Particle != "" && token.Fold(v.Particle) == p {
			return v
		}
	}
	return nil
}

// At returns the senses of the longest entry that the words begin with, and how many words
// it has; 0 where none.
func (l *Lexicon) At(words []string) ([]Entry, int) {
	if len(words) == 0 {
		return nil, 0
	}
	n := min(max(l.longest[token.Fold(words[0])], 1), len(words))
	for ; n > 0; n-- {
		if e := l.Entries(strings.Join(words[:n], " ")); len(e) > 0 {
			return e, n
		}
	}
	return nil, 0
}

// Entries returns the senses of a word or phrase.
func (l *Lexicon) Entries(phrase string) []Entry {
	key := token.Lower(phrase)
	if e := l.entries[key]; len(e) > 0 {
		return e
	}
	return l.entries[token.Fold(key)]
}

// Entry returns the first sense of a class, nil without one.
func (l *Lexicon) Entry(phrase string, class Class) *Entry {
	es := l.Entries(phrase)
	for i := range es {
		if es[i].Class == class {
			return &es[i]
		}
	}
	return nil
}

// Is reports whether a word or phrase has a sense of a class.
func (l *Lexicon) Is(phrase string, class Class) bool { return l.Entry(phrase, class) != nil }

// Lemma returns the base form of a word, "" where the lexicon has none.
func (l *Lexicon) Lemma(word string) string {
	return l.folded[token.Fold(word)]
}

// Elision reports whether a word ending in an apostrophe is one of the language's ("l'").
func (l *Lexicon) Elision(word string) bool { return l.elision[token.Fold(word)] }

// Known reports whether the lexicon has a word in any form.
func (l *Lexicon) Known(word string) bool {
	f := token.Fold(word)
	return l.folded[f] != "" || len(l.concept[f]) > 0 || len(l.entries[f]) > 0
}

// Spelling returns a folded word in the one of two spellings that words are compared in:
// "organize" for "organise".
func (l *Lexicon) Spelling(word string) string {
	if len(l.same) == 0 {
		return word
	}
	for i := max(0, len(word)-8); i+3 <= len(word); i++ {
		if to, ok := l.same[word[i:]]; ok && (i >= 2 || i == 0) {
			return word[:i] + to
		}
	}
	return word
}

// Parts splits a compound into two words that the lexicon has, with the letters that link
// them left out: "Lieferadresse" is "liefer" and "adresse". It reports false where the
// language makes no compounds, or the word has a meaning as a whole.
func (l *Lexicon) Parts(word string) (first, head string, ok bool) {
	f := token.Fold(word)
	if len(l.Links) == 0 || len(f) < 7 || len(f) > 40 || len(l.concept[f]) > 0 || len(l.verbs[f]) > 0 {
		return "", "", false
	}
	for i := 3; i <= len(f)-4; i++ {
		if head = f[i:]; !l.Known(head) {
			continue
		}
		if first = f[:i]; l.modifier(first) {
			return first, head, true
		}
		for _, link := range l.Links {
			if rest, cut := strings.CutSuffix(first, link); cut && len(rest) >= 3 && l.modifier(rest) {
				return rest, head, true
			}
		}
	}
	return "", "", false
}

// modifier reports whether a word can be the first part of a compound: known, also with an
// ending that compounds drop.
func (l *Lexicon) modifier(word string) bool {
	if len(word) < 3 {
		return false
	}
	return l.Known(word) || len(word) >= 4 && (l.Known(word+"e") || l.Known(word+"n") || l.Known(word+"en"))
}

// ConceptsAt returns the concepts of the longest phrase of two or more words that the words
// begin with, and how many words it has; 0 where none.
func (l *Lexicon) ConceptsAt(folded []string) ([]ConceptID, int) {
	if len(folded) == 0 {
		return nil, 0
	}
	for n := min(l.wide[folded[0]], len(folded)); n > 1; n-- {
		if c := l.concept[strings.Join(folded[:n], " ")]; len(c) > 0 {
			return c, n
		}
	}
	return nil, 0
}
