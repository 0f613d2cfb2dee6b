package step

import "iter"

// Relation is another element that a selector's own lies near, below, above or beside, and
// how far from it at most, in CSS pixels between their edges. A distance of 0 is 50 pixels
// for near and any for the others, as Playwright has it.
type Relation struct {
	Selector *Selector `json:"selector"`
	Distance int       `json:"distance,omitempty"`
}

// namedRelation is a relation of a selector with the name of its member.
type namedRelation struct {
	name string
	at   **Relation
}

// relations returns those that a selector has.
func (s *Selector) relations() []namedRelation {
	var list []namedRelation
	for _, r := range []namedRelation{{"near", &s.Near}, {"below", &s.Below}, {"above", &s.Above}, {"leftOf", &s.LeftOf},
		{"rightOf", &s.RightOf}} {
		if *r.at != nil {
			list = append(list, r)
		}
	}
	return list
}

// Relations returns the relations of a selector by their members' names, in their order.
func (s *Selector) Relations() iter.Seq2[string, *Relation] {
	return func(yield func(string, *Relation) bool) {
		for _, r := range s.relations() {
			if !yield(r.name, *r.at) {
				return
			}
		}
	}
}

func (c *selectorCheck) relation(path string, r *Relation, depth int) error {
	if r.Selector == nil {
		return Invalid(path+".selector", "is missing")
	}
	if r.Distance < 0 || r.Distance > maxViewport {
		return Invalid(path+".distance", "must be 0 to %d pixels", maxViewport)
	}
	return c.check(path+".selector", r.Selector, depth+1)
}

// relation returns a copy with the mapped texts of its selector.
func (m *textMapper) relation(r *Relation) *Relation {
	changed := *r
	changed.Selector = m.selector(r.Selector)
	return &changed
}
