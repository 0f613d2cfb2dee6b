// Package find finds what a description means on a page: records first, then fields,
// controls, containers and texts, each candidate with a score, a margin to the next one, and
// the words of the description that it explains.
package find

import (
	"github.com/slipway-qa/slipway/worker/generation/next/intent"
	"github.com/slipway-qa/slipway/worker/generation/next/page"
)

// What is the kind of thing that a candidate is.
type What string

// The kinds.
const (
	Record    What = "record"
	Attribute What = "attribute" // of a record: "the price of the blue van"
	Field     What = "field"
	Option    What = "option" // of a field
	Control   What = "control"
	Container What = "container"
	Line      What = "line"
	Column    What = "column"
)

// Candidate is a thing that may have been meant.
type Candidate struct {
	What  What
	Index int // in Model's slice of that kind; of Attribute and Option the owner's
	Sub   int // which attribute, option or column (of the group Index)
	Node  int
	Score float64 // 0 to 1
	// Used are the spans of the description that it explains, each with why: "title", "column
	// price", "is the least of 4", "in Doing".
	Used []Use
	Why  string // for people
}

// Use is a word of the description that a candidate explains.
type Use struct {
	Span intent.Span
	By   string
}

// Want narrows what may be found.
type Want struct {
	Kinds []What
	// Lang is the language of the text; the page may be in another.
	Lang string
	// Hidden: also what is not seen now.
	Hidden bool
	// Within narrows to a container or record node, -1.
	Within int
}

// Found is the result of a search.
type Found struct {
	Candidates []Candidate
	// Sets: where the description is plural (all, both, two, only, A and B), Candidates are
	// its members, Wanted how many there must be, 0 for "all there are".
	Plural bool
	Wanted int
	// Missing are spans that no candidate explains, and Ambiguous is set where the best two
	// are too near.
	Missing   []intent.Span
	Ambiguous bool
}

// Description returns what d may mean on m, best first.
func Description(m *page.Model, d *intent.Description, w Want) Found {
	return search(m, d, w)
}
