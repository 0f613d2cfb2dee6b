package find

import "github.com/slipway-qa/slipway/worker/generation/intent"

// thingNoun proves the noun of the description by a thing that is no record: by its kind, or
// as one of the words of its name. Named is the least that the kind counts then.
func (s *searcher) thingNoun(w What, index, node int, refs []ref, pr proof, n int) (out proof, named float64) {
	if len(s.noun.atoms) == 0 {
		return pr, 0
	}
	a := s.noun.atoms[0]
	byName := s.noun.explain(refs)
	if s.d.Kind != "" && index >= 0 && !s.owned && fitsKind(s, w, node, index, s.d.Kind) {
		return join(pr, n, proof{score: 1, used: []Use{{a.span, "kind"}}, own: byName.own && n == 0}, 1), 0
	}
	if len(byName.used) > 0 {
		p := s.both().explain(refs)
		if n == 0 && s.d.Kind != "" && !s.noun.wholeOf(refs) {
			p.score *= 0.75 // "the text" and a field "Text to display"
		}
		if n == 0 && s.d.Ordinal != 0 && w == Container {
			p.score *= 0.8 // the part "Questions" is none of them
		}
		return p, s.rank(w)
	}
	if n > 0 && len(pr.missing) == 0 && pr.own && s.mayBe(w, index) {
		// "the newsletter option", "the dark theme": the noun says what it is, nothing denies it.
		score, by := 0.75, "kind of thing"
		if s.anyOf(s.ix.page()) {
			score = 0.85
		}
		if w == Control && opened[s.d.Kind] {
			named = openerCounts // "the settings dialog" by the button Settings
		}
		return join(pr, n, proof{score: score, used: []Use{{a.span, by}}}, 1), named
	}
	pr.missing = append(pr.missing, a.span)
	pr.score *= 0.5
	return pr, 0
}

// opened are the kinds of what a control opens: where none of them is seen, it is called as what
// opens it, which counts openerCounts.
var opened = map[intent.Kind]bool{intent.Dialog: true, intent.Menu: true, intent.Form: true, intent.WindowKind: true}

const openerCounts = 0.85

// mayBe reports whether a thing that is called as the description says may be what its noun says, where
// nothing says so: no button is the dialog that a claim speaks of, and no row of a list a message.
func (s *searcher) mayBe(w What, index int) bool {
	switch {
	case s.owned:
		return false
	case w == Control && (opened[s.d.Kind] || s.d.Kind == intent.List || s.d.Kind == intent.Table):
		return len(s.w.Kinds) > 0 && s.w.Kinds[0] == Control
	case w == Line && index >= 0:
		return s.m.Lines[index].Record < 0 || len(s.w.Kinds) > 0 || !opened[s.d.Kind] && s.d.Kind != intent.Message
	}
	return true
}

// wholeOf reports whether one of the names of a thing is the phrase and nothing else.
func (p *phrase) wholeOf(refs []ref) bool {
	for _, r := range refs {
		if r.role == title && p.match(r.text).whole {
			return true
		}
	}
	return false
}
