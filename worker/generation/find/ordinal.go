package find

import (
	"fmt"
	"sort"

	"github.com/slipway-qa/slipway/worker/generation/intent"
)

// ordinal picks the first, second or last of the candidates that the rest of the description
// means, counted in each group by itself in the order of the document.
func (s *searcher) ordinal(pool []Candidate) []Candidate {
	sets := s.best(pool)
	var out []Candidate
	for _, g := range keys(sets) {
		set := s.outermost(byNode(sets[g]))
		out = append(out, s.nth(g, set)...)
	}
	if len(out) == 0 {
		for _, c := range pool {
			c.Missing = append(c.Missing, s.d.Span)
			c.Score *= 0.5
			out = append(out, c)
		}
		return out
	}
	return s.mainSet(out)
}

// nth returns the candidate at the ordinal of the description, with Count as many of them.
func (s *searcher) nth(g int, set []Candidate) []Candidate {
	n, k := s.d.Ordinal, max(s.d.Count, 1)
	from := n - 1
	if n < 0 {
		from = len(set) + n - (k - 1)
		s.unseen(g)
	}
	if from < 0 || from+k > len(set) {
		return nil
	}
	out := make([]Candidate, 0, k)
	for _, c := range set[from : from+k] {
		c.Used = append(c.Used, Use{s.d.Span, fmt.Sprintf("number %d of %d", n, len(set))})
		c.Score = (c.Score + 0.95) / 2
		out = append(out, c)
	}
	return out
}

// mainSet ranks candidates out of several groups: that of the larger group is likelier where
// only an ordinal and a word for any row were said.
func (s *searcher) mainSet(cs []Candidate) []Candidate {
	if len(cs) < 2 || len(s.words.atoms) > 0 {
		return cs
	}
	size := map[int]int{}
	for i := range s.m.Groups {
		gr := &s.m.Groups[i]
		size[i] = len(gr.Records)
		if gr.Kind == "table" {
			size[i] *= 2 // a table is what rows are spoken of
		}
		if gr.Node >= 0 && gr.Node < len(s.m.Nodes) && s.navigation(gr.Node) {
			size[i] = 0
		}
	}
	top := 0
	for i := range cs {
		top = max(top, size[s.setOf(&cs[i])])
	}
	for i := range cs {
		if cs[i].What == Record && size[s.setOf(&cs[i])]*2 <= top {
			cs[i].Score *= 0.9
		}
	}
	return cs
}

// navigation reports whether a node stands in what leads through the site.
func (s *searcher) navigation(node int) bool {
	for n := 0; node >= 0 && n < 64; n++ {
		switch s.m.Nodes[node].Role {
		case "navigation", "banner", "contentinfo", "menu", "menubar", "tablist", "toolbar":
			return true
		}
		node = s.m.Nodes[node].Parent
	}
	return false
}

// byNode sorts candidates in the order of the document.
func byNode(cs []Candidate) []Candidate {
	sort.SliceStable(cs, func(i, j int) bool { return cs[i].Node < cs[j].Node })
	return cs
}

// related keeps the candidates that stand to another thing as the description says.
func (s *searcher) related(pool []Candidate) []Candidate {
	for i := range s.d.Relation {
		rel := &s.d.Relation[i]
		to := searchAt(s.m, &rel.To, Want{Lang: s.w.Lang, Within: -1, Hidden: s.w.Hidden, Among: s.w.Among}, s.depth+1)
		if len(to.Candidates) == 0 || len(to.Missing) > 0 {
			for j := range pool {
				pool[j].Missing = append(pool[j].Missing, rel.To.Span)
				pool[j].Score *= 0.5
			}
			continue
		}
		pool = s.standTo(pool, rel.Kind, &to.Candidates[0])
	}
	return pool
}

// standTo scores candidates by how near they are to another thing on the side that is said.
func (s *searcher) standTo(pool []Candidate, kind string, to *Candidate) []Candidate {
	var out []Candidate
	least := -1
	for _, c := range pool {
		if c.Node == to.Node {
			continue
		}
		if d, ok := s.distance(c.Node, to.Node, kind); ok {
			c.Used = append(append(c.Used, to.Used...), Use{s.relationSpan(kind), kind + " " + to.Why})
			c.Score -= min(float64(d)/4000, 0.3)
			out = append(out, c)
			if least < 0 || d < least {
				least = d
			}
		}
	}
	return out
}

func (s *searcher) relationSpan(kind string) intent.Span {
	for _, r := range s.d.Relation {
		if r.Kind == kind {
			return r.To.Span
		}
	}
	return s.d.Span
}

// distance returns how far a node is from another one on a side of it; false where it is not
// on that side.
func (s *searcher) distance(a, b int, kind string) (int, bool) {
	if a < 0 || b < 0 || a >= len(s.m.Nodes) || b >= len(s.m.Nodes) {
		return 0, false
	}
	x, y := s.m.Nodes[a].Box, s.m.Nodes[b].Box
	dx, dy := gap(x[0], x[2], y[0], y[2]), gap(x[1], x[3], y[1], y[3])
	d := dx + dy
	switch kind {
	case "above":
		return d, x[1]+x[3] <= y[1]+2
	case "below":
		return d, x[1] >= y[1]+y[3]-2
	case "left":
		return d, x[0]+x[2] <= y[0]+2
	case "right":
		return d, x[0] >= y[0]+y[2]-2
	case "before":
		return d, a < b
	case "after":
		return d, a > b
	}
	return d, true
}

// gap is what lies between two stretches, 0 where they overlap.
func gap(a, w, b, v int) int { return max(0, b-(a+w), a-(b+v)) }
