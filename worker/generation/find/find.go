// Package find finds what a description means on a page: records first, then fields,
// controls, containers and texts, each candidate with a score, a margin to the next one, and
// the words of the description that it explains.
//
// Every word of a description must be explained by something of the candidate: a word of its
// title, an attribute, a column, a state, what holds it, its kind, or the name of its group.
// A candidate that leaves a word unexplained is still returned, as the nearest there is, with
// the word in Missing: it is not what was meant.
//
// Scores are on one scale: from 0.85 the thing has all words as its own name or as attributes,
// from 0.7 it has them with what stands around it, and below 0.5 a word is missing. Two scores
// that differ by less than Margin are equal.
package find

import (
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// Margin is how far the best candidate must be above the next one to be the only one meant.
const Margin = 0.04

// Enough is the least score of a candidate that may be acted on.
const Enough = 0.6

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
	Index int // in Model's slice of that kind; of Attribute and Option the owner's, of Column the group's
	Sub   int // which attribute, option or column
	Node  int
	Score float64 // 0 to 1
	// Assumed are nouns that nothing explains but that there is only one list.
	Assumed []intent.Span
	// Used are the spans of the description that it explains, each with why: "title", "column
	// price", "is the least of 4", "in Doing".
	Used []Use
	// Missing are those that it does not explain.
	Missing []intent.Span
	Why     string // for people
}

// Use is a word of the description that a candidate explains.
type Use struct {
	Span intent.Span
	By   string
}

// Want narrows what may be found.
type Want struct {
	// Kinds are the kinds of thing that the goal can be done to, likeliest first; none is any
	// kind.
	Kinds []What
	// Lang is the language of the text; the page may be in another.
	Lang string
	// Hidden: also what is not seen now.
	Hidden bool
	// Within narrows to a container or record: a node below which things must be, -1 anywhere.
	Within int
	// Several: all that are meant, also where the text has no word for it: what a filter leaves.
	Several bool
	// WholeWords: no part of a word names a thing, as "hammer" a sledgehammer: what is found is to be destroyed.
	WholeWords bool
	// Opened: what In of the description names was opened by whoever asks, and holds all that is
	// seen now.
	Opened bool
	// SortedBy is the column by which all of a list is sorted of which the first page is seen: what is first
	// there is the least or greatest of all of it.
	SortedBy Sorted
	// Taken are the refs of fields that hold what was put there already: Assign leaves them out, but
	// for lists of which several are chosen.
	Taken map[string]bool
	// Told is what the text says now: a text of the page that repeats it tells people what to do,
	// and is not what it speaks of.
	Told string
	// Among are what pronouns stand for: "the second of them", "its price", "it".
	Among []Candidate
	// Except are what "the other" leaves out; Spoken is how many were spoken of, also of those that are
	// gone.
	Except []Candidate
	Spoken int
	// But are nodes that no value goes into: those that values were read of.
	But []int
}

// Sorted is a column of a list, which a group's Key names.
type Sorted struct{ Group, Column string }

// Found is the result of a search.
type Found struct {
	// Candidates are best first. Where the description is plural (all, both, two, only) or
	// Plural is set they are its members, in the order of the document.
	Candidates []Candidate
	Plural     bool
	// Wanted is how many members there must be, 0 for "all there are".
	Wanted int
	// Amount is how many of one thing are meant: "two loaves of rye". It is for whoever adds; what
	// removes must not take one thing for two.
	Amount int
	// Missing are spans that the best candidate does not explain; Ambiguous is set where the
	// best two are too near.
	Missing   []intent.Span
	Ambiguous bool
	// Margin is how far the best candidate is above the next one.
	Margin float64
	// Assumed are nouns that name nothing on the page and were taken for the only group there
	// is: what destroys should not be done on them alone.
	Assumed []intent.Span
	// SortBy is the column that shows the measure of an extreme, and Descending whether the one that is meant
	// stands first where a list falls by it.
	SortBy     string
	Descending bool
	// Uncertain says why an extreme, a count or "all" may not hold: the list has further pages.
	Uncertain string
	// Inside are the containers that In of the description may mean, best first; where the best
	// one is hidden it has to be opened before anything is found in it. A Control is a tab or
	// link of that name that is not the open one: press it, and search with Opened.
	Inside []Candidate
}

// Clear reports whether one thing, or all members, were found and nothing speaks against it.
func (f *Found) Clear() bool {
	if len(f.Candidates) == 0 || len(f.Missing) > 0 || f.Ambiguous {
		return false
	}
	if f.Plural {
		return len(f.Assumed) == 0 && (f.Wanted == 0 || len(f.Candidates) == f.Wanted)
	}
	return f.Candidates[0].Score >= Enough
}

// Description returns what d may mean on m, best first.
func Description(m *page.Model, d *intent.Description, w Want) Found {
	return search(m, d, w)
}
