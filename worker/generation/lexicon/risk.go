package lexicon

import (
	"slices"

	"github.com/slipway-qa/slipway/worker/generation/word/token"
)

// Risk returns what cannot be taken back when a control with a label is used: "destroy",
// "pay", "send", or "" where nothing says so. The label may be in any language.
func Risk(label string) string {
	words := folded(label)
	for _, code := range Codes() {
		l := Language(code)
		for i := range words {
			if risk := l.risk(words[i:]); risk != "" {
				return risk
			}
		}
	}
	return ""
}

// risk returns the risk of the phrase that the words begin with, or of the first word. Only
// what a word usually means counts.
func (l *Lexicon) risk(words []string) string {
	if cs, n := l.ConceptsAt(words); n > 0 {
		return riskOf(cs)
	}
	if e := l.Entries(words[0]); len(e) > 0 && slices.ContainsFunc(e, func(e Entry) bool { return e.Class == Preposition || e.Class == Article }) {
		return ""
	}
	return riskOf(l.Concepts(words[0]))
}

func riskOf(cs []ConceptID) string {
	for _, c := range cs[:min(len(cs), 2)] {
		if risk := all().risks[c]; risk != "" {
			return risk
		}
	}
	return ""
}

// folded are the words of a text as they are compared.
func folded(text string) []string {
	var out []string
	for _, t := range token.Split(text, nil) {
		if t.Kind == token.Word && len(out) < maxDetected {
			out = append(out, token.Fold(t.Text))
		}
	}
	return out
}
