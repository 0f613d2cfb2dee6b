package find

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
	"github.com/slipway-qa/slipway/worker/generation/word"
)

// maxDepth bounds how deep descriptions stand in each other ("the x of the y of the z").
const maxDepth = 4

// searcher is one search for one description.
type searcher struct {
	ix    *index
	m     *page.Model
	d     *intent.Description
	w     Want
	depth int
	// words are the words of the description, noun its noun.
	words, noun *phrase
	joined      *phrase // both in one
	// alt are the same description with another of its words taken as the noun.
	alt []*searcher
	// family are the records that have others in them and are called what Of says.
	family    []int
	hasFamily bool
	// strict: the noun has to be explained by the list, the page or the thing.
	strict bool
	// owned: the words are those of what the thing is of, and its noun has to be called so itself.
	owned bool
	// inside are the nodes that things must be in, with the score of each; none is anywhere.
	inside []Candidate
	// open is the tab that In names, where it is the one that is open.
	open  *Candidate
	found Found
	nouns map[int]nounUse // by group
}

// newSearcher prepares a search.
func newSearcher(m *page.Model, d *intent.Description, w Want, depth int) *searcher {
	s := &searcher{ix: indexOf(m), m: m, d: d, w: w, depth: depth, nouns: map[int]nounUse{}}
	s.words = s.ix.phrase(wordAtoms(d), w.Lang)
	s.noun = s.ix.phrase(nounAtoms(d), w.Lang)
	return s
}

func search(m *page.Model, d *intent.Description, w Want) Found {
	return searchAt(m, d, w, 0)
}

func searchAt(m *page.Model, d *intent.Description, w Want, depth int) Found {
	if depth > maxDepth || d == nil {
		return Found{}
	}
	if len(d.Also) > 0 {
		return searchAlso(m, d, w, depth)
	}
	s := newSearcher(m, d, w, depth)
	if d.Pronoun && len(s.words.atoms) == 0 && len(w.Among) > 0 && !s.picks() {
		return s.pronoun()
	}
	s.lift()
	s.enter()
	s.alternate()
	var all []Candidate
	if d.Of != nil {
		all = append(all, s.properties()...)
	}
	if s.wants(Record) {
		all = append(all, s.records()...)
	}
	all = append(all, s.things()...)
	return s.conclude(all)
}

// alternate prepares the search for records with one of the words as the noun: the last one,
// or the first one where nouns stand first.
func (s *searcher) alternate() {
	n := len(s.d.Words)
	plural, _ := s.plural()
	if s.d.Noun != "" || s.d.Quoted || n == 0 || n == 1 && !s.selects() && !plural && s.d.Of == nil {
		return
	}
	at := []int{n - 1}
	if n > 1 && s.d.Words[0].Span != s.d.Words[n-1].Span && (s.w.Lang == "es" || s.w.Lang == "fr") {
		at = append(at, 0)
	}
	for _, i := range at {
		w := s.d.Words[i]
		if proper(w.Text) && s.w.Lang != "de" {
			continue
		}
		d := *s.d
		d.Words = append(append([]intent.Word{}, d.Words[:i]...), d.Words[i+1:]...)
		d.Noun, d.NounSpan, d.Kind = w.Text, w.Span, ""
		a := newSearcher(s.m, &d, s.w, s.depth)
		a.strict, a.inside = n > 1 || len(s.d.Having) == 0, s.inside // "the email from Zora" in a list without a title
		s.alt = append(s.alt, a)
	}
}

// searchAlso searches for a thing with another name in brackets: "siège enfant (Child seat)".
// The name that finds it explains the other one.
func searchAlso(m *page.Model, d *intent.Description, w Want, depth int) Found {
	own := *d
	own.Also = nil
	best := searchAt(m, &own, w, depth)
	for i := range d.Also {
		a := d.Also[i]
		a.In, a.Ordinal, a.Count, a.All, a.Both = d.In, d.Ordinal, d.Count, d.All, d.Both
		f := searchAt(m, &a, w, depth)
		if len(f.Candidates) == 0 || len(f.Missing) > 0 || len(best.Missing) == 0 && len(best.Candidates) > 0 &&
			best.Candidates[0].Score >= f.Candidates[0].Score {
			continue
		}
		for j := range f.Candidates {
			f.Candidates[j].Used = append(f.Candidates[j].Used, Use{d.Span, "called so in brackets"})
		}
		best = f
	}
	if len(best.Missing) == 0 {
		for j := range best.Candidates {
			for i := range d.Also {
				best.Candidates[j].Used = append(best.Candidates[j].Used, Use{d.Also[i].Span, "other name"})
			}
		}
	}
	return best
}

// pronoun returns what a pronoun stands for.
func (s *searcher) pronoun() Found {
	f := Found{Candidates: slices.Clone(s.w.Among), Plural: len(s.w.Among) > 1}
	for i := range f.Candidates {
		c := &f.Candidates[i]
		c.Score, c.Missing = 1, nil
		c.Used = []Use{{Span: s.d.Span, By: "said before"}}
	}
	return f
}

// wordAtoms returns the words of a description that must be explained.
func wordAtoms(d *intent.Description) []atom {
	atoms := make([]atom, 0, len(d.Words))
	for _, w := range d.Words {
		atoms = append(atoms, atom{span: w.Span, text: w.Text, lemma: w.Lemma, name: d.Quoted, capital: proper(w.Text)})
	}
	return atoms
}

// nounAtoms returns the noun of a description, where it has one.
func nounAtoms(d *intent.Description) []atom {
	if d.Noun == "" {
		return nil
	}
	span := d.NounSpan
	if span == (intent.Span{}) {
		span = d.Span
	}
	return []atom{{span: span, text: d.Noun, noun: true}}
}

// wants reports whether a kind of thing may be found.
func (s *searcher) wants(k What) bool {
	return len(s.w.Kinds) == 0 || slices.Contains(s.w.Kinds, k)
}

// selects reports whether the description picks among things by more than its words.
func (s *searcher) selects() bool {
	d := s.d
	return d.Ordinal != 0 || d.Extreme != nil || len(d.Compare) > 0 || len(d.State) > 0 || len(d.Having) > 0 ||
		len(d.Lacking) > 0 || d.Next || d.Other || len(d.Relation) > 0
}

// picks reports whether a pronoun is only one of those that were spoken of, or another one: "the one that belongs to Ben",
// "the ones under Done".
func (s *searcher) picks() bool {
	of, in := s.d.Of, s.d.In
	return s.selects() || of != nil && !of.Pronoun || in != nil && !in.Pronoun && !s.d.All && len(s.w.Among) > 1
}

// plural reports whether several things are meant, and how many.
func (s *searcher) plural() (bool, int) {
	d := s.d
	if d.Extreme != nil || d.Ordinal != 0 {
		return d.Count > 1, d.Count
	}
	switch {
	case d.Both:
		return true, 2
	case d.Count > 1:
		return true, d.Count
	case s.w.Several && !d.Pronoun, d.All, d.Only && len(s.words.atoms) == 0, len(d.Except) > 0, len(d.Compare) > 0 && d.Count == 0:
		return true, d.Count
	}
	return false, 0
}

// conclude puts the candidates in order and says what is missing or equal.
func (s *searcher) conclude(all []Candidate) Found {
	f := &s.found
	all = s.withoutTold(all)
	if span, ok := s.orphan(); ok {
		for i := range all {
			all[i].Missing = append(all[i].Missing, span)
			all[i].Score *= 0.6
		}
	}
	for i := range all {
		all[i].Score = min(max(all[i].Score, 0), 1)
	}
	s.byRole(all)
	sort.SliceStable(all, func(i, j int) bool { return all[i].Score > all[j].Score })
	if plural, n := s.plural(); plural {
		s.members(all, n)
		s.unseen(-1)
		s.useFlags(f.Candidates)
		return *f
	}
	f.Candidates = all[:min(len(all), 12)]
	if len(all) == 0 {
		f.Missing = []intent.Span{s.d.Span}
		return *f
	}
	s.useFlags(f.Candidates)
	f.Missing, f.Assumed = all[0].Missing, all[0].Assumed
	s.literal(all)
	f.Margin = s.margin(all)
	f.Ambiguous = f.Margin < Margin
	return *f
}

// orphan returns a pronoun that says whose the thing is, where nobody says who that is: "his saw".
func (s *searcher) orphan() (intent.Span, bool) {
	if len(s.w.Among) > 0 {
		return intent.Span{}, false
	}
	for of, n := s.d.Of, 0; of != nil && n < maxDepth; of, n = of.Of, n+1 {
		if of.Pronoun && len(of.Words) == 0 && of.Noun == "" {
			return of.Span, true
		}
	}
	return intent.Span{}, false
}

// useFlags marks the words that say which and how many of them as used by candidates that
// lack nothing.
func (s *searcher) useFlags(cs []Candidate) {
	for i := range cs {
		if len(cs[i].Missing) > 0 {
			continue
		}
		for _, span := range s.d.Flags {
			cs[i].Used = append(cs[i].Used, Use{span, "which one"})
		}
	}
}

// margin returns how far the best candidate is above the next one that is another thing.
func (s *searcher) margin(all []Candidate) float64 {
	best := &all[0]
	for i := 1; i < len(all); i++ {
		c := &all[i]
		if s.oneThing(c, best) {
			continue
		}
		return best.Score - c.Score
	}
	return best.Score
}

// byRole puts what has the role that the description names before controls of the same name
// that have none: of a button and a pressable div called so, "the button" is the first.
func (s *searcher) byRole(all []Candidate) {
	has := func(c *Candidate) bool {
		return c.What == Control && slices.Contains(roles[s.d.Kind], s.m.Nodes[c.Node].Role)
	}
	for i := range all {
		c := &all[i]
		if c.What != Control || s.m.Nodes[c.Node].Role != "" {
			continue
		}
		rival := slices.IndexFunc(all, func(o Candidate) bool {
			return has(&o) && len(o.Missing) <= len(c.Missing) && c.Score-o.Score < Margin && o.Score-c.Score < Margin
		})
		if rival >= 0 {
			c.Score = max(all[rival].Score-2*Margin, 0)
		}
	}
}

// oneThing reports whether two candidates are the same for whoever uses them: one element, one
// in the other, or a box with its label beside it.
func (s *searcher) oneThing(a, b *Candidate) bool {
	if a.Node == b.Node {
		return a.What != Attribute
	}
	if s.ix.nested(a.Node, b.Node) {
		return a.What != b.What || a.Why == b.Why
	}
	return a.What != b.What && a.Why == b.Why && a.Node >= 0 && b.Node >= 0 && s.m.RecordAt(a.Node) == s.m.RecordAt(b.Node) &&
		s.near(a.Node, b.Node)
}

func (s *searcher) near(a, b int) bool { // side by side in one element
	p, q := s.m.Nodes[a].Parent, s.m.Nodes[b].Parent
	return p == q || p == b || q == a || p >= 0 && s.m.Nodes[p].Parent == q || q >= 0 && s.m.Nodes[q].Parent == p
}

// members keeps the candidates that are meant together: all of one kind that explain every
// word.
func (s *searcher) members(all []Candidate, n int) {
	f := &s.found
	f.Plural, f.Wanted = true, n
	if len(all) == 0 {
		f.Missing = []intent.Span{s.d.Span}
		return
	}
	best := all[0]
	f.Missing = best.Missing
	for _, c := range all {
		near := c.Score >= best.Score-0.15 || c.Score >= 0.8
		if c.What == best.What && len(c.Missing) == 0 && near && s.sameSet(&c, &best) && !s.excepted(&c) {
			f.Candidates = append(f.Candidates, c)
		}
	}
	if len(f.Candidates) == 0 {
		f.Candidates = all[:1]
	}
	if len(f.Candidates) < n && len(f.Missing) == 0 && best.What == Record && !s.w.WholeWords {
		f.Candidates = s.withCompounds(f.Candidates, n)
	}
	sort.SliceStable(f.Candidates, func(i, j int) bool { return f.Candidates[i].Node < f.Candidates[j].Node })
	f.Candidates = s.outermost(f.Candidates)
	f.Assumed = best.Assumed
	switch {
	case len(f.Candidates) == 1 && n > 1 && s.d.Count > 1 && len(f.Missing) == 0:
		f.Plural, f.Wanted, f.Amount = false, 0, n // so many of one thing
	case n > 0 && len(f.Candidates) != n:
		f.Ambiguous = true
	}
	for i := range f.Candidates {
		f.Candidates[i].Used = append(f.Candidates[i].Used, s.exceptUses()...)
	}
}

// withCompounds adds the records of the list that are called by one word that ends in what is said, where these
// make as many as are meant: both hammers are the claw hammer and the sledgehammer.
func (s *searcher) withCompounds(found []Candidate, n int) []Candidate {
	if len(s.words.atoms)+len(s.noun.atoms) != 1 || s.d.Quoted || s.qualified() {
		return found
	}
	a := append(s.words.atoms, s.noun.atoms...)[0]
	head := word.Fold(cmp.Or(a.lemma, strings.TrimSuffix(a.text, "s")))
	list := slices.Clone(found)
	for _, r := range s.recordsIn(s.m.Records[found[0].Index].Group) {
		rec := &s.m.Records[r]
		ends := slices.ContainsFunc(strings.Fields(word.Fold(rec.Title)), func(w string) bool {
			return len(head) >= leastHead && len(w) >= len(head)+leastHead-1 && strings.HasSuffix(w, head)
		})
		if ends && s.eligible(rec.Node) && !slices.ContainsFunc(found, func(c Candidate) bool { return c.Index == r }) {
			c := found[0]
			c.Index, c.Node, c.Why = r, rec.Node, rec.Title
			list = append(list, c)
		}
	}
	if len(list) != n {
		return found
	}
	return list
}

// qualified reports whether a description asks more of things than what they are called and where they are: nothing holds a
// compound to that.
func (s *searcher) qualified() bool {
	d := s.d
	return len(d.State)+len(d.Having)+len(d.Lacking)+len(d.Compare)+len(d.Relation)+len(d.Except) > 0 || d.Extreme != nil ||
		d.Of != nil || d.Pronoun || d.Other || d.Next || d.Ordinal != 0
}

// leastHead is how long the last part of a compound is at least; the first one may be a letter shorter.
const leastHead = 4

// sameSet reports whether two candidates may be meant by one plural: records of one group,
// or of groups with the same title.
func (s *searcher) sameSet(a, b *Candidate) bool {
	if a.What != Record {
		return true
	}
	ga, gb := s.m.Records[a.Index].Group, s.m.Records[b.Index].Group
	if ga == gb || ga < 0 || gb < 0 {
		return true
	}
	return s.m.Groups[ga].Kind == s.m.Groups[gb].Kind && s.nouns[ga] == s.nouns[gb]
}

// outermost leaves out members that stand in other members.
func (s *searcher) outermost(cs []Candidate) []Candidate {
	out := cs[:0:0]
	for _, c := range cs {
		if n := len(out); n > 0 && c.What == Record && s.ix.below(c.Node, out[n-1].Node) && c.Node != out[n-1].Node {
			continue
		}
		out = append(out, c)
	}
	return out
}
