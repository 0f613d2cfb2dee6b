package find

import (
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// column is an attribute that several records have, by which they can be compared.
type column struct {
	key   string
	name  string
	kind  page.Type
	score float64
	// at holds which attribute of each record it is, in holds numbers that stand in a longer text
	// and are not the attribute's own: "Rower, 16 years".
	at map[int]int
	in map[int]float64
	// unit is the class of the unit behind the numbers of in.
	unit string
	// reversed: what is greater here is less in the measure: a later birth is a lower age.
	reversed bool
}

// measured says what to measure by.
type measured struct {
	class string // price, age: of the lexicon
	unit  string // class of a unit: money
	words *phrase
}

// columns returns the attributes that the records have in common.
func (s *searcher) columns(pool []int) []*column {
	var out []*column
	by := map[string]*column{}
	for _, r := range pool {
		n := map[page.Type]int{}
		attrs := s.m.Records[r].Attributes
		for i := range attrs {
			a := &attrs[i]
			if a.Struck {
				continue
			}
			key := a.Name
			if key == "" {
				key = string(a.Type) + "#" + string(rune('0'+min(n[a.Type], 40)))
				n[a.Type]++
			}
			c := by[key]
			if c == nil {
				c = &column{key: key, name: a.Name, kind: a.Type, at: map[int]int{}}
				by[key] = c
				out = append(out, c)
			}
			if _, ok := c.at[r]; !ok {
				c.at[r] = i
			}
			if a.Number != nil && c.kind == page.Text {
				c.kind = a.Type
			}
			if a.Number == nil {
				out = s.inText(out, by, key, a.Name, a.Text, r, i)
			}
		}
		for n, k := range s.m.Records[r].Controls { // "Book for $230": the price stands on the button
			if names := s.m.Controls[k].Names; len(names) > 0 && (names[0].From == "name" || names[0].From == "text") {
				out = s.inText(out, by, "control#"+string(rune('0'+min(n, 40))), "", names[0].Text, r, -1)
			}
		}
	}
	return out
}

// inText adds columns for the numbers with units in a longer text: that of an attribute i, or of a
// control, where i is -1.
func (s *searcher) inText(out []*column, by map[string]*column, key, name, text string, r, i int) []*column {
	if len(text) > 200 {
		return out
	}
	for _, q := range s.ix.quantities(text) {
		k := key + "/" + q.class
		c := by[k]
		if c == nil {
			c = &column{key: k, name: name, kind: page.Number, at: map[int]int{}, in: map[int]float64{}, unit: q.class}
			switch q.class {
			case "money":
				c.kind = page.Money
			case "duration":
				c.kind = page.Duration
			case "rating":
				c.kind = page.Rating
			}
			by[k] = c
			out = append(out, c)
		}
		if _, ok := c.in[r]; !ok {
			c.in[r] = q.value
			if i >= 0 {
				c.at[r] = i
			}
		}
	}
	return out
}

// types are the types of attributes that measures and units are shown in.
var types = map[string][]page.Type{
	"price": {page.Money, page.Number}, "money": {page.Money}, "cost": {page.Money}, "salary": {page.Money},
	"revenue": {page.Money}, "amount": {page.Money, page.Number},
	"duration": {page.Duration, page.Time}, "time": {page.Time, page.Duration}, "rating": {page.Rating}, "date": {page.Date, page.Time},
	"age": {page.Date, page.Number, page.Duration}, "number": {page.Number}, "count": {page.Number}, "size": {page.Number},
	"length": {page.Number},
	"weight": {page.Number}, "temperature": {page.Number}, "name": {page.Text}, "quality": {page.Rating},
}

// rate says how well a column shows what is to be measured.
func (s *searcher) rate(c *column, m *measured) float64 {
	best := 0.0
	name := s.ix.id(c.name)
	if m.words != nil && len(m.words.atoms) > 0 {
		if name >= 0 {
			if got := m.words.match(name); got.hits > 0 {
				best = 0.9 * float64(got.hits) / float64(len(m.words.atoms))
				if got.whole {
					best = 1
				}
			}
		}
		best = max(best, 0.85*s.inValues(c, m.words))
	}
	if m.class != "" && name >= 0 {
		best = max(best, 0.93*s.ix.words.measures(c.name, m.class))
	}
	for i, t := range types[m.class] {
		if t == c.kind && !s.otherUnit(c, t) {
			best = max(best, 0.7-0.08*float64(i))
		}
	}
	if u := s.unitOf(c); m.unit != "" && u == m.unit {
		best = max(best, 0.72)
	}
	return best
}

// otherUnit reports whether the numbers of a column have a unit, and are counted as plain ones: hours
// are no price.
func (s *searcher) otherUnit(c *column, t page.Type) bool {
	return t == page.Number && c.name == "" && s.unitOf(c) != ""
}

// inValues returns how many of the values have the words: "4 days" has days.
func (s *searcher) inValues(c *column, p *phrase) float64 {
	n := 0
	for r, i := range c.at {
		if p.match(s.ix.id(s.m.Records[r].Attributes[i].Text)).hits > 0 {
			n++
		}
	}
	if n*2 <= len(c.at) {
		return 0
	}
	return 1
}

// unitOf returns the class of the unit of a column: money, duration, or by the unit shown.
func (s *searcher) unitOf(c *column) string {
	if c.in != nil {
		return c.unit
	}
	switch c.kind {
	case page.Money:
		return "money"
	case page.Duration:
		return "duration"
	}
	for r, i := range c.at {
		if u := s.m.Records[r].Attributes[i].Unit; u != "" {
			return s.ix.words.unit(u)
		}
	}
	return s.ix.words.unitIn(c.name)
}

// column returns the column that shows a measure; nil where none does. Equal is set where two
// do so equally well and do not show the same order.
func (s *searcher) column(pool []int, m *measured) (best *column, equal bool) {
	var second float64
	for _, c := range s.columns(pool) {
		if m.class != "name" && !s.numeric(c) {
			continue
		}
		c.score = s.rate(c, m)
		switch {
		case c.score < 0.5:
		case best == nil || c.score > best.score+0.001:
			if best != nil {
				second = best.score
			}
			best = c
		default:
			second = max(second, c.score)
		}
	}
	if best == nil {
		return nil, false
	}
	best.reversed = s.aged(m) && s.born(best)
	return best, second > best.score-0.02
}

// aged reports whether a measure is one of age.
func (s *searcher) aged(m *measured) bool {
	if m.class == "age" || m.words == nil {
		return m.class == "age"
	}
	for _, a := range m.words.atoms {
		if s.ix.words.anyOf(s.ix.words.concepts(a.text, langsOf(s.w.Lang)...), "age", "old", "young", "aged") {
			return true
		}
	}
	return false
}

// numeric reports whether most values of a column are numbers.
func (s *searcher) numeric(c *column) bool {
	if c.in != nil {
		return true
	}
	n := 0
	for r, i := range c.at {
		if s.m.Records[r].Attributes[i].Number != nil {
			n++
		}
	}
	return n > 0 && n*2 >= len(c.at)
}

// born reports whether a column holds dates or years, which say when and not how old.
func (s *searcher) born(c *column) bool {
	if c.in != nil {
		return false
	}
	for r, i := range c.at {
		a := &s.m.Records[r].Attributes[i]
		if a.Number == nil {
			continue
		}
		year := a.Type == page.Number && *a.Number >= 1900 && *a.Number <= 2100 && a.Unit == "" && !strings.ContainsAny(a.Text, ".,")
		if a.Type != page.Date && !year {
			return false
		}
	}
	return true
}

// number returns what a record shows in a column.
func (s *searcher) number(c *column, r int) (float64, bool) {
	if c.in != nil {
		n, ok := c.in[r]
		return n, ok
	}
	i, ok := c.at[r]
	if !ok || s.m.Records[r].Attributes[i].Number == nil {
		return 0, false
	}
	n := *s.m.Records[r].Attributes[i].Number
	if c.reversed {
		n = -n
	}
	return n, true
}

// measuredBy returns what an extreme measures by.
func (s *searcher) measuredBy(e *intent.Extreme) *measured {
	m := &measured{class: e.Measure}
	if e.Noun != nil {
		m.words = s.ix.phrase([]atom{{span: e.Noun.Span, text: e.Noun.Text, lemma: e.Noun.Lemma}}, s.w.Lang)
	} else if types[e.Measure] == nil && e.Measure != "" {
		m.words = s.ix.phrase([]atom{{span: e.Span, text: e.Measure}}, s.w.Lang)
	}
	return m
}
