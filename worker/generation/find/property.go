package find

// properties returns what a description means that is a property of something else: "the
// price of the blue van" is an attribute, a field or a control of the record.
func (s *searcher) properties() []Candidate {
	owners := s.owners()
	var out []Candidate
	for i := range owners {
		o := &owners[i]
		if o.What == Record {
			out = append(out, s.attributes(o)...)
		}
	}
	return out
}

// owners returns what Of means.
func (s *searcher) owners() []Candidate {
	of := s.d.Of
	if of.Pronoun && len(of.Words) == 0 {
		return s.w.Among
	}
	w := Want{Kinds: []What{Record}, Lang: s.w.Lang, Within: s.w.Within, Hidden: s.w.Hidden, Among: s.w.Among, Except: s.w.Except}
	f := searchAt(s.m, of, w, s.depth+1)
	if len(f.Missing) > 0 {
		return nil
	}
	if f.Uncertain != "" {
		s.found.Uncertain = f.Uncertain
	}
	return f.Candidates
}

// attributes returns the attributes, fields and controls of a record that the words name.
func (s *searcher) attributes(owner *Candidate) []Candidate {
	var out []Candidate
	add := func(w What, index, sub, node int, score float64, by string) {
		if !s.wants(w) {
			return
		}
		c := Candidate{What: w, Index: index, Sub: sub, Node: node, Why: by + " of " + owner.Why}
		c.Score = min(score, 1) * (0.6 + 0.4*owner.Score) * s.standing(node)
		c.Used = append(c.Used, owner.Used...)
		c.Used = append(c.Used, s.spans(by)...)
		c.Missing = append(c.Missing, owner.Missing...)
		out = append(out, c)
	}
	rec := &s.m.Records[owner.Index]
	for i := range rec.Attributes {
		a := &rec.Attributes[i]
		if p, ok := s.names(a.Name); ok {
			add(Attribute, owner.Index, i, a.Node, p, "column "+a.Name)
		} else if m := s.byType(owner.Index, i); m > 0 {
			add(Attribute, owner.Index, i, a.Node, m, string(a.Type))
		}
	}
	for _, f := range s.ix.inside[owner.Index] {
		for _, n := range s.m.Fields[f].Names {
			if p, ok := s.names(n); ok {
				add(Field, f, -1, s.m.Fields[f].Node, p, "field "+n)
				break
			}
		}
	}
	for _, c := range rec.Controls {
		for _, n := range s.m.Controls[c].Names {
			if p, ok := s.names(n.Text); ok {
				add(Control, c, -1, s.m.Controls[c].Node, p*0.98, "control "+n.Text)
				break
			}
		}
	}
	return out
}

// names reports how well a name is what all words of the description, with its noun, say.
func (s *searcher) names(name string) (float64, bool) {
	id := s.ix.id(name)
	if id < 0 {
		return 0, false
	}
	p := s.both()
	if len(p.atoms) == 0 {
		return 0, false
	}
	pr := p.explain([]ref{{text: id, role: title}})
	return pr.score, len(pr.missing) == 0
}

// both is the phrase of the words with the noun.
func (s *searcher) both() *phrase {
	if len(s.noun.atoms) == 0 {
		return s.words
	}
	if len(s.words.atoms) == 0 {
		return s.noun
	}
	if s.joined == nil {
		s.joined = s.ix.phrase(append(append([]atom{}, s.words.atoms...), s.noun.atoms...), s.w.Lang)
	}
	return s.joined
}

// spans are the words of the description and its noun, as used.
func (s *searcher) spans(by string) []Use {
	var out []Use
	for _, a := range s.both().atoms {
		out = append(out, Use{a.span, by})
	}
	return out
}

// byType says how well an attribute without the name is what the words ask for by its type:
// the only money of a record is its price. Titles are its name, title, text and subject.
func (s *searcher) byType(r, i int) float64 {
	rec := &s.m.Records[r]
	a := &rec.Attributes[i]
	p := s.both()
	if len(p.atoms) != 1 {
		return 0
	}
	word := p.atoms[0].text
	if a.Text == rec.Title && s.ix.words.names(word, s.w.Lang) {
		return 0.9
	}
	if a.Text == rec.Title && s.ix.words.tells(word, s.w.Lang) {
		return 0.55 // the text of a thing is rather what it holds than what it is called
	}
	fits := false
	for class, ts := range types {
		if ts[0] == a.Type && s.ix.words.measuresIn(word, class, s.w.Lang) {
			fits = true
		}
	}
	if !fits {
		return 0
	}
	for j := range rec.Attributes {
		if j != i && rec.Attributes[j].Type == a.Type && !rec.Attributes[j].Struck {
			return 0.7
		}
	}
	return 0.88
}
