package find

import (
	"slices"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// records returns the records that a description may mean.
func (s *searcher) records() []Candidate {
	var pool []Candidate
	for r := range s.m.Records {
		if !s.eligible(s.m.Records[r].Node) || !s.among(Record, s.m.Records[r].Node) {
			continue
		}
		if c, ok := s.bestRecord(r); ok {
			pool = append(pool, c)
		}
	}
	return s.choose(pool)
}

// bestRecord returns a record as a candidate by the reading of the description that suits it
// best.
func (s *searcher) bestRecord(r int) (Candidate, bool) {
	best, ok := s.record(r)
	if ok && len(best.Missing) == 0 && best.Score >= 0.8 {
		return best, true
	}
	for _, a := range s.alt {
		if c, has := a.record(r); has && (!ok || c.Score > best.Score) {
			best, ok = c, true
		}
	}
	return best, ok
}

// eligible reports whether a node is where the search looks.
func (s *searcher) eligible(node int) bool {
	if s.w.Within >= 0 && !s.ix.holds(s.w.Within, node) {
		return false
	}
	return len(s.inside) == 0 || s.insideOf(node) != nil
}

// insideOf returns the container of the description that a node stands in.
func (s *searcher) insideOf(node int) *Candidate {
	for i := range s.inside {
		if c := &s.inside[i]; c.Node != node && s.ix.holds(c.Node, node) || c.What == Column {
			return c
		}
	}
	return nil
}

// among reports whether a pronoun or "other" lets a thing in.
func (s *searcher) among(k What, node int) bool {
	same := func(c Candidate) bool { return c.Node == node }
	if (s.d.Other || s.d.Next && s.d.Ordinal == 0) && slices.ContainsFunc(s.w.Except, same) {
		return false
	}
	pronoun := s.d.Pronoun && s.picks() || s.d.Of != nil && s.d.Of.Pronoun
	if !pronoun || len(s.w.Among) == 0 {
		return true
	}
	within := func(c Candidate) bool { return s.ix.nested(c.Node, node) }
	if len(s.w.Among) == 1 && s.d.Of != nil {
		return slices.ContainsFunc(s.w.Among, within)
	}
	if len(s.w.Among) == 1 {
		return true
	}
	return slices.ContainsFunc(s.w.Among, same) || !slices.ContainsFunc(s.w.Among, func(c Candidate) bool { return c.What == k })
}

// record returns a record as a candidate, false where nothing of it is meant.
func (s *searcher) record(r int) (Candidate, bool) {
	rec := &s.m.Records[r]
	refs := s.ix.record(r)
	pr := s.explain(s.words, r, refs)
	n := len(s.words.atoms)
	if n > 0 && len(pr.used) == 0 {
		return Candidate{}, false
	}
	extra, ok := s.conditions(r)
	if !ok {
		return Candidate{}, false
	}
	nounProof := s.nounOf(r, pr.own || extra.own && len(s.d.Having) > 0)
	pr = join(pr, n, nounProof, len(s.noun.atoms))
	own := pr.own
	k := len(extra.used) + len(extra.missing)
	pr = join(pr, n+len(s.noun.atoms), extra, k)
	if n+len(s.noun.atoms)+k == 0 {
		pr.score = 0.8 // nothing is said but which one
	}
	if len(s.d.Words)+len(s.d.Having)+len(s.d.Compare)+len(s.d.State) > 0 && !own && !extra.own {
		pr.score *= 0.7
	}
	c := Candidate{What: Record, Index: r, Sub: -1, Node: rec.Node, Used: pr.used, Missing: pr.missing, Score: pr.score, Why: rec.Title}
	c.Assumed = pr.assumed
	c.Score *= s.standing(rec.Node) * s.kindOf(Record, rec.Node, r)
	s.useInside(&c)
	return c, true
}

// conditions proves everything that is said of a record besides its name. False leaves it out.
func (s *searcher) conditions(r int) (proof, bool) {
	pr := proof{}
	n := 0
	add := func(p proof, k int) {
		pr = join(pr, n, p, k)
		n += k
	}
	for i := range s.d.Having {
		p := s.having(r, &s.d.Having[i])
		add(p, max(1, len(p.used)+len(p.missing)))
	}
	for i := range s.d.Lacking {
		if p := s.having(r, &s.d.Lacking[i]); len(p.missing) == 0 {
			return proof{}, false
		}
		add(proof{score: 0.9, used: []Use{{s.d.Lacking[i].Span, "not there"}}, own: true}, 1)
	}
	for i := range s.d.State {
		add(s.state(r, &s.d.State[i]), 1)
	}
	if of := s.d.Of; of != nil && !of.Pronoun {
		p := s.of(r, of)
		add(p, max(1, len(p.used)+len(p.missing)))
	}
	return pr, true
}

// of proves that a record is one of what the description is of: "the loan of the ladder",
// "Sam Pryce's floor lamp".
func (s *searcher) of(r int, of *intent.Description) proof {
	if fam := s.parents(of); len(fam) > 0 {
		for up, n := s.m.Records[r].Parent, 0; up >= 0 && n < 16; up, n = s.m.Records[up].Parent, n+1 {
			if slices.Contains(fam, up) {
				return proof{score: 0.97, used: []Use{{of.Span, "in " + s.m.Records[up].Title}}, own: true}
			}
		}
		return proof{missing: []intent.Span{of.Span}}
	}
	p := s.having(r, of)
	if len(p.missing) == 0 {
		return p
	}
	for up, n := s.m.Records[r].Parent, 0; up >= 0 && n < 8; up, n = s.m.Records[up].Parent, n+1 {
		if q := s.having(up, of); len(q.missing) == 0 {
			q.score *= 0.97
			return q
		}
	}
	return p
}

// parents returns the records that are called what a description says and have others in them:
// "every part of the drum".
func (s *searcher) parents(of *intent.Description) []int {
	if s.hasFamily || len(of.Words) == 0 && of.Noun == "" {
		return s.family
	}
	s.hasFamily = true
	p := s.ix.phrase(append(wordAtoms(of), nounAtoms(of)...), s.w.Lang)
	for i := range s.m.Records {
		up := s.m.Records[i].Parent
		if up < 0 || slices.Contains(s.family, up) {
			continue
		}
		if p.match(s.ix.id(s.m.Records[up].Title)).whole {
			s.family = append(s.family, up)
		}
	}
	return s.family
}

// having proves that a record has what another description says: "with breakfast", "who rows".
func (s *searcher) having(r int, d *intent.Description) proof {
	sub := &searcher{ix: s.ix, m: s.m, d: d, w: s.w, depth: s.depth + 1, nouns: map[int]nounUse{}}
	if sub.depth > maxDepth {
		return proof{missing: []intent.Span{d.Span}}
	}
	atoms := append(wordAtoms(d), nounAtoms(d)...)
	sub.words, sub.noun = s.ix.phrase(atoms, s.w.Lang), s.ix.phrase(nil, s.w.Lang)
	p := s.explain(sub.words, r, s.trueRefs(r, sub.words))
	if d.Noun == "" {
		p = sub.lastWord(r, p)
	}
	if d.Noun != "" && len(d.Words) > 0 {
		p = s.forgive(p, d)
	}
	if d.Ordinal > 0 {
		p = sub.ordinalOf(r, d, p)
	}
	more, ok := sub.conditions(r)
	if !ok {
		return proof{missing: []intent.Span{d.Span}}
	}
	p = join(p, len(atoms), more, len(more.used)+len(more.missing))
	for i := range d.Compare {
		c := sub.compare([]int{r}, &d.Compare[i])
		if !c.holds[r] {
			return proof{missing: []intent.Span{d.Compare[i].Span}}
		}
		p = join(p, len(p.used), proof{score: 0.95, used: []Use{c.use}, own: true}, 1)
	}
	if len(p.used)+len(p.missing) == 0 {
		p.missing = []intent.Span{d.Span}
	}
	return p
}

// ordinalOf proves that a record shows an ordinal with the words of a side description: "on the
// second floor", which no word of it stands for.
func (s *searcher) ordinalOf(r int, d *intent.Description, p proof) proof {
	rec := &s.m.Records[r]
	for i := range rec.Attributes {
		a := &rec.Attributes[i]
		named := len(s.words.atoms) == 0 || s.words.match(s.ix.id(a.Text)).hits > 0 || s.words.match(s.ix.id(a.Name)).hits > 0
		if named && s.ix.words.ordinalIn(a.Text, d.Ordinal) {
			return join(p, len(p.used), proof{score: 0.95, used: []Use{{d.Span, "attribute"}}, own: true}, 1)
		}
	}
	p.missing = append(p.missing, d.Span)
	return p
}

// forgive takes the noun of a side description as explained where its words are: "for the
// customer Rita Moll" where the page says "Rita Moll".
func (s *searcher) forgive(p proof, d *intent.Description) proof {
	span := nounAtoms(d)[0].span
	if len(p.missing) != 1 || p.missing[0] != span || !p.own {
		return p
	}
	p.missing = nil
	p.score *= 2 * 0.9
	p.used = append(p.used, Use{Span: span, By: "kind"})
	return p
}

// trueRefs returns the texts of a record without the columns whose value says no.
func (s *searcher) trueRefs(r int, p *phrase) []ref {
	refs := s.ix.record(r)
	rec := &s.m.Records[r]
	out := refs
	cloned := false
	for i := len(refs) - 1; i >= 0; i-- {
		drop := false
		switch f := refs[i]; f.role {
		case label:
			drop = p.match(f.text).hits > 0 && f.sub >= 0 && s.ix.words.falsy(rec.Attributes[f.sub].Text)
		case inner:
			drop = p.match(f.text).hits > 0 && s.switchedOff(r, f.node)
		case value:
			drop = p.match(f.text).hits > 0 && s.ix.words.denied(s.ix.texts[f.text].source, p)
		}
		if drop {
			if !cloned {
				out, cloned = slices.Clone(refs), true
			}
			out = slices.Delete(out, i, i+1)
		}
	}
	return out
}

// switchedOff reports whether a node is a box or switch of the record that is off.
func (s *searcher) switchedOff(r, node int) bool {
	for _, f := range s.ix.inside[r] {
		if s.m.Fields[f].Node == node {
			return fieldOff(s.m, &s.m.Fields[f])
		}
	}
	return false
}

// fieldOff reports whether a box or switch is off.
func fieldOff(m *page.Model, f *page.Field) bool {
	return f.Node >= 0 && f.Node < len(m.Nodes) && m.Nodes[f.Node].Checked == "false"
}

// choose picks among the records by what is said of their set: bounds, extremes, ordinals.
func (s *searcher) choose(pool []Candidate) []Candidate {
	if len(pool) == 0 {
		return nil
	}
	for i := range s.d.Compare {
		pool = s.bounded(pool, &s.d.Compare[i])
	}
	pool = s.related(pool)
	if s.d.Extreme != nil {
		return s.extreme(pool)
	}
	if s.d.Ordinal != 0 {
		return s.ordinal(pool)
	}
	if plural, _ := s.plural(); plural {
		s.whole(pool)
	}
	return pool
}

// best returns the candidates that explain as much as the best one of each group does, by
// group in the order of the document.
func (s *searcher) best(pool []Candidate) map[int][]Candidate {
	top := map[int]float64{}
	for _, c := range pool {
		g := s.setOf(&c)
		if len(c.Missing) == 0 {
			top[g] = max(top[g], c.Score)
		}
	}
	out := map[int][]Candidate{}
	for _, c := range pool {
		g := s.setOf(&c)
		if len(c.Missing) == 0 && c.Score >= top[g]-0.16 {
			out[g] = append(out[g], c)
		}
	}
	return out
}

// setOf returns the set that a candidate is counted in: the group of a record, -1 of others.
func (s *searcher) setOf(c *Candidate) int {
	if c.What == Record {
		return s.m.Records[c.Index].Group
	}
	return -1
}
