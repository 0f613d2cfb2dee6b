package intent

import (
	"github.com/slipway-qa/slipway/worker/generation/lexicon"
)

// sides reads the phrases on both sides of the verb, and says which of them is the subject.
func (a *asserter) sides(pre, post []item) {
	before, after := a.r.chunks(pre, nil), a.r.chunks(post, nil)
	if len(pre) > 1 && pre[0].cap && a.r.imperative(pre, 0) && !pre[0].has(lexicon.Noun_) && !pre[0].has(lexicon.Preposition) {
		before = []phrase{{core: pre, raw: true}}
	}
	before, after = joinMods(before), joinMods(after)
	var nobody []phrase
	for i, p := range before {
		e := placeOf(&p)
		switch {
		case p.prep != nil:
			a.places = append(a.places, p)
		case e != nil && len(before) > 0 && a.r.lang != "en":
			a.where(e, p.span())
		case a.expletive(&p):
			nobody = []phrase{p}
		case i > 0 && p.sep == "" && len(a.subject) > 0 && len(post) == 0:
			a.values = append(a.values, p)
		default:
			a.subject = append(a.subject, p)
		}
	}
	for _, p := range after {
		if p.sep == "(" && p.prep == nil && len(a.values)+len(a.places) > 0 {
			a.remarks = append(a.remarks, p)
			continue
		}
		if p.prep != nil && !p.bounded() && !p.leads("called") {
			a.places = append(a.places, p)
			continue
		}
		a.values = append(a.values, p)
	}
	if len(a.subject) == 0 && len(nobody) > 0 && len(a.values) > 0 && a.ordinal(&a.values[0]) != 0 {
		a.subject = nobody // "sie steht am Ende der Liste"
	}
	if len(a.subject) == 0 && len(a.values) > 0 && (len(pre) == 0 || a.r.lang != "en" || a.there) {
		a.invert()
	}
	a.nobody = nobody
	if len(a.subject) == 0 && len(a.values) == 0 {
		a.subject = nobody
	}
}

// placeOf returns the place that a phrase of one word is, nil where it is none.
func placeOf(p *phrase) *lexicon.Entry {
	if len(p.core) == 1 && p.core[0].mainly(lexicon.Noun_) && !p.core[0].cap && p.core[0].as(lexicon.Place) != nil &&
		p.core[0].value == nil && len(p.mods) == 0 {
		return p.core[0].as(lexicon.Place) // de "rechts", which a folded noun looks like
	}
	if len(p.core) != 1 || p.core[0].has(lexicon.Ordinal) || len(p.core[0].words) > 1 && p.core[0].has(lexicon.Ordinal) ||
		p.core[0].value != nil || len(p.mods) > 0 || p.core[0].has(lexicon.Noun_) || p.core[0].has(lexicon.Pronoun) {
		return nil
	}
	return p.core[0].as(lexicon.Place)
}

// where takes an adverb of place: the position in a list, or where on the page it is.
func (a *asserter) where(e *lexicon.Entry, span Span) {
	a.words = append(a.words, span)
	switch e.Name {
	case "top", "first":
		a.at = 1
	case "bottom", "last":
		a.at = -1
	default:
		a.side = e.Name
	}
}

// joinMods attaches phrases with a preposition to those that they stand behind: "the price of
// X", "the mail from Bo", but no places behind the verb.
func joinMods(list []phrase) []phrase {
	var out []phrase
	for _, p := range list {
		if len(out) > 0 && p.prep != nil && p.sep == "" && !p.bounded() && out[len(out)-1].prep == nil &&
			!p.leads("as", "in", "on", "under", "at", "below", "above") {
			attach(&out[len(out)-1], p)
			continue
		}
		if len(out) > 0 && p.prep != nil && p.sep == "" && p.leads("of") {
			attach(&out[len(out)-1], p)
			continue
		}
		out = append(out, p)
	}
	return out
}

// expletive reports whether a subject stands for nothing: "it says", "es erscheint".
func (a *asserter) expletive(p *phrase) bool {
	return len(p.core) == 1 && len(p.rel) == 0 && len(p.mods) == 0 && p.core[0].has(lexicon.Pronoun, "it") &&
		p.core[0].value == nil && a.impersonal()
}

func (a *asserter) impersonal() bool {
	switch a.property {
	case Shown, Appears, Counts, Vanishes, Unchanged, At:
		return a.r.lang != "en"
	case Is:
		return a.r.lang == "de" && a.countFollows()
	}
	return false
}

// participles reports whether items are states or participles only: "2 gemerkt".
func (a *asserter) participles(items []item) bool {
	for i := range items {
		if items[i].cap || items[i].value != nil || !items[i].has(lexicon.State) && !a.r.deedForm(&items[i], "participle", "past") {
			return false
		}
	}
	return true
}

func onlyArticle(p *phrase) bool {
	return len(p.core) == 1 && p.core[0].has(lexicon.Article) && p.core[0].value == nil && len(p.mods)+len(p.rel) == 0
}

// countFollows reports whether a number and a noun follow the verb: "es sollen 3 Busse sein".
func (a *asserter) countFollows() bool {
	for i := a.c.head + 1; i+1 < len(a.c.items); i++ {
		if a.c.items[i].number && a.c.items[i+1].cap && a.c.items[i+1].value == nil {
			return true
		}
	}
	return false
}

// invert takes the subject from behind the verb: "dann ist Salz die erste Zeile".
func (a *asserter) invert() {
	n := 1
	for n < len(a.values) && (a.values[n].sep == "and" || a.values[n].sep == "or" || a.values[n].sep == ",") && a.values[n].neg == nil {
		n++
	}
	if p := &a.values[0]; n == 1 && len(p.core) > 1 && p.core[0].number && a.participles(p.core[1:]) {
		rest := *p
		rest.core = p.core[1:]
		head := *p
		head.core = p.core[:1]
		a.subject, a.values = []phrase{head}, append([]phrase{rest}, a.values[1:]...)
		return
	}
	if a.states(&a.values[0]) != nil && len(a.values[0].mods) == 0 || onlyArticle(&a.values[0]) {
		return
	}
	only := a.property == Is && !a.there && n == len(a.values) && n == 1 && len(a.places) == 0
	if only && a.values[0].holdsValue() {
		return
	}
	a.subject, a.values = a.values[:n], a.values[n:]
	last := &a.subject[n-1]
	k := len(last.core)
	for a.r.lang == "de" && k > 1 && last.core[k-1].has(lexicon.State) && !last.core[k-1].cap {
		k--
	}
	if k < len(last.core) { // "Zahnpasta zu sehen": the state is no part of the name
		rest := phrase{core: last.core[k:]}
		last.core = last.core[:k]
		a.values = append([]phrase{rest}, a.values...)
	}
}
