package find

import (
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strconv"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// extreme picks the least or greatest of each group of the pool.
func (s *searcher) extreme(pool []Candidate) []Candidate {
	var out []Candidate
	sets := s.best(pool)
	for _, g := range keys(sets) {
		out = append(out, s.extremeOf(g, sets[g])...)
	}
	if len(out) == 0 {
		// No group shows the measure: the pool stays, with the extreme unexplained.
		for _, c := range pool {
			c.Missing = append(c.Missing, s.d.Extreme.Span)
			c.Score *= 0.5
			out = append(out, c)
		}
	}
	return out
}

// extremeOf picks the least or greatest records of one group.
func (s *searcher) extremeOf(g int, set []Candidate) []Candidate {
	e := s.d.Extreme
	rs := recordsOf(set)
	by := s.measuredBy(e)
	col, equal := s.column(rs, by)
	if col == nil {
		return nil
	}
	type ranked struct {
		c Candidate
		n float64
	}
	var rows []ranked
	for _, c := range set {
		if n, ok := s.number(col, c.Index); ok {
			if e.Max {
				n = -n
			}
			rows = append(rows, ranked{c, n})
		}
	}
	sort.SliceStable(rows, func(i, j int) bool { return rows[i].n < rows[j].n })
	rank := max(e.Rank, 1) - 1
	if rank >= len(rows) || len(rows)*2 <= len(set) { // what few of them show picks none of them
		return nil
	}
	if len(rows) < len(set) {
		s.found.Uncertain = "not all of them show " + colName(col)
	}
	s.found.SortBy, s.found.Descending = col.name, e.Max != col.reversed
	inOrder := slices.IsSortedFunc(rows, func(a, b ranked) int { return a.c.Index - b.c.Index })
	sorted := col.name != "" && g >= 0 && s.w.SortedBy == Sorted{s.m.Groups[g].Key, col.name}
	if !sorted || !inOrder || rank == len(rows)-1 {
		s.unseen(g)
	}
	end := "least"
	if e.Max {
		end = "greatest"
	}
	var out []Candidate
	for i, row := range rows {
		if row.n != rows[rank].n {
			continue
		}
		c := row.c
		c.Used = append(c.Used, Use{e.Span, fmt.Sprintf("%s %s of %d", end, colName(col), len(rows))})
		if e.Noun != nil {
			c.Used = append(c.Used, Use{e.Noun.Span, "column " + colName(col)})
		}
		c.Score = (c.Score + 0.9 + 0.1*col.score) / 2
		if equal {
			c.Score *= 0.8
		}
		if rank > 0 && i != rank {
			c.Score -= 0.001
		}
		out = append(out, c)
	}
	return out
}

func colName(c *column) string {
	if c.name != "" {
		return c.name
	}
	return string(c.kind)
}

// keys returns the groups of a map in order.
func keys[T any](m map[int]T) []int {
	out := make([]int, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	sort.Ints(out)
	return out
}

func recordsOf(cs []Candidate) []int {
	out := make([]int, len(cs))
	for i := range cs {
		out[i] = cs[i].Index
	}
	return out
}

// truncated is why nothing is said of all that a page has where only a part of it was read.
const truncated = "the page has more than was read"

// unseen says so where a group has more records than the page shows.
func (s *searcher) unseen(g int) {
	if s.m.Truncated { // whichever page was meant
		s.found.Uncertain = truncated
	}
	if g < 0 || g >= len(s.m.Groups) || s.found.Uncertain != "" || s.pageSaid() {
		return
	}
	gr := &s.m.Groups[g]
	switch {
	case gr.Pager >= 0 && !gr.OnePage:
		s.found.Uncertain = "the list has further pages"
	case gr.Node >= 0 && gr.Node < len(s.m.Nodes) && s.m.Nodes[gr.Node].Scrolls != "" && !s.complete(gr):
		s.found.Uncertain = "the list is scrolled"
	}
}

// complete reports whether all of a group that scrolls can be trusted to be on the page:
// lists that make their rows while they scroll have as many as fit.
func (s *searcher) complete(gr *page.Group) bool {
	if len(gr.Records) == 0 {
		return false
	}
	last := s.m.Records[gr.Records[len(gr.Records)-1]].Node
	box := s.m.Nodes[gr.Node].Box
	return s.m.Nodes[last].Box[1] > box[1]+box[3]
}

// pageSaid reports whether the description says on which page: "on the first page".
func (s *searcher) pageSaid() bool { return s.d.In != nil && s.d.In.Kind == intent.PageKind }

// whole says so where all are meant and not all are shown.
func (s *searcher) whole(pool []Candidate) {
	for i := range pool {
		s.unseen(s.m.Records[pool[i].Index].Group)
	}
}

// comparison is the outcome of a bound for a set of records.
type comparison struct {
	holds map[int]bool
	use   Use
	known bool
}

// extremeOption picks the least or greatest of the options of each field, by a quantity that
// their labels or what stands beside them show: "Basis 19,90 € im Monat".
func (s *searcher) extremeOption(cs []Candidate) []Candidate {
	e := s.d.Extreme
	class := map[string]string{"price": "money", "duration": "duration", "rating": "rating", "weight": "weight", "length": "length"}[e.Measure]
	by := map[int][]Candidate{}
	for _, c := range cs {
		if c.What == Option {
			by[c.Index] = append(by[c.Index], c)
		}
	}
	var out []Candidate
	for _, f := range keys(by) {
		best, n, known := 0.0, 0, 0
		var at []Candidate
		for _, c := range by[f] {
			v, ok := s.optionQuantity(&c, class)
			if !ok {
				continue
			}
			if e.Max {
				v = -v
			}
			known++
			if n == 0 || v < best {
				best, n, at = v, 1, at[:0]
			}
			if v == best {
				at = append(at, c)
			}
		}
		if known < 2 || known*2 < len(by[f]) {
			continue
		}
		s.unseen(-1)
		for _, c := range at {
			c.Used = append(c.Used, Use{e.Span, fmt.Sprintf("the end of %d options", known)})
			if e.Noun != nil {
				c.Used = append(c.Used, Use{e.Noun.Span, "measure"})
			}
			c.Score = (c.Score + 0.95) / 2
			out = append(out, c)
		}
	}
	return out
}

// optionQuantity returns what an option shows in a class of units; the first number with a unit
// where no class is known.
func (s *searcher) optionQuantity(c *Candidate, class string) (float64, bool) {
	o := &s.m.Fields[c.Index].Options[c.Sub]
	texts := []string{o.Label}
	for n, up := c.Node, 0; o.Node >= 0 && n >= 0 && up < 3; n, up = s.m.Nodes[n].Parent, up+1 {
		if n < s.m.Fields[c.Index].Node || n == s.m.Fields[c.Index].Node {
			break
		}
		texts = append(texts, s.m.Nodes[n].Text, s.m.Nodes[n].Name, s.m.Nodes[n].Description)
	}
	for _, t := range texts {
		for _, q := range s.ix.quantities(t) {
			if class == "" || q.class == class {
				return q.value, true
			}
		}
		if m := priced.FindStringSubmatch(t); m != nil && class == "money" {
			v, err := strconv.ParseFloat(m[1]+"."+m[2], 64)
			return v, err == nil
		}
	}
	return 0, false
}

// priced matches a text with a number that is written as prices are, without their currency: "Marinara 6.50".
var priced = regexp.MustCompile(`(?:^|\s)(\d+)[.,](\d\d)$`)

// bounded keeps the records for which a bound holds.
func (s *searcher) bounded(pool []Candidate, b *intent.Comparison) []Candidate {
	sets := map[int][]Candidate{}
	for _, c := range pool {
		sets[s.setOf(&c)] = append(sets[s.setOf(&c)], c)
	}
	var out []Candidate
	for _, g := range keys(sets) {
		r := s.compare(recordsOf(sets[g]), b)
		for _, c := range sets[g] {
			switch {
			case !r.known:
				c.Missing = append(c.Missing, b.Span)
				c.Score *= 0.5
				out = append(out, c)
			case r.holds[c.Index]:
				c.Used = append(c.Used, r.use)
				c.Score = (c.Score + 0.95) / 2
				out = append(out, c)
			}
		}
	}
	return out
}

// compare finds out for which records a bound holds.
func (s *searcher) compare(rs []int, b *intent.Comparison) comparison {
	m := &measured{unit: b.Value.UnitClass}
	if m.unit == "" && b.Upper != nil {
		m.unit = b.Upper.UnitClass
	}
	if b.Value.Date != nil {
		m.class = "date"
	}
	if b.Measure != nil {
		m.words = s.ix.phrase(append(wordAtoms(b.Measure), nounAtoms(b.Measure)...), s.w.Lang)
		if x := b.Measure.Extreme; x != nil { // "cheaper than 20"
			unit := m.unit
			m = s.measuredBy(x)
			m.unit = unit
		}
	}
	col, _ := s.column(rs, m)
	out := comparison{holds: map[int]bool{}}
	want, ok := amount(&b.Value)
	if col == nil || !ok {
		return out
	}
	upper := want
	if b.Upper != nil {
		if upper, ok = amount(b.Upper); !ok {
			return out
		}
	}
	out.known = true
	out.use = Use{b.Span, "by " + colName(col)}
	for _, r := range rs {
		if n, has := s.number(col, r); has && within(n, b.Op, want, upper) {
			out.holds[r] = true
		}
	}
	return out
}

// within reports whether n keeps a bound.
func within(n float64, op string, want, upper float64) bool {
	const small = 1e-9
	switch op {
	case "<":
		return n < want-small
	case "<=":
		return n <= want+small
	case ">":
		return n > want+small
	case ">=":
		return n >= want-small
	case "between":
		return n >= want-small && n <= upper+small
	}
	return n > want-small && n < want+small
}

// lift takes an extreme out of what the thing has: "the request with the most days".
func (s *searcher) lift() {
	for i := range s.d.Having {
		h := &s.d.Having[i]
		if h.Extreme == nil || s.d.Extreme != nil || len(h.Having) > 0 {
			continue
		}
		d := *s.d
		d.Extreme = h.Extreme
		d.Having = append(append([]intent.Description{}, d.Having[:i]...), d.Having[i+1:]...)
		if h.Extreme.Noun == nil && (len(h.Words) > 0 || h.Noun != "") { // "with the shortest duration"
			e := *h.Extreme
			e.Noun = &intent.Word{Span: h.NounSpan, Text: h.Noun}
			if len(h.Words) > 0 {
				e.Noun = &h.Words[0]
			}
			d.Extreme = &e
		}
		s.d = &d
		return
	}
}
