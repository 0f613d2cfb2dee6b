package find

import (
	"github.com/slipway-qa/slipway/worker/generation/lexicon"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// typeWords adds those words of a description that say what a column shows and not how it is called:
// "the year of birth" over years, whose head is "Birth". They are for a head that does not say all: as
// they stand in the text they would count before a head that says the same in another language.
func (s *searcher) typeWords(refs []ref, gr *page.Group, c *page.Column) []ref {
	node := max(c.Node, gr.Node)
	for _, a := range s.words.atoms {
		for _, id := range lexicon.Concept(a.text, s.w.Lang) {
			if s.shows(gr, c, id.Name()) {
				refs = s.ix.add(refs, a.text, around, node)
				break
			}
		}
	}
	return refs
}

// shows reports whether all values of a column are of the type that a concept stands for.
func (s *searcher) shows(gr *page.Group, c *page.Column, concept string) bool {
	fits := typeOf[concept]
	n := 0
	for _, r := range gr.Records {
		for i := range s.m.Records[r].Attributes {
			a := &s.m.Records[r].Attributes[i]
			if a.Name != c.Name {
				continue
			}
			if fits == nil || !fits(a) {
				return false
			}
			n++
		}
	}
	return n > 0
}

// typeOf are the types that concepts stand for.
var typeOf = map[string]func(a *page.Attribute) bool{
	"year": func(a *page.Attribute) bool {
		return a.Type == page.Date || a.Number != nil && *a.Number >= firstYear && *a.Number <= lastYear
	},
	"date":   func(a *page.Attribute) bool { return a.Type == page.Date },
	"number": func(a *page.Attribute) bool { return a.Type == page.Number },
	"amount": func(a *page.Attribute) bool { return a.Type == page.Money || a.Type == page.Number },
	"price":  func(a *page.Attribute) bool { return a.Type == page.Money },
}

// firstYear and lastYear bound what is a year and no other number.
const (
	firstYear = 1800
	lastYear  = 2200
)
