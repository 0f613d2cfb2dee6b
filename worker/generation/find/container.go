package find

import (
	"sort"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// enter finds what In of the description means and narrows the search to it. Where nothing is
// called so, In is taken as something that the thing has: "in room 203".
func (s *searcher) enter() {
	in := s.d.In
	if in == nil || in.Pronoun && len(in.Words) == 0 {
		return
	}
	if s.w.Opened || wholePage(in) {
		return
	}
	inside := containers(s.m, in, s.w, s.depth+1)
	if tab, ok := s.tab(in); ok && (len(inside) == 0 || inside[0].Score <= tab.Score+Margin || len(inside[0].Missing) > 0) {
		s.found.Inside = []Candidate{tab}
		if s.current(tab.Node) {
			s.open = &tab
			return
		}
	}
	if len(inside) == 0 || inside[0].Score < Enough || len(inside[0].Missing) > 0 {
		inside = s.recordAround(in)
	}
	if len(inside) == 0 {
		d := *s.d
		d.In, d.Having = nil, append(append([]intent.Description{}, d.Having...), *in)
		s.d = &d
		return
	}
	s.found.Inside = inside
	for _, c := range inside {
		if c.Score > inside[0].Score-Margin && len(c.Missing) == 0 {
			s.inside = append(s.inside, c)
		}
	}
}

// recordAround returns the record that In means, where it has something in it to use: "in the row
// of Bo", "in the post by @kim". What is looked for as a record itself is not in one, but where In
// says so.
func (s *searcher) recordAround(in *intent.Description) []Candidate {
	says := in.Kind == intent.Row || in.Kind == intent.Card || in.Kind == intent.Item
	if !says && (len(s.w.Kinds) == 0 || s.wants(Record)) {
		return nil
	}
	w := Want{Kinds: []What{Record}, Lang: s.w.Lang, Within: s.w.Within, Hidden: s.w.Hidden, Among: s.w.Among}
	f := searchAt(s.m, in, w, s.depth+1)
	if !f.Clear() || f.Plural || len(f.Assumed) > 0 && !says && len(in.Words) == 0 || !s.holds(f.Candidates[0].Index) {
		return nil
	}
	return f.Candidates[:1]
}

// tab returns the tab or link that In names as a whole: what it opens holds the thing.
func (s *searcher) tab(in *intent.Description) (Candidate, bool) {
	d := *in
	d.Kind = ""
	sub := newSearcher(s.m, &d, Want{Lang: s.w.Lang, Within: -1, Kinds: []What{Control}}, s.depth+1)
	best := Candidate{}
	for _, c := range sub.controls() {
		role := s.m.Nodes[c.Node].Role
		tabs := role == "" || role == "tab" || role == "link" || role == "radio" || role == "button" || role == "option"
		if !tabs || len(c.Missing) > 0 || c.Score < 0.85 {
			continue
		}
		if c.Score > best.Score && sub.wholeName(c.Index) {
			best = c
		}
	}
	return best, best.Score > 0
}

// wholeName reports whether one of the names of a control is what is said and nothing else.
func (s *searcher) wholeName(control int) bool {
	p := s.words
	if len(p.atoms) == 0 {
		p = s.noun
	}
	for _, n := range s.m.Controls[control].Names {
		if m := p.match(s.ix.id(n.Text)); m.whole || m.badge {
			return true
		}
	}
	return false
}

// current reports whether a tab or link is the one that is open.
func (s *searcher) current(node int) bool {
	n := &s.m.Nodes[node]
	for i := range s.m.Fields {
		for _, o := range s.m.Fields[i].Options {
			if o.Selected && o.Node >= 0 && (o.Node == node || s.ix.nested(o.Node, node)) && !s.m.Fields[i].Multiple {
				return true // one of a row of buttons for views
			}
		}
	}
	return n.Selected == "true" || n.Checked == "true" && n.Role != "checkbox"
}

// wholePage reports whether In says no more than where the reader is: "on the page", "in the
// new tab". To be there is the business of whoever asks.
func wholePage(in *intent.Description) bool {
	if len(in.Words) > 0 {
		return false
	}
	return in.Kind == intent.PageKind || in.Kind == intent.WindowKind || in.Kind == "" && in.Noun == ""
}

// useInside adds to a candidate the words of In that its place explains.
func (s *searcher) useInside(c *Candidate) {
	if s.d.In == nil {
		return
	}
	if s.w.Opened || wholePage(s.d.In) {
		c.Used = append(c.Used, Use{s.d.In.Span, "the page"})
		return
	}
	if s.open != nil {
		c.Used = append(c.Used, s.open.Used...)
		c.Used = append(c.Used, Use{s.d.In.Span, "what is open: " + s.open.Why})
		return
	}
	if in := s.insideOf(c.Node); in != nil {
		c.Used = append(c.Used, in.Used...)
		c.Used = append(c.Used, Use{s.d.In.Span, "in " + in.Why})
	}
}

// Containers returns what may hold things and is meant by a description, best first: what "in
// the Doing column" or "under Advanced" says of a goal.
func Containers(m *page.Model, d *intent.Description, w Want) []Candidate {
	return containers(m, d, w, 0)
}

// containers returns what may hold things and is meant by a description, best first: sections,
// dialogs, columns, panels, lists, groups of records, and records that hold others.
func containers(m *page.Model, d *intent.Description, w Want, depth int) []Candidate {
	if depth > maxDepth {
		return nil
	}
	w.Hidden = true
	if d.Kind == intent.Heading { // "under the heading Work": what is below it
		one := *d
		one.Kind, one.Noun, d = "", "", &one
	}
	s := newSearcher(m, d, w, depth)
	var out []Candidate
	for i := range m.Containers {
		c := &m.Containers[i]
		if cand, ok := s.thing(Container, i, -1, c.Node, s.ix.container(i)); ok {
			out = append(out, cand)
		}
	}
	for g := range m.Groups {
		gr := &m.Groups[g]
		if gr.Title == "" || len(s.words.atoms) == 0 && len(s.noun.atoms) > 0 {
			if cand, ok := s.groupNamed(g); ok {
				out = append(out, cand)
			}
		}
		if gr.Title == "" {
			continue
		}
		if cand, ok := s.thing(Container, -1, g, gr.Node, s.ix.add(nil, gr.Title, title, gr.Node)); ok {
			out = append(out, cand)
		}
	}
	for r := range m.Records {
		if refs := s.ix.add(nil, m.Records[r].Title, title, m.Records[r].Node); s.words.wholeOf(refs) && s.holds(r) {
			if cand, ok := s.thing(Record, r, -1, m.Records[r].Node, refs); ok {
				cand.Score *= 0.95
				out = append(out, cand)
			}
		}
	}
	if d.Kind == intent.FieldKind || d.Kind == intent.Text_ {
		for i := range m.Fields {
			if cand, ok := s.thing(Field, i, -1, m.Fields[i].Node, s.ix.field(&m.Fields[i])); ok {
				out = append(out, cand)
			}
		}
	}
	if d.Ordinal != 0 {
		out = s.ordinal(out)
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].Score > out[j].Score })
	return out[:min(len(out), 12)]
}

// groupNamed returns a group whose records the noun names, or that is of the kind that is said:
// "the requests", "the table".
func (s *searcher) groupNamed(g int) (Candidate, bool) {
	if len(s.noun.atoms) == 0 || len(s.words.atoms) > 0 || s.selects() || s.d.Of != nil {
		return Candidate{}, false
	}
	gr := &s.m.Groups[g]
	score := 0.0
	switch {
	case s.d.Kind == intent.Table && gr.Kind == "table", s.d.Kind == intent.List && gr.Kind == "list", s.d.Kind == intent.Tree &&
		gr.Kind == "tree":
		score = 0.85
	case s.nounUse(g) == nounGroup, s.nounUse(g) == nounColumn:
		score = 0.86
	case s.nounUse(g) == nounPage:
		score = 0.72
	default:
		return Candidate{}, false
	}
	a := s.noun.atoms[0]
	return Candidate{What: Container, Index: -1, Sub: g, Node: gr.Node, Score: score * s.standing(gr.Node),
		Used: []Use{{a.span, "names the list"}}, Why: a.text}, true
}

// holds reports whether a record has others, or fields and controls, in it.
func (s *searcher) holds(r int) bool {
	if len(s.m.Records[r].Controls) > 0 || len(s.ix.inside[r]) > 0 {
		return true
	}
	n := s.m.Records[r].Node
	for i := r + 1; i < len(s.m.Records) && i < r+4; i++ {
		if s.m.Records[i].Parent == r || s.ix.below(s.m.Records[i].Node, n) {
			return true
		}
	}
	return false
}

// container returns the texts of a container.
func (ix *index) container(i int) []ref {
	c := &ix.m.Containers[i]
	refs := ix.add(nil, c.Title, title, c.Node)
	if c.Kind != "dialog" && asksName(c.Title) { // what a question opens
		refs = ix.add(refs, "answer", inner, c.Node)
	}
	if c.Opener >= 0 && c.Opener < len(ix.m.Controls) {
		for _, n := range ix.m.Controls[c.Opener].Names {
			refs = ix.add(refs, n.Text, title, ix.m.Controls[c.Opener].Node)
		}
	}
	return ix.around(refs, -1, c.Parent)
}
