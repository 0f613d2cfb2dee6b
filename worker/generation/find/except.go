package find

// excepted reports whether a candidate is what the description leaves out.
func (s *searcher) excepted(c *Candidate) bool {
	for i := range s.d.Except {
		f := searchAt(s.m, &s.d.Except[i], Want{Kinds: []What{c.What}, Lang: s.w.Lang, Within: s.w.Within, Hidden: s.w.Hidden}, s.depth+1)
		for _, x := range f.Candidates {
			if x.Node == c.Node && len(x.Missing) == 0 && x.Score >= Enough {
				return true
			}
		}
	}
	return false
}

// exceptUses are the words of what is left out: leaving it out explains them.
func (s *searcher) exceptUses() []Use {
	var out []Use
	for i := range s.d.Except {
		out = append(out, Use{Span: s.d.Except[i].Span, By: "left out"})
	}
	return out
}
