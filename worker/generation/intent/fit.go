package intent

import (
	"slices"

	"github.com/slipway-qa/slipway/worker/generation/lexicon"
)

// fits says how well what stands in the clause goes with the frame of the sense.
func (r *reader) fits(s *sense, c *clause) float64 {
	var score float64
	obj, iobj := r.objects(s)
	rest := s.said()
	named := false
	for i := range rest {
		it := &rest[i]
		if it.mark && !it.sign("(") {
			break
		}
		if !it.has(lexicon.Preposition) || i+1 >= len(rest) || rest[i+1].mark || it.value != nil {
			continue
		}
		slot := s.Slot(it.fold)
		if s.Effect == string(Press) && it.has(lexicon.Preposition, "on", "in") && i == 0 {
			score += 2
		}
		if slot == "become" && rest[i+1].has(lexicon.State) {
			score += 2
		}
		if slot == "from" && s.Effect == string(Remove) && slices.ContainsFunc(rest[i+1:min(i+3, len(rest))], r.holdsTaken) {
			score += 2
		}
		named = named || (slot == "name" || slot == "to" || slot == "value") && it.as(lexicon.Preposition).Name != "of"
		switch {
		case slot == "name" && s.Effect == string(Add) && s.Object() == "target":
			score -= 1.5
		case slot != "" && !(it.has(lexicon.Preposition, "of") && it.as(lexicon.Preposition).Name == "of"):
			score += 1.2
		}
	}
	if s.Object() == "value" && !named && s.Attr("name") != "" && !(obj != nil && obj.holdsValue()) {
		score--
	}
	if s.Effect == string(Copy) && obj != nil && r.satisfies(obj, []string{string(Text_), string(Value_), string(FieldKind),
		string(Cell), "code"}) {
		score += 3
	}
	if s.Effect == string(Close) && obj != nil && r.satisfies(obj, []string{string(Message), string(Dialog), string(Menu),
		string(WindowKind), string(Section)}) {
		score += 2
	}
	if len(s.Need) > 0 {
		trivial := len(s.Need) == 1 && s.Need[0] == "thing"
		if trivial {
			if r.directed(s) {
				score += 2.5
			}
			score -= 2
		}
		if trivial {
			// what may be done with anything says nothing
		} else if obj != nil && r.satisfies(obj, s.Need) || s.Attr("iobj") != "" && r.satisfies(&phrase{core: s.after}, s.Need) {
			score += 2
		} else {
			score -= 3
		}
	}
	score += r.keeping(s, c, obj)
	if s.Effect == string(Check) && s.Property == "" && len(s.after) > 0 && r.finite(s.after, 0) < 0 {
		score -= 2
	}
	if s.Effect == string(Select) && obj != nil && r.satisfies(obj, []string{string(Row), string(Message), string(Card), string(Text_)}) {
		score += 2
	}
	if iobj && s.Effect == string(Add) && s.Attr("iobj") == "" {
		score -= 2
	}
	if s.Effect == string(Move) && !r.directed(s) {
		score -= 3
	}
	if s.Object() == "none" && obj != nil {
		score -= 4
	}
	if s.Effect == string(Page) && s.Object() == "amount" && obj != nil &&
		!slices.ContainsFunc(obj.core, func(it item) bool { return it.number || it.value != nil && it.value.Number != nil }) {
		score -= 6 // "move the card back to Done" turns no page
	}
	if obj != nil && s.Object() == "value" && len(obj.core) > 1 && obj.core[0].has(lexicon.Article, "indefinite") &&
		!obj.core[len(obj.core)-1].number {
		score -= 2
	}
	bare := obj != nil && len(obj.core) == 1 && len(obj.mods) == 0 && (obj.core[0].has(lexicon.Pronoun) || obj.core[0].has(lexicon.Article))
	if bare && (s.Effect == string(Confirm) || s.Effect == string(Submit)) {
		score += 2
	}
	if (s.Effect == string(Add) || s.Effect == string(Move)) && r.toState(s) {
		score -= 3
	}
	value := obj != nil && obj.holdsValue()
	switch s.Object() {
	case "text", "value", "amount":
		if value {
			score++
		}
		if obj == nil {
			score -= 2
		}
	}
	if s.Attr("iobj") != "" {
		if iobj || obj != nil && r.satisfies(obj, s.Need) &&
			slices.ContainsFunc(rest, func(it item) bool { return it.has(lexicon.Preposition, "to") && it.value == nil }) {
			score += 4
		} else {
			score -= 3
		}
	}
	return score + r.objectless(s, obj)
}

// toState reports whether what a preposition of "to" leads in is a state, a number or an
// adjective, and no place: "auf warm", "auf 5".
func (r *reader) toState(s *sense) bool {
	rest := s.said()
	for i := 0; i+1 < len(rest); i++ {
		if s.Slot(rest[i].fold) != "to" || !rest[i].has(lexicon.Preposition) || rest[i].has(lexicon.Article) {
			continue
		}
		next := &rest[i+1]
		end := i + 2
		if next.number && end < len(rest) && rest[end].has(lexicon.Unit) {
			end++ // "auf 2 Stück"
		}
		last := end >= len(rest) || rest[end].mark || rest[end].has(lexicon.Conjunction)
		if s.Effect == string(Add) && (r.lang == "es" || r.lang == "fr") && rest[i].fold == "en" && !next.cap &&
			next.has(lexicon.Noun_, string(PageKind)) {
			return true // "en vista semanal", but "en la cesta"
		}
		if last && (next.number || next.value != nil && next.value.Number != nil || next.has(lexicon.State) && !next.cap ||
			r.lang != "en" && !next.cap && !next.has(lexicon.Noun_) && next.value == nil && !next.has(lexicon.Pronoun)) {
			return true
		}
	}
	return false
}

// said are the items behind the verb, or those before it where it stands at the end.
func (s *sense) said() []item {
	if len(s.after) == 0 {
		return s.before
	}
	return s.after
}

// directed reports whether a clause says where something moves.
func (r *reader) directed(s *sense) bool {
	said := s.said()
	for i := range said {
		if slot := s.Slot(said[i].fold); slot == "to" || slot == "from" || said[i].as(lexicon.Place) != nil {
			return true
		}
	}
	return s.Attr("place") != ""
}

// keeping scores the senses that something holds: only "keep" and "leave" are said as a deed.
func (r *reader) keeping(s *sense, c *clause, obj *phrase) float64 {
	if s.Effect != string(Check) || s.Property == "" {
		return 0
	}
	if s.Property != string(Unchanged) || c.forbidden {
		return -3
	}
	score := -1.0
	if c.sep == "but" && obj != nil {
		score += 4
	}
	for i := range s.after {
		it := &s.after[i]
		if it.has(lexicon.State, "unchanged") {
			score += 6
		} else if it.has(lexicon.State) && !it.cap && i > 0 && (i+1 == len(s.after) || s.after[i+1].mark) {
			score += 4
		}
		if it.has(lexicon.Preposition, "as", "for", "in") {
			score -= 3
		}
	}
	return score
}

// objectless prefers senses that need no object where none stands, and others where one does.
func (r *reader) objectless(s *sense, obj *phrase) float64 {
	alone := false
	switch Effect(s.Effect) {
	case Submit, Confirm, Abandon, SignIn, SignOut, Navigate:
		alone = true
	}
	if obj == nil && !alone {
		for i := range s.after {
			if slot := s.Slot(s.after[i].fold); slot == "target" || slot == "text" || slot == "measure" {
				return 0
			}
		}
	}
	switch {
	case obj == nil && alone:
		for i := range s.after {
			if it := &s.after[i]; it.has(lexicon.Preposition) && i+1 < len(s.after) && s.Slot(it.fold) == "" && !it.sign(",") {
				return 0
			}
		}
		return 2
	case obj == nil:
		return -1
	case alone && (Effect(s.Effect) == Confirm || Effect(s.Effect) == Abandon):
		return -1
	}
	return 0
}

// objects returns the phrase that is the direct object of a sense, and whether two phrases
// without a preposition follow the verb.
func (r *reader) objects(s *sense) (*phrase, bool) {
	n := 0
	for n < len(s.after) && (!s.after[n].mark || s.after[n].sign("¿¡")) && !s.after[n].has(lexicon.Conjunction, "and", "or", "but") {
		n++
	}
	list := r.chunks(s.after[:n], &s.VerbForm)
	if len(list) == 0 {
		list = r.chunks(s.before, &s.VerbForm)
	}
	var first *phrase
	count := 0
	for i := range list {
		if list[i].prep == nil && !adverbial(&list[i]) {
			count++
			if first == nil {
				first = &list[i]
			}
		}
	}
	return first, count > 1 || count == 1 && len(s.Clitics) > 0
}

// adverbial reports whether a phrase is "yet", "again" or the like and no thing.
func adverbial(p *phrase) bool {
	return len(p.core) == 1 && p.core[0].value == nil && p.core[0].has(lexicon.Quantity, "again", "still", "too",
		"already", "anymore") && !p.core[0].has(lexicon.Quantity, "other")
}

// holdsValue reports whether a phrase has something to type in it.
func (p *phrase) holdsValue() bool {
	for i := range p.core {
		if p.core[i].value != nil {
			return true
		}
	}
	return false
}

// satisfies reports whether an object is of what a sense needs: a concept, the class of a
// unit, a kind, a person or thing.
func (r *reader) satisfies(p *phrase, needs []string) bool {
	for _, need := range needs {
		for i := range p.core {
			it := &p.core[i]
			if r.itemIs(it, need) {
				return true
			}
		}
	}
	return false
}

func (r *reader) itemIs(it *item, need string) bool {
	if it.value != nil && (it.value.UnitClass == need || need == "star" && it.value.UnitClass == "rating" ||
		it.value.Unit != "" && r.unitIs(it.value.Unit, need) || need == "number" && it.value.Number != nil) {
		return true
	}
	if it.value == nil || it.number {
		if it.has(lexicon.Noun_, need) || it.has(lexicon.State, need) {
			return true
		}
		if e := it.as(lexicon.Noun_); e != nil && (e.Attr("person") != "" && need == "person" || e.Attr("concept") == need) {
			return true
		}
		if need == "person" && (it.has(lexicon.Pronoun, "he", "them") || it.proper(r.lang) && len(it.entries) == 0) {
			return true
		}
		if need == "thing" {
			return it.content() || it.has(lexicon.Pronoun)
		}
	}
	return need == "thing" || lexicon.Means(it.text, r.lang, need)
}

// unitIs reports whether a unit is of a concept: "stars" of star.
func (r *reader) unitIs(unit, need string) bool {
	base := r.lex.Lemma(unit)
	return base == need || lexicon.Means(unit, r.lang, need) || lexicon.Means(base, r.lang, need)
}
