package intent

import (
	"github.com/slipway-qa/slipway/worker/generation/lexicon"
	"slices"
)

func (r *reader) deedForm(it *item, forms ...string) bool {
	for _, v := range it.verbs {
		if slices.Contains(forms, v.Form) {
			return true
		}
	}
	return false
}

// label reports whether the verb-like word at i is rather the name of what follows: "Email:".
func (r *reader) label(items []item, i int) bool {
	return i+1 < len(items) && items[i+1].has(lexicon.Auxiliary, "be", "must")
}

// claims reports whether a verb has no sense but that something holds.
func (r *reader) claims(it *item) bool {
	for _, v := range it.verbs {
		if v.Effect != string(Check) || v.Property == "" {
			return false
		}
	}
	return len(it.verbs) > 0
}

// asks reports whether a verb asks for a check: "verify", "make sure".
func (r *reader) asks(it *item) bool {
	for _, v := range it.verbs {
		if v.Effect == string(Check) && v.Property == "" {
			return true
		}
	}
	return false
}

// finite returns the main finite verb of a piece, -1 without one. Verbs of relative clauses
// are none.
func (r *reader) finite(items []item, s int) int {
	relative := false
	for i := s; i < len(items); i++ {
		it := &items[i]
		if i > s && (it.has(lexicon.Relative) || it.has(lexicon.Question)) && !it.has(lexicon.Article) && !it.proper(r.lang) &&
			!it.has(lexicon.Conjunction) {
			relative = true
			continue
		}
		if i > s && it.has(lexicon.Relative) && it.has(lexicon.Conjunction, "that") && !r.behindPreposition(items, i+1) {
			relative = true
			continue
		}
		if !r.finiteAt(items, i, s) {
			continue
		}
		if relative {
			relative = false
			continue
		}
		return i
	}
	return -1
}

// finiteAt reports whether items[i] is a finite verb.
func (r *reader) finiteAt(items []item, i, s int) bool {
	it := &items[i]
	if it.name() || it.value != nil || it.mark || i == s && it.has(lexicon.Auxiliary, "will") && r.imperative(items, i) {
		return false
	}
	if it.has(lexicon.There) && !it.has(lexicon.Place) {
		return true
	}
	if it.has(lexicon.Auxiliary, "be", "must", "have", "become", "can", "will", "do", "want") {
		return !it.has(lexicon.Preposition) && !it.is("be", "been", "being", "sein", "être", "avoir", "ser", "estar")
	}
	if i == s && (r.lang == "en" || r.lang != "de" && !r.claims(it)) {
		return false
	}
	check := r.hasEffect(it, Check)
	noun := it.has(lexicon.Noun_)
	for k := range it.verbs {
		v := &it.verbs[k]
		if v.Particle != "" && !r.whole(items, i, v) {
			continue // "save changes" is no "change to"
		}
		if v.Property == string(Contains) && v.Form == "third" && i+1 == len(items) && r.lang == "en" {
			continue // "check Beta features": what holds something says what
		}
		switch v.Form {
		case "past":
			if i > s && !noun && !it.has(lexicon.State) && v.Effect == string(Check) && v.Property != "" && r.lang == "en" &&
				!r.behindPreposition(items, i) {
				return true // "the subtotal went up"
			}
			if i > s && !noun && !it.has(lexicon.State) && i+1 < len(items) && (items[i+1].has(lexicon.Article) ||
				items[i+1].has(lexicon.Possessive)) {
				return true
			}
			if i > s && it.has(lexicon.State) && i+1 < len(items) && items[i+1].has(lexicon.Possessive) {
				return true
			}
			if i > s && v.Effect == string(Check) && v.Property != "" && items[s].has(lexicon.Quantity, "none") &&
				items[s].has(lexicon.Negation) && !behindArticle(items[s:i]) {
				return true // "nothing else changed"
			}
		case "third":
			if v.Property == string(changed) && r.imperative(items, s) || objectOf(items, s, i) {
				continue // "save changes", "turn on mentions"
			}
			if noun && i > s && i+1 == len(items) && items[i-1].proper(r.lang) && v.Effect == string(Check) && !r.imperative(items, s) {
				return true // "Dunmore leads", but not "click Save changes"
			}
			if noun && !(i > s && i+1 < len(items) && (items[i+1].value != nil || items[i+1].has(lexicon.Article) || items[i+1].proper(r.lang))) {
				continue
			}
			if (v.Effect == string(Check) && v.Property != "" || !noun && !check && i > s) && !r.behindPreposition(items, i) {
				return true
			}
		case "infinitive":
			if r.lang == "de" && i+1 == len(items) && !r.claims(it) {
				continue // "nur Offenes zeigen": it says what to do
			}
			plural := v.Effect == string(Check) && v.Property != "" && v.Property != string(Vanishes) && i > s && r.lang != "es" && r.lang != "fr"
			stated := it.has(lexicon.State) && !(i+1 < len(items) && (items[i+1].value != nil || items[i+1].proper(r.lang)))
			if plural && !noun && !r.behindPreposition(items, i) && !stated && v.Particle == "" {
				return true
			}
		}
	}
	return false
}

// weak reports whether a finite verb is no auxiliary and claims nothing: "notes", "places".
func (r *reader) weak(items []item, i int) bool {
	it := &items[i]
	if it.has(lexicon.Auxiliary) || it.has(lexicon.There) {
		return false
	}
	for k := range it.verbs {
		if v := &it.verbs[k]; v.Effect == string(Check) && r.whole(items, i, v) {
			return false
		}
	}
	return true
}

// behindPreposition reports whether a word before items[i] makes a noun of it.
func (r *reader) behindPreposition(items []item, i int) bool {
	if i == 0 {
		return false
	}
	b := &items[i-1]
	if r.lang == "fr" && b.has(lexicon.Article) && b.has(lexicon.Pronoun) && r.deedForm(&items[i], "infinitive") &&
		!items[i].has(lexicon.Noun_) {
		return false // "sans l'envoyer"
	}
	return b.has(lexicon.Article) || b.mainly(lexicon.Preposition) || b.has(lexicon.Ordinal) && b.value == nil ||
		b.has(lexicon.Possessive) || b.mainly(lexicon.Quantity) && items[i].has(lexicon.Noun_)
}

func (r *reader) hasEffect(it *item, e Effect) bool {
	for _, v := range it.verbs {
		if v.Effect == string(e) {
			return true
		}
	}
	return false
}

// claimVerb reports whether a finite verb claims: to be, a modal verb, one of checking.
func (r *reader) claimVerb(items []item, i int) bool {
	it := &items[i]
	if it.has(lexicon.Auxiliary, "be", "must", "become", "will") || it.has(lexicon.There) {
		return true
	}
	if it.has(lexicon.Auxiliary, "have") {
		return !r.participleFollows(items, i)
	}
	if it.has(lexicon.Auxiliary, "can") { // "may be left", "darf nicht erscheinen"
		for j := i + 1; j < len(items); j++ {
			if items[j].has(lexicon.Auxiliary, "be") || r.claims(&items[j]) || r.leaves(&items[j]) {
				return true
			}
		}
	}
	for _, v := range it.verbs {
		if v.Effect == string(Check) && v.Property != "" {
			return true
		}
	}
	return false
}

// participleFollows reports whether a perfect tense stands at i: "has paid", "hat bezahlt".
func (r *reader) participleFollows(items []item, i int) bool {
	for j := i + 1; j < len(items) && !items[j].mark; j++ {
		if r.deedForm(&items[j], "participle", "past") && !r.behindPreposition(items, j) {
			return true
		}
	}
	return false
}
