// Package word compares words: what a sentence says with what a page shows. It is the only
// place where two texts are compared. Case, diacritics, quotes, inflection, the same concept
// in the same or another language, compounds, initials and single typing errors are ways to
// match, each with its quality; numbers match by value, names only as they are written.
//
// What is compared often is prepared once, by a Comparer that knows the page. A kind of match says why two words fit, so
// that a caller can refuse a likeness where only sameness will do.
package word

import (
	"github.com/slipway-qa/slipway/worker/generation/lexicon"
	"github.com/slipway-qa/slipway/worker/generation/word/token"
)

// Token is a part of a text.
type Token = token.Token

// Fold returns s as it is compared: lower case, without diacritics, with plain quotes.
func Fold(s string) string { return token.Fold(s) }

// Tokens cuts a text of a language into words, numbers, addresses and marks.
func Tokens(text, lang string) []Token {
	return token.Split(text, lexicon.Language(lang).Elision)
}

// Kind is how two words match, worst first.
type Kind uint8

// The kinds.
const (
	None        Kind = iota
	Initial          // "A." and "Anne", "dept." and "department"
	Part             // the first part of a compound: "Bad" and "Badezimmer"
	Head             // its last part: "Frost" and "Spätfrost"
	Sense            // one concept, but of both words one that is not the likeliest
	Typo             // one letter differs, in words of six and more
	Acronym          // "VPN" and "virtual private network"
	Translation      // one concept, in another language
	Concept          // one concept, in the same language
	Stem_            // another form: "removed" and "remove"
	Plural           // another number
	Folded           // but for case, diacritics, hyphens
	Exact
)

var kindNames = [...]string{
	"none", "initial", "part", "head", "sense", "typo", "acronym", "translation", "concept", "stem", "plural", "fold", "exact",
}

// String returns the name of a kind.
func (k Kind) String() string { return kindNames[k] }

// qualities are how much a match of a kind counts.
var qualities = [...]float64{0, 0.4, 0.4, 0.6, 0.6, 0.7, 0.8, 0.85, 0.85, 0.92, 0.97, 0.99, 1}

// Quality returns how much a match of the kind counts, 0 to 1.
func (k Kind) Quality() float64 { return qualities[k] }

// Pair is a match of words: indices into the words of both sides, and how many of each.
type Pair struct {
	Phrase, Phrases int
	Text, Texts     int
	Kind            Kind
}

// Score is how well a phrase matches a text.
type Score struct {
	// Value is one figure, 0 to 1: 1 is the same text. A phrase that is found whole in a
	// longer text has at least 0.6.
	Value float64
	// Kind is the worst of the matches of content words, None where nothing matches.
	Kind Kind
	// Phrase and Text are how much of each side's content words is matched, by quality.
	Phrase, Text float64
	// Pairs are the matches, in the order of the phrase.
	Pairs []Pair
}

// Matched reports whether all content words of the phrase have a match.
func (s Score) Matched(p *Text) bool { return len(s.Missing(p)) == 0 }

// Missing returns the indices of the content words of the phrase without a match.
func (s Score) Missing(p *Text) []int {
	var out []int
	for i := range p.Words {
		if p.Words[i].Weight() >= contentWeight && !s.covers(i) {
			out = append(out, i)
		}
	}
	return out
}

func (s Score) covers(i int) bool {
	for _, pr := range s.Pairs {
		if i >= pr.Phrase && i < pr.Phrase+pr.Phrases {
			return true
		}
	}
	return false
}
