package intent

import (
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/lexicon"
)

// clauseKind is what a clause does in its text.
type clauseKind int

const (
	fragment  clauseKind = iota // no verb of its own: it goes on what stands before or leads in what follows
	goal                        // says to do something
	claim                       // says that something holds
	statement                   // tells something that what follows speaks of ("The member paid her fee: tick it")
)

// clause is a part of a sentence with one verb at most.
type clause struct {
	kind  clauseKind
	items []item
	// head is the verb: of a goal what is to be done, of a claim the finite verb; -1 none.
	head int
	sep  string // what joined it: "", ",", "and", "or", "but", ":", ";", "("
	// after: "then" joined it.
	after bool
	// cond is set of clauses behind "if", "when", "given" and the like.
	cond      string
	forbidden bool // "do not", "without"
	expected  bool // "try to"
	begun     bool // "start to"
	question  bool
	seeks     bool   // it is done to find what follows
	told      []Span // "as an admin I want to": words that say nothing to do
	// that: it is what a verb of checking asks for ("check that ...").
	that   bool
	closes bool // it stands behind ")" and a comma
}

// clauses cuts a sentence into clauses and joins what has no verb to what it belongs to.
func (r *reader) clauses(items []item) []clause {
	pieces := r.purposes(r.glossed(r.pieces(r.attempts(items))))
	for i := range pieces {
		r.classify(&pieces[i])
	}
	for i := 1; i < len(pieces); i++ { // "after turning it on and saving"
		p, before := &pieces[i], &pieces[i-1]
		if p.sep == "and" && p.kind == fragment && before.kind == goal && before.cond != "" && p.cond == "" &&
			r.deedForm(&p.items[0], "gerund", "participle", "past") && !p.items[0].proper(r.lang) {
			p.kind, p.head, p.cond = goal, 0, before.cond
		}
	}
	return r.merge(r.repeated(pieces))
}

// pieces cuts items at marks and conjunctions.
func (r *reader) pieces(items []item) []clause {
	var list []clause
	cur := clause{head: -1}
	depth := 0
	end := func() {
		if len(cur.items) > 0 {
			list = append(list, cur)
		}
	}
	start := func(sep string) {
		if len(cur.items) == 0 && (cur.sep == ":" || cur.sep == ";" || cur.sep == "(") && sep == "," {
			return
		}
		keep := cur
		end()
		cur = clause{head: -1, sep: sep}
		if len(keep.items) == 0 {
			cur.cond = keep.cond
			cur.closes = keep.sep == ")" && sep == ","
			if keep.sep == "(" || sep == "," && keep.sep != ")" || keep.sep == "but" || keep.sep == ";" || keep.sep == ":" {
				cur.sep = keep.sep
			}
		}
	}
	for i := range items {
		it := &items[i]
		switch {
		case it.sign("("):
			start("(")
			depth++
		case it.sign(")"):
			start(")")
			depth = max(0, depth-1)
		case it.sign(",;:"):
			start(it.text)
		case it.sign("-–—"):
			start(";")
		case it.sign("¡¿"):
		case it.mark:
			cur.items = append(cur.items, *it)
		case len(cur.items) > 0 && r.withoutDeed(items, i):
			start("and")
			cur.items = append(cur.items, *it)
		case r.coordinates(items, i):
			start(conjunctionName(it))
			if cur.sep == "then" {
				cur.sep, cur.after = "and", true
			}
		case r.subordinates(items, i, len(cur.items)):
			name := conjunctionName(it)
			if r.checkedBefore(items, i) {
				name = "that"
			}
			if len(cur.items) > 0 || name == "that" {
				start(name)
			}
			cur.cond = name
			if name == "that" {
				cur.that, cur.cond = true, ""
			}
		default:
			cur.items = append(cur.items, *it)
		}
	}
	end()
	return list
}

// coordinates reports whether items[i] may stand between clauses.
func (r *reader) coordinates(items []item, i int) bool {
	it := &items[i]
	if it.proper(r.lang) || it.value != nil || it.has(lexicon.Preposition) && !it.mainly(lexicon.Conjunction) {
		return false
	}
	if it.has(lexicon.Conjunction, "and", "or", "but") {
		return !it.has(lexicon.Quantity) && !r.within(items, i)
	}
	if r.behindPreposition(items, i) {
		return false
	}
	if i > 0 && items[i-1].has(lexicon.Auxiliary) {
		return false
	}
	after := i > 0 && (items[i-1].mark || items[i-1].has(lexicon.Conjunction)) || it.words != nil && r.finite(upToMark(items, i+1), 0) >= 0
	return it.has(lexicon.Conjunction, "then") && i > 0 && !it.has(lexicon.Preposition) &&
		(after || r.imperative(items, i+1) || it.words != nil && namesNext(items, i+1))
}

// within reports whether "but" at i stands within a deed: de "geh aber nur", "schick es aber nicht
// ab". It does not where another deed follows: "öffne es, aber lösche es nicht" without its comma.
func (r *reader) within(items []item, i int) bool {
	if r.lang != "de" || !items[i].has(lexicon.Conjunction, "but") {
		return false
	}
	for j := i + 1; j < len(items) && !items[j].mark && !items[j].has(lexicon.Preposition); j++ {
		if !items[j].cap && r.deedForm(&items[j], "imperative") && r.imperative(items, j) {
			return false
		}
	}
	return i > 0 && r.imperative(items, i-1) || i > 1 && items[i-1].has(lexicon.Pronoun) && r.imperative(items, i-2)
}

// namesNext reports whether a quoted name stands at i, or behind a preposition there.
func namesNext(items []item, i int) bool {
	if i < len(items) && items[i].has(lexicon.Preposition) {
		i++
	}
	return i < len(items) && items[i].quoted()
}

// upToMark returns the items from i to the next mark.
func upToMark(items []item, i int) []item {
	j := i
	for j < len(items) && !items[j].mark {
		j++
	}
	return items[min(i, j):j]
}

// withoutDeed reports whether "without" and a verb stand at i: "without saving".
func (r *reader) withoutDeed(items []item, i int) bool {
	it := &items[i]
	if !it.has(lexicon.Preposition, "without") && !it.has(lexicon.Conjunction, "without") || it.proper(r.lang) {
		return false
	}
	for j := i + 1; j < len(items) && !items[j].mark; j++ {
		if r.lang == "de" && !strings.HasSuffix(items[j-1].fold, "zu") {
			continue
		}
		if r.deedForm(&items[j], "infinitive", "gerund") && !items[j].cap && (r.lang == "de" || !r.behindPreposition(items[i+1:], j-i-1)) {
			return true
		}
		if items[j].has(lexicon.Auxiliary, "have") && j+1 < len(items) && r.deedForm(&items[j+1], "participle") && r.lang != "de" {
			return true
		}
		if r.lang != "de" && j > i+2 {
			return false
		}
	}
	return false
}

// subordinates reports whether items[i] begins a clause of condition or of content.
func (r *reader) subordinates(items []item, i, before int) bool {
	it := &items[i]
	if it.has(lexicon.Conjunction, "if", "that") && r.checkedBefore(items, i) {
		return true
	}
	if it.has(lexicon.Conjunction, "that") {
		return i > 0 && before > 0 && (r.asks(&items[i-1]) || r.settlesThat(items, i)) || before == 0 && i > 0 &&
			items[i-1].sign(",") && !it.has(lexicon.Relative)
	}
	if it.has(lexicon.Auxiliary) || it.value != nil || it.proper(r.lang) {
		return false
	}
	if it.has(lexicon.Pronoun, "se") && i+1 < len(items) && !items[i+1].has(lexicon.Pronoun) {
		return false // fr "s'affiche", but "s'il reste"
	}
	if e := it.as(lexicon.Preposition); it.has(lexicon.Conjunction, "before", "after", "while", "because") || e != nil &&
		e.Name == "until" && it.has(lexicon.Conjunction) {
		return before > 0 && r.clauseFollows(items, i+1) || r.deedFollows(items, i)
	}
	if it.has(lexicon.Preposition) && !it.has(lexicon.Conjunction, "given") {
		return false
	}
	return it.has(lexicon.Conjunction, "if", "unless", "when", "given") && i+1 < len(items) &&
		(before == 0 || !it.has(lexicon.Conjunction, "given"))
}

// settlesThat reports whether a verb of ticking stands before "that", and behind it what is
// ticked: "tick that it is my first visit".
func (r *reader) settlesThat(items []item, i int) bool {
	ticks := false
	for _, v := range items[i-1].verbs {
		switch Effect(v.Effect) {
		case Complete, Toggle, Choose, Select, Confirm:
			ticks = ticks || v.Form == "imperative" || v.Form == "infinitive"
		}
	}
	for j := i + 1; ticks && j < len(items) && !items[j].mark; j++ {
		if items[j].has(lexicon.Auxiliary, "be", "have") {
			return true
		}
	}
	return false
}

// checkedBefore reports whether a verb of checking stands before a conjunction: "check
// whether", "schau nach, ob".
func (r *reader) checkedBefore(items []item, i int) bool {
	for j := i - 1; j >= 0 && j > i-4; j-- {
		if r.asks(&items[j]) {
			return true
		}
		if !items[j].mark && items[j].content() {
			return false
		}
	}
	return false
}

// deedFollows reports whether behind what must hold stands after which deed it does: "there must be 3
// after you delete Bo", "after saving".
func (r *reader) deedFollows(items []item, i int) bool {
	if i+1 >= len(items) || !items[i].has(lexicon.Conjunction, "after") ||
		!slices.ContainsFunc(items[:i], func(it item) bool { return it.has(lexicon.Auxiliary, "must") || it.has(lexicon.There) }) {
		return false
	}
	return r.doer(&items[i+1]) || !items[i+1].has(lexicon.Noun_) && r.deedForm(&items[i+1], "gerund", "infinitive", "participle")
}

// doer reports whether a word is who does the test: "you", "man".
func (r *reader) doer(it *item) bool {
	return it.has(lexicon.Pronoun, "i") && !it.has(lexicon.Pronoun, "it", "them", "he") && !it.number
}

// deedsFirst puts the deed before what holds after it: "3 rows must be left once you have deleted Bo".
func deedsFirst(list []clause) []clause {
	from := slices.IndexFunc(list, func(c clause) bool { return c.kind != claim || c.that || c.cond != "" })
	if from < 1 || list[from].kind != goal || list[from].forbidden {
		return list
	}
	switch list[from].cond {
	case "when", "after", "if":
	default:
		return list
	}
	to := from + 1
	for to < len(list) && list[to].kind == goal && !list[to].after {
		to++
	}
	return slices.Concat(list[from:to], list[:from], list[to:])
}

// clauseFollows reports whether a finite verb stands before the next mark.
func (r *reader) clauseFollows(items []item, i int) bool {
	for j := i; j < len(items) && !items[j].mark && !items[j].has(lexicon.Conjunction, "and", "that"); j++ {
		if items[j].has(lexicon.Auxiliary, "be", "must", "have") && j > i {
			return true
		}
	}
	return false
}
