package intent

import (
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/lexicon"
)

// asserter reads what a clause claims.
type asserter struct {
	r          *reader
	c          *clause
	property   Property
	not        bool
	none       bool // "no task", "aucune tâche"
	only       bool
	change     string // again, still, more: words that say that it was otherwise before
	there      bool
	subject    []phrase
	values     []phrase // of the complement, without a preposition
	places     []phrase
	remarks    []phrase      // in parentheses: what must be shown too
	nobody     []phrase      // "it", where it stands for nothing
	side       string        // left, right: where it must stand
	op         string        // ends, starts
	found      bool          // the predicate has a verb of its own
	says       bool          // what follows is read as it stands: "says free of charge"
	verb       *lexicon.Verb // whose property it is; nil without one
	at         int           // the position that the verb itself says: "leads", "comes last"
	properties []Property    // that the verb may mean
	words      []Span        // of the verb and what was taken with it
}

// claims_ reads the claims of a clause whose finite verb is its head.
func (r *reader) claims_(c *clause) []Claim {
	a := &asserter{r: r, c: c, property: Is}
	pre, post := a.predicate()
	if a.says && a.property == Is {
		post = a.literal(post)
	}
	a.sides(pre, post)
	return a.decide()
}

// predicate finds the property by the verbs of the clause, takes out the verbs and adverbs,
// and returns what stands before and behind the finite verb.
func (a *asserter) predicate() (pre, post []item) {
	items := a.c.items
	drop := make([]bool, len(items))
	head := &items[a.c.head]
	drop[a.c.head] = true
	a.there = head.has(lexicon.There) && !head.has(lexicon.Place)
	a.there = a.there || a.exist()
	if head.has(lexicon.Negation) {
		a.not = true
	}
	a.nothingBut(items, drop)
	if e := head.as(lexicon.State); e != nil && !head.has(lexicon.Auxiliary) && len(head.verbs) == 0 {
		a.property = Shown
		a.not = e.Name == "hidden" || e.Name == "gone"
		drop[a.c.head] = true
	}
	found := a.verbs(items, drop)
	a.found = found
	if !found && !a.there && head.has(lexicon.Auxiliary, "become") {
		a.property = Is
	}
	for i := range items {
		it := &items[i]
		if drop[i] || it.mark || it.value != nil || it.name() && !it.has(lexicon.Pronoun) {
			continue
		}
		drop[i] = a.adverb(items, i)
	}
	for i := range items {
		switch {
		case drop[i]:
			a.words = append(a.words, items[i].Span)
		case i < a.c.head:
			pre = append(pre, items[i])
		default:
			post = append(post, items[i])
		}
	}
	return pre, post
}

// exist reports whether a number of things must be there: de "dort müssen noch drei Karten sein".
func (a *asserter) exist() bool {
	items, last := a.c.items, len(a.c.items)-1
	if a.r.lang != "de" || !items[a.c.head].has(lexicon.Auxiliary, "must") || !items[last].is("sein") {
		return false
	}
	at := a.c.head + 1
	for at < last && items[at].has(lexicon.Quantity, "still", "exactly") {
		at++
	}
	if at+1 >= last || !items[at].number || slices.ContainsFunc(items[:a.c.head], func(it item) bool { return it.content() }) {
		return false
	}
	return !slices.ContainsFunc(items[at+1:last], func(it item) bool { return it.has(lexicon.State) || it.value != nil || it.mark })
}

// literal makes one value of what stands behind "says" without quotes.
func (a *asserter) literal(post []item) []item {
	if len(post) > 1 && post[0].has(lexicon.Conjunction, "that") && !post[0].cap { // "says that it is late"
		a.words = append(a.words, post[0].Span)
		post = post[1:]
	}
	for i := range post {
		if post[i].quoted() || post[i].mark {
			return post
		}
	}
	if len(post) == 0 || len(a.subjectBefore()) == 0 {
		return post
	}
	from, to := post[0].From, post[len(post)-1].To
	text := a.r.source[from:to]
	return []item{{Span: Span{from, to}, text: text, fold: fold(text), cap: true, value: &Value{Span: Span{from, to}, Text: text}}}
}

// subjectBefore are the items before the finite verb.
func (a *asserter) subjectBefore() []item { return a.c.items[:a.c.head] }

// verbs finds the sense of the predicate, marks its words, and reports whether it found one.
func (a *asserter) verbs(items []item, drop []bool) bool {
	best, bestLen := -1, -1
	var bestVerb *lexicon.Verb
	var spans []int
	for i := range items {
		it := &items[i]
		final := a.r.lang == "de" && a.c.head+1 == len(items) && i+1 == a.c.head
		if i != a.c.head && (i < a.c.head && !final || it.name() || it.value != nil || a.r.behindPreposition(items, i)) {
			continue
		}
		if i != a.c.head && it.has(lexicon.Auxiliary, "be", "have", "must", "become", "can", "do") {
			drop[i] = true
		}
		for k := range it.verbs {
			v := &it.verbs[k]
			if v.Effect != string(Check) || v.Property == "" {
				continue
			}
			if a.there && v.Property == string(Vanishes) {
				continue // "there should be 3 rows left"
			}
			at, n := particleAt(items, i, v)
			if v.Property == string(At) && n > 0 && at != i+1 && at+n != i {
				continue // "debe ser X y el último Y": no "ser el último"
			}
			if v.Property == string(Is) && n > 0 && at > i+1 && at+n < len(items) && items[at].has(lexicon.Preposition) {
				continue // es "quedan tres notas en la lista": no "quedar en"
			}
			if n < 0 || v.Particle == "" && v.Form == "participle" && i != a.c.head && v.Property != string(Shown) &&
				v.Property != string(Contains) && v.Property != string(changed) {
				continue
			}
			size := n*2 + 1
			if i == best && size == bestLen || best < 0 {
				a.properties = append(a.properties, Property(v.Property))
			}
			auxiliary := size == bestLen && best == a.c.head && v.Property == string(changed) // "has increased"
			if size > bestLen || auxiliary || size == bestLen && best != a.c.head && i == a.c.head && bestVerb.Property != string(changed) {
				best, bestLen, bestVerb = i, size, v.Verb
				spans = append(spans[:0], i)
				for j := at; j < at+n; j++ {
					spans = append(spans, j)
				}
			}
		}
	}
	if best < 0 {
		return a.perceived(items, drop)
	}
	for _, i := range spans {
		drop[i] = true
	}
	a.property, a.verb = Property(bestVerb.Property), bestVerb
	if bestVerb.Reflexive {
		dropReflexive(items, drop)
	}
	a.says = bestVerb.Attr("says") == "text"
	a.op = bestVerb.Attr("op")
	if a.property == At {
		a.at = 1
		if bestVerb.Attr("place") == "last" {
			a.at = -1
		}
	}
	if bestVerb.Base == "be" && bestVerb.Particle == "" {
		a.property = Is
	}
	return true
}

// nothingBut reads "ne reste que X": only X.
func (a *asserter) nothingBut(items []item, drop []bool) {
	if a.r.lang != "fr" && a.r.lang != "es" {
		return
	}
	neg := -1
	for i := range items {
		it := &items[i]
		if it.has(lexicon.Negation) && neg < 0 && it.value == nil {
			neg = i
		}
		if neg >= 0 && i > a.c.head && it.has(lexicon.Conjunction, "that") && a.r.finite(items[i+1:], 0) < 0 {
			drop[neg], drop[i] = true, true
			a.only = true
			return
		}
	}
}

// perceived reads "I should see X" and "on doit lire X": it must be shown.
func (a *asserter) perceived(items []item, drop []bool) bool {
	for i := a.c.head + 1; i < len(items); i++ {
		if a.r.deedForm(&items[i], "infinitive") && (a.r.asks(&items[i]) || a.r.hasEffect(&items[i], Open) || a.r.hasEffect(&items[i], Search)) &&
			!items[i].name() && !items[i].has(lexicon.Noun_) {
			drop[i] = true
			a.property = Shown
			return true
		}
	}
	return false
}

// particleAt finds the particle of v behind items[i]: where, and of how many items; -1 where
// it is missing.
func particleAt(items []item, i int, v *lexicon.VerbForm) (int, int) {
	if v.Particle == "" || v.Joined {
		return i, 0
	}
	want := strings.Fields(fold(v.Particle))
	for j := i + 1; j < len(items); j++ {
		if n := matchWords(items[j:], want); n > 0 {
			return j, n
		}
	}
	for j := i - 1; j >= 0; j-- {
		if n := matchWords(items[j:], want); n > 0 && j+n == i {
			return j, n
		}
	}
	return 0, -1
}

// adverb takes a word that changes the whole claim, and reports whether it is one.
func (a *asserter) adverb(items []item, i int) bool {
	it := &items[i]
	switch {
	case it.has(lexicon.Negation) && !it.has(lexicon.Quantity, "still") && !a.contrast(items, i):
		a.not, a.none = true, a.none || it.has(lexicon.Quantity, "none")
		return true
	case it.has(lexicon.Quantity, "none") && !it.has(lexicon.Negation):
		a.not, a.none = true, true
		return true
	case it.has(lexicon.Quantity, "only") && !it.has(lexicon.Pronoun):
		a.only = true
		return true
	case it.has(lexicon.Quantity, "exactly"), it.has(lexicon.Day, "now") && i != a.c.head, it.has(lexicon.Quantity, "anymore"), it.has(lexicon.Place, "here") &&
		!it.has(lexicon.Noun_):
		return true
	case it.has(lexicon.Quantity, "again", "still", "already", "too"):
		a.change = it.as(lexicon.Quantity).Name
		return true
	case it.has(lexicon.Conjunction, "then") && !it.has(lexicon.Noun_):
		return !(it.has(lexicon.Place) && i+1 < len(items) && (items[i+1].has(lexicon.Article) || items[i+1].has(lexicon.Preposition, "of")))
	case it.has(lexicon.Polite) && len(it.verbs) == 0, it.mainly(lexicon.Stop):
		return !it.has(lexicon.Preposition) && !it.has(lexicon.Article)
	}
	return false
}

// contrast reports whether a negation belongs to one member of a list only: "A but not C",
// "A, B, not C".
func (a *asserter) contrast(items []item, i int) bool {
	if i == 0 || i+1 >= len(items) {
		return false
	}
	before := &items[i-1]
	return before.has(lexicon.Conjunction, "but") || (before.has(lexicon.Conjunction, "and") || before.sign(",;(")) && i > a.c.head
}

// hollow reports whether a claim says nothing that could be wrong: "es stimmt" is no more than that
// it is.
func (c *Claim) hollow() bool {
	if c.Property != Is || len(c.Values)+len(c.Be) > 0 || c.Where != nil || len(c.Subject) != 1 {
		return false
	}
	d := &c.Subject[0]
	return d.Pronoun && len(d.Words)+len(d.State) == 0 && d.Noun == "" && d.Of == nil && d.Extreme == nil && d.Ordinal == 0 &&
		len(d.Compare) == 0
}
