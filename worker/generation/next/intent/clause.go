package intent

import (
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/next/lexicon"
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
	// cond is set of clauses behind "if", "when", "given" and the like.
	cond      string
	forbidden bool // "do not", "without"
	expected  bool // "try to"
	begun     bool // "start to"
	question  bool
	told      []Span // "as an admin I want to": words that say nothing to do
	// that: it is what a verb of checking asks for ("check that ...").
	that bool
	done bool
}

// clauses cuts a sentence into clauses and joins what has no verb to what it belongs to.
func (r *reader) clauses(items []item) []clause {
	pieces := r.glossed(r.pieces(items))
	for i := range pieces {
		r.classify(&pieces[i])
	}
	return r.merge(pieces)
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
			if keep.sep == "(" || sep == "," || keep.sep == "but" || keep.sep == ";" || keep.sep == ":" {
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
		case r.joins(items, i):
			start(conjunctionName(it))
			if cur.sep == "then" {
				cur.sep = "and"
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

// joins reports whether items[i] may stand between clauses.
func (r *reader) joins(items []item, i int) bool {
	it := &items[i]
	if it.proper(r.lang) || it.value != nil || it.has(lexicon.Preposition) && !it.mainly(lexicon.Conjunction) {
		return false
	}
	if it.has(lexicon.Conjunction, "and", "or", "but") {
		particle := i == 1 && it.has(lexicon.Conjunction, "but") && r.imperative(items, 0) // de "geh aber nur"
		return !it.has(lexicon.Quantity) && !particle
	}
	if r.behindPreposition(items, i) {
		return false
	}
	if i > 0 && items[i-1].has(lexicon.Auxiliary) {
		return false
	}
	after := i > 0 && (items[i-1].mark || items[i-1].has(lexicon.Conjunction)) || it.words != nil && r.finite(upToMark(items, i+1), 0) >= 0
	return it.has(lexicon.Conjunction, "then") && i > 0 && !it.has(lexicon.Preposition) && (after || r.imperative(items, i+1))
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
		if r.lang == "de" && !(items[j-1].has(lexicon.Preposition, "to") && items[j-1].fold == "zu") {
			continue
		}
		if r.deedForm(&items[j], "infinitive", "gerund") && !items[j].cap && !r.behindPreposition(items[i+1:], j-i-1) {
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

func (r *reader) deedForm(it *item, forms ...string) bool {
	for _, v := range it.verbs {
		if contains(forms, v.Form) {
			return true
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
		return i > 0 && before > 0 && r.asks(&items[i-1]) || before == 0 && i > 0 && items[i-1].sign(",") && !it.has(lexicon.Relative)
	}
	if it.has(lexicon.Auxiliary) || it.value != nil || it.proper(r.lang) {
		return false
	}
	if e := it.as(lexicon.Preposition); it.has(lexicon.Conjunction, "before", "after", "while", "because") || e != nil && e.Name == "until" && it.has(lexicon.Conjunction) {
		return before > 0 && r.clauseFollows(items, i+1)
	}
	if it.has(lexicon.Preposition) && !it.has(lexicon.Conjunction, "given") {
		return false
	}
	return it.has(lexicon.Conjunction, "if", "when", "given") && i+1 < len(items) && (before == 0 || it.has(lexicon.Conjunction, "if", "when"))
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

// clauseFollows reports whether a finite verb stands before the next mark.
func (r *reader) clauseFollows(items []item, i int) bool {
	for j := i; j < len(items) && !items[j].mark && !items[j].has(lexicon.Conjunction, "and", "that"); j++ {
		if items[j].has(lexicon.Auxiliary, "be", "must", "have") && j > i {
			return true
		}
	}
	return false
}

// checks reports whether a word is a verb that a claim follows: "check that", "prüfe, dass".
func (r *reader) checks(it *item) bool {
	for _, v := range it.verbs {
		if v.Effect == string(Check) {
			return true
		}
	}
	return false
}

// classify finds the verb of a piece, and what the piece is by it.
func (r *reader) classify(c *clause) {
	s := r.skip(c.items, 0)
	if s >= len(c.items) {
		return
	}
	if r.forbids(c, s) {
		return
	}
	if c.items[s].has(lexicon.Preposition) && s+1 < len(c.items) && r.deedForm(&c.items[s+1], "gerund") && !c.items[s+1].has(lexicon.Noun_) {
		c.kind, c.head = goal, s+1 // fr "en confirmant", en "by confirming"
		c.items = append(append([]item{}, c.items[:s]...), c.items[s+1:]...)
		c.head = s
		return
	}
	if r.lang == "es" || r.lang == "fr" {
		for i := s; i < len(c.items); i++ {
			if c.items[i].has(lexicon.Auxiliary, "want") && !c.items[i].mark && r.chain(c, i) {
				return
			}
		}
	}
	if c.items[s].has(lexicon.Auxiliary, "try", "start") && r.chain(c, s) || r.story(c, s) || r.speaks(c, s) {
		return
	}
	fin := r.finite(c.items, s)
	if fin >= 0 && r.weak(c.items, fin) && (r.imperative(c.items, s) || r.lang == "de" && r.laterVerb(c.items, s) == len(c.items)-1) {
		fin = -1
	}
	if r.imperative(c.items, s) && !r.label(c.items, s) {
		if c.that || r.labels(c, s) {
			// what must hold is no deed, and "phone 390" in a list is a field
		} else if fin < 0 || fin == s && !r.claims(&c.items[s]) || r.asks(&c.items[s]) {
			if s > 0 && !r.leadsDeed(c.items[:s]) {
				c.told = append(c.told, Span{c.items[0].From, c.items[s-1].To})
				c.items, s = c.items[s:], 0
			}
			c.kind, c.head = goal, s
			r.attempt(c)
			return
		}
	}
	if c.that && fin < 0 {
		for i := s; i < len(c.items); i++ {
			if r.hasEffect(&c.items[i], Check) && r.deedForm(&c.items[i], "third") && !c.items[i].has(lexicon.Noun_) {
				fin = i // es "que sale la última"
				break
			}
		}
	}
	if r.lang == "en" && fin >= 0 && c.items[s].has(lexicon.Preposition) && !c.items[s].has(lexicon.Conjunction) && !c.that {
		if h := r.laterVerb(c.items[:fin], s); h >= 0 {
			c.kind, c.head = goal, h // "On the Privacy tab set Who can see it to ..."
			return
		}
	}
	if fin >= 0 {
		c.kind, c.head = claim, fin
		if !c.that && !r.claimVerb(c.items, fin) {
			c.kind = statement
		}
		return
	}
	if h := r.laterVerb(c.items, s); h >= 0 {
		c.kind, c.head = goal, h
		r.attempt(c)
		return
	}
	if r.unknownVerb(c.items, s) {
		c.kind, c.head = goal, s
		return
	}
	last := len(c.items) - 1
	seen := c.items[last].has(lexicon.State, "visible", "hidden", "gone") && last > s && !r.behindPreposition(c.items, last)
	if seen && !c.items[last-1].has(lexicon.Negation) && !c.items[last].cap {
		c.kind, c.head = claim, last // "Manchego y Queso fresco a la vista"
	}
}

// leadsDeed reports whether words before a verb say something of the deed: "only", "no".
func (r *reader) leadsDeed(items []item) bool {
	for i := range items {
		if items[i].has(lexicon.Negation) || items[i].has(lexicon.Quantity, "only") || items[i].has(lexicon.Pronoun) {
			return true
		}
	}
	return false
}

// labels reports whether a word of a list that may be a verb names the value behind it: "phone
// 390" in "Edit Ben: phone 390, team Sales".
func (r *reader) labels(c *clause, s int) bool {
	return (c.sep == ":" || c.sep == ",") && s+2 == len(c.items) && !c.items[s].cap && len(r.lex.Concepts(c.items[s].text)) > 0 &&
		c.items[s+1].value != nil && !c.items[s+1].quoted() && c.items[s].has(lexicon.Noun_)
}

// unknownVerb reports whether a sentence begins with a word that the lexicon does not have
// and that what it is done to follows: "Water the garden".
func (r *reader) unknownVerb(items []item, s int) bool {
	it := &items[s]
	if it.value != nil || it.mark || len(it.entries) > 0 || s+1 >= len(items) || it.first != it.cap {
		return false
	}
	next := &items[s+1]
	return next.has(lexicon.Article) || next.has(lexicon.Possessive)
}

// skip passes over polite words and adverbs before the verb: "please", "then", "also".
func (r *reader) skip(items []item, i int) int {
	for i < len(items) && !items[i].proper(r.lang) {
		it := &items[i]
		filler := it.has(lexicon.Polite) || it.mainly(lexicon.Stop) || it.has(lexicon.Conjunction, "then", "and") ||
			it.has(lexicon.Quantity, "too", "again", "already", "still", "only") && !it.has(lexicon.Article) || it.has(lexicon.Ordinal) && len(it.verbs) == 0 && r.imperative(items, i+1) ||
			it.mark && !it.sign("(")
		if !filler || it.value != nil || r.imperative(items, i) && !it.has(lexicon.Polite) {
			break
		}
		i++
	}
	return i
}

// imperative reports whether items[i] may be a verb that says what to do.
func (r *reader) imperative(items []item, i int) bool {
	if i >= len(items) {
		return false
	}
	it := &items[i]
	if it.value != nil && !it.number || it.mark || it.name() && r.lang != "de" || it.proper(r.lang) || it.has(lexicon.Article) || it.has(lexicon.Auxiliary, "be", "must", "will", "can") && !it.has(lexicon.Auxiliary, "let") {
		goes := r.lang != "en" && it.has(lexicon.Auxiliary, "will") && i+1 < len(items) && items[i+1].has(lexicon.Preposition) // fr "va à la page 3"
		return goes && len(it.verbs) > 0
	}
	for k := range it.verbs {
		v := &it.verbs[k]
		holds := v.Effect == string(Check) && v.Property != "" && v.Property != string(Unchanged) && v.Attr("says") == ""
		if !holds && (v.Form == "imperative" || v.Form == "infinitive") && r.whole(items, i, v) {
			return true
		}
	}
	return false
}

// whole reports whether the particle of v stands behind items[i].
func (r *reader) whole(items []item, i int, v *lexicon.VerbForm) bool {
	if v.Particle == "" || v.Joined {
		return true
	}
	want := strings.Fields(fold(v.Particle))
	for j := i + 1; j < len(items) && j < i+maxParticle; j++ {
		if matchWords(items[j:], want) > 0 || strings.HasPrefix(items[j].fold, want[0]+" ") {
			return true
		}
	}
	return v.Separable
}

// maxParticle is how many words stand between a verb and its particle at most.
const maxParticle = 16

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
		if i > s && (it.has(lexicon.Relative) || it.has(lexicon.Question)) && !it.has(lexicon.Article) && !it.proper(r.lang) && !it.has(lexicon.Conjunction) {
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
	for _, v := range it.verbs {
		switch v.Form {
		case "past":
			if i > s && !noun && !it.has(lexicon.State) && i+1 < len(items) && (items[i+1].has(lexicon.Article) || items[i+1].has(lexicon.Possessive)) {
				return true
			}
			if i > s && it.has(lexicon.State) && i+1 < len(items) && items[i+1].has(lexicon.Possessive) {
				return true
			}
		case "third":
			if noun && i > s && i+1 == len(items) && items[i-1].proper(r.lang) && v.Effect == string(Check) {
				return true // "Dunmore leads"
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
	return !it.has(lexicon.Auxiliary) && !it.has(lexicon.There) && !r.hasEffect(it, Check)
}

// story reads "As an admin I want to ...".
func (r *reader) story(c *clause, s int) bool {
	if !c.items[s].has(lexicon.Preposition, "as") {
		return false
	}
	for i := s + 1; i+1 < len(c.items) && !c.items[i].mark; i++ {
		if it := &c.items[i]; len(it.words) > 1 && it.has(lexicon.Polite) && r.imperative(c.items, i+1) {
			c.told = append(c.told, clauseSpan(&clause{items: c.items[:i+1]}))
			c.items = c.items[i+1:]
			c.kind, c.head = goal, 0
			return true
		}
		if !c.items[i].has(lexicon.Pronoun, "i") && !c.items[i].has(lexicon.Auxiliary, "want") || !c.items[i+1].has(lexicon.Auxiliary, "want") && !c.items[i+1].has(lexicon.Pronoun, "i") {
			continue
		}
		told := clauseSpan(&clause{items: c.items[:i+1]})
		c.items = c.items[i:]
		if !c.items[0].has(lexicon.Pronoun, "i") {
			c.items = c.items[1:]
		}
		if r.speaks(c, 0) {
			c.told = append(c.told, told)
			return true
		}
		return false
	}
	return false
}

// speaks reads "I add a card" and "we save": who writes does it.
func (r *reader) speaks(c *clause, s int) bool {
	it := &c.items[s]
	if !it.has(lexicon.Pronoun, "i") || it.has(lexicon.Pronoun, "it", "them", "he") || it.number || s+1 >= len(c.items) || c.that {
		return false
	}
	next := &c.items[s+1]
	if next.has(lexicon.Auxiliary, "want", "try", "start") {
		if !r.chain(c, s+1) {
			c.kind, c.head = goal, s+1
		}
		return true
	}
	if next.has(lexicon.Auxiliary, "be", "must", "can", "will") || len(next.verbs) == 0 || r.claims(next) {
		return false
	}
	c.kind, c.head = goal, s+1
	return true
}

// chain passes from "try to", "start to", "want to" at i to the verb of the deed.
func (r *reader) chain(c *clause, i int) bool {
	for j := i + 1; j < len(c.items) && j < i+4; j++ {
		if c.items[j].mark || c.items[j].value != nil {
			break
		}
		if r.deed(c.items, j) && !r.nounHere(c.items, j) {
			it := &c.items[i]
			c.kind, c.expected, c.begun = goal, it.has(lexicon.Auxiliary, "try"), it.has(lexicon.Auxiliary, "start")
			c.items = append(append([]item{}, c.items[:i]...), c.items[j:]...)
			c.head = i
			return true
		}
	}
	return false
}

// behindPreposition reports whether a word before items[i] makes a noun of it.
func (r *reader) behindPreposition(items []item, i int) bool {
	if i == 0 {
		return false
	}
	b := &items[i-1]
	return b.has(lexicon.Article) || b.mainly(lexicon.Preposition) || b.has(lexicon.Ordinal) && b.value == nil || b.has(lexicon.Possessive) || b.mainly(lexicon.Quantity) && items[i].has(lexicon.Noun_)
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
			if items[j].has(lexicon.Auxiliary, "be") || r.claims(&items[j]) {
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

// forbids reads "do not V", "V-not" and "without V-ing".
func (r *reader) forbids(c *clause, s int) bool {
	items := c.items
	i := s
	for i < len(items) && (items[i].has(lexicon.Auxiliary, "do") || items[i].has(lexicon.Pronoun) && r.lang != "en" && i > s) {
		i++
	}
	if i >= len(items) {
		return false
	}
	switch {
	case items[i].has(lexicon.Negation) && !items[i].proper(r.lang) && !(r.lang != "es" && r.lang != "fr" && items[i].has(lexicon.Quantity, "none")):
		for i+1 < len(items) && (items[i+1].has(lexicon.Pronoun) || items[i+1].has(lexicon.Negation) || items[i+1].mainly(lexicon.Stop)) && !r.deed(items, i+1) {
			i++
		}
		if r.deed(items, i+1) && r.finite(items, i+2) < 0 {
			c.kind, c.head, c.forbidden = goal, 0, true
			c.items = items[i+1:]
			return true
		}
	case items[i].has(lexicon.Preposition, "without") || items[i].has(lexicon.Conjunction, "without"):
		for j := i + 1; j < len(items); j++ {
			if items[j].has(lexicon.Auxiliary, "have") && j+1 < len(items) && r.deedForm(&items[j+1], "participle") {
				c.items = append([]item{items[j+1]}, items[j+2:]...)
				c.kind, c.head, c.forbidden = goal, 0, true
				return true
			}
			if r.deed(items, j) && (j == i+1 || j+1 == len(items) || r.lang == "fr") {
				c.items = append(append([]item{}, items[i+1:j]...), items[j:]...)
				c.kind, c.head, c.forbidden = goal, j-i-1, true
				return true
			}
		}
	}
	return false
}

// deed reports whether items[i] is a verb in a form that goes with a negation or "without".
func (r *reader) deed(items []item, i int) bool {
	if i >= len(items) || items[i].proper(r.lang) {
		return false
	}
	if items[i].has(lexicon.Article) {
		return false
	}
	for _, v := range items[i].verbs {
		switch v.Form {
		case "imperative", "infinitive", "gerund", "subjunctive":
			return true
		}
	}
	return false
}

// laterVerb returns the verb that says what to do where it does not begin the piece: behind
// a place ("In the form press Save"), or at the end ("bitte eintragen", "Brückentage sperren").
func (r *reader) laterVerb(items []item, s int) int {
	if r.lang == "de" && r.deedForm(&items[len(items)-1], "infinitive") && !items[len(items)-1].cap && len(items)-1 > s && r.wholeAt(items, len(items)-1) {
		return len(items) - 1
	}
	if items[s].has(lexicon.Preposition) && !items[s].proper(r.lang) {
		for i := s + 2; i < len(items); i++ {
			if r.imperative(items, i) && !r.nounHere(items, i) && (i+1 < len(items) || r.lang == "de") {
				return i
			}
		}
	}
	return -1
}

// wholeAt reports whether some infinitive at i needs no particle or has it in it.
func (r *reader) wholeAt(items []item, i int) bool {
	for _, v := range items[i].verbs {
		if v.Form == "infinitive" && (v.Particle == "" || v.Joined || v.Effect != string(Check)) {
			return true
		}
	}
	return false
}

// nounHere reports whether a word that may be a verb is a noun where it stands.
func (r *reader) nounHere(items []item, i int) bool {
	return r.behindPreposition(items, i) || items[i].has(lexicon.Noun_) && i+1 == len(items) && r.lang != "de"
}

// attempt passes over "try to", "start to", "want to" to the verb of the deed itself.
func (r *reader) attempt(c *clause) {
	it := &c.items[c.head]
	if !it.has(lexicon.Auxiliary, "try", "start", "want") {
		return
	}
	r.chain(c, c.head)
}
