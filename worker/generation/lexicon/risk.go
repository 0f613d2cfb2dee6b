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
	if e := l.Entries(words[0]); len(e) > 0 && slices.ContainsFunc(e, func(e Entry) bool {
		return e.Class == Preposition ||
			e.Class == Article
	}) {
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

// Removes reports whether a label begins with words that say that something is deleted or thrown
// away, in any language: "Throw away Late frost", "Wirf die Notiz weg". Anywhere: whether they
// stand in it at all, as in a sentence.
func Removes(label string, anywhere bool) bool {
	words := folded(label)
	for _, code := range Codes() {
		l := Language(code)
		for i := range words {
			if i > 0 && !anywhere {
				break
			}
			if l.removes(words[i:]) {
				return true
			}
		}
	}
	return false
}

// removal are the concepts of what is gone then.
var removal = []string{"delete", "remove", "trash", "delete_row", "delete_account"}

// removes reports whether words begin with one that means a removal first of all, or with a verb
// of removing whose particle follows.
func (l *Lexicon) removes(words []string) bool {
	if cs, n := l.ConceptsAt(words); n > 1 {
		return slices.Contains(removal, cs[0].Name())
	}
	if cs := l.Concepts(words[0]); len(cs) > 0 && slices.Contains(removal, cs[0].Name()) {
		return true
	}
	for _, v := range l.Verbs(words[0]) {
		if v.Effect != "remove" || v.Risk != "destroy" || v.Attr("concept") != "delete" || v.Particle == "" || v.Joined {
			continue
		}
		if i := slices.Index(words, token.Fold(v.Particle)); i > 0 && (i == 1 || i == len(words)-1) {
			return true
		}
	}
	return false
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
