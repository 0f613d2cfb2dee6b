// Package effect says what changed on a page between two moments, and what must and must not
// have changed for a goal to be reached. It is pure.
//
// The difference of two models (package page) is taken once: records that came, went, moved or
// changed, fields with other values, controls with other states, dialogs that opened or closed,
// another address. Each class of effect (package intent) then has its judgement: added is one
// more record with the text, removed is this record gone and no other, sorted is the order of
// the typed attribute. What nothing shows is judged to be unseen, which is no success.
package effect

import (
	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// Change is the difference of two models of a page.
type Change struct {
	Before, After *page.Model
	// Added and Removed are records (indices in After and Before) that only one has; Changed
	// are pairs of one record whose attributes, states or control names differ.
	Added, Removed []int
	Changed        []Pair
	Moved          []Pair // other group or place, the rest the same
	Fields         []Pair // fields whose value differs
	Opened, Closed []int  // containers: dialogs, menus, panels, sections
	// Lines that are new, and gone.
	NewLines, GoneLines []int
	// Controls whose state or name differs.
	Controls                []Pair
	URL, Title, Dialog, Set bool  // Set: another set of records in one group (page, filter, search)
	Reordered               []int // groups of After whose records stand in another order
	Nothing                 bool
	Windows                 bool   // another number of windows
	Looks                   []Pair // nodes whose classes or colours differ

	groups, records, fields, controls pairing
}

// Pair is one thing in both models.
type Pair struct{ Before, After int }

// Between returns what changed.
func Between(before, after *page.Model) *Change { return between(before, after) }

// Verdict is what a change says about a goal.
type Verdict struct {
	State State
	Why   string
	// Used are words of the goal that the change itself shows executed: the state that a
	// record took, the list that it went into.
	Used []find.Use
	// Gone: all that speaks for it is that the target is not seen any more.
	Gone bool
	// Back: it holds only where all that came was there before.
	Back bool
	// Undirected: an order came or was chosen, and nothing that is seen shows its direction.
	Undirected bool
	// Refused: all that came is a message that says no.
	Refused bool
	// Harm names what changed and must not have: another record is gone.
	Harm string
}

// State of a goal after a try.
type State string

// The states.
const (
	Reached State = "reached" // what must be seen was seen
	Partly  State = "partly"  // a step on the way: a dialog opened, a menu shows the option
	Unseen  State = "unseen"  // nothing speaks for it
	Wrong   State = "wrong"   // something else happened
)

// Judge says whether a change reaches a goal whose target was resolved.
func Judge(c *Change, g *intent.Goal, target []find.Candidate) Verdict { return judge(c, g, target) }
