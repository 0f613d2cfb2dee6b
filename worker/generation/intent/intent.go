// Package intent reads what a test shall do out of prose: "Log in as ann, then open
// the second order and verify that its total is 12.50".
//
// Read splits a text into clauses and each clause into instructions. It knows words
// and grammar, and nothing of the page. Where a text can be read in several ways
// ("click Save and close": one button or two instructions) the clause has several
// readings, best first, and the planner looks which one the page allows. What it
// cannot read at all is a clause without readings; nothing is guessed.
//
// All words of a language are in one table (English, German). Names in the text are
// kept as they are written: quoted, in capitals, or as the words between those that
// the grammar knows.
package intent

import "time"

// Kind is what an instruction does.
type Kind string

// The kinds of instructions.
const (
	Open        Kind = "open"         // URL, or the page that Target names
	Click       Kind = "click"        // Target; also press, tap, hit, follow, open of a thing on the page
	DoubleClick Kind = "double_click" // Target
	RightClick  Kind = "right_click"  // Target
	Hover       Kind = "hover"        // Target
	Fill        Kind = "fill"         // Values[0] into Target (nil: the only or the focused field); replaces
	Append      Kind = "append"       // Values[0] after what Target holds
	Clear       Kind = "clear"        // Target
	Copy        Kind = "copy"         // the text or value of Target into To
	Choose      Kind = "choose"       // Values out of Target (nil: wherever they are): lists, radios, menus, dates
	Check       Kind = "check"        // Target, and Values as further names: check boxes and switches; also "turn on"
	Uncheck     Kind = "uncheck"
	Adjust      Kind = "adjust"   // Target (slider, spinner, quantity) to Values[0], or by Values[0] with By
	Press       Kind = "press"    // Key, in Target if given
	Scroll      Kind = "scroll"   // to Target, or Direction, in Within of Target
	Drag        Kind = "drag"     // Target to To, at Place
	Sort        Kind = "sort"     // the items of Target: Values is their order, or Order
	Upload      Kind = "upload"   // Values[0] (a file's name or content) into Target
	Wait        Kind = "wait"     // Duration
	WaitFor     Kind = "wait_for" // Assertion
	Accept      Kind = "accept"   // the browser's dialog (Values[0] is the text for a prompt), a banner, terms
	Dismiss     Kind = "dismiss"  // the same
	Window      Kind = "window"   // switch to the window that Target names; "" the newest; Place last, first, Back
	Back        Kind = "back"     // in the history
	Forward     Kind = "forward"
	Reload      Kind = "reload"
	Resize      Kind = "resize"   // Values: width and height
	Expand      Kind = "expand"   // Target: section, tree item, menu
	Collapse    Kind = "collapse" // Target
	Submit      Kind = "submit"   // the form (of Target)
	Close       Kind = "close"    // Target: dialog, popup, banner, tab of the page; nil: what is open
	Activate    Kind = "activate" // Verb on Target: "delete the mail from Ann", "add two lamps to the cart", "like the post"
	LogIn       Kind = "log_in"   // Values[0] user, Values[1] password
	Find        Kind = "find"     // bring Target into view, whatever must be opened for it
	Assert      Kind = "assert"   // Assertion
)

// Clause is a part of the text that asks for something.
type Clause struct {
	Text     string // as it was written
	Readings []Reading
	// Reason says why there are no readings.
	Reason string
	Lang   string // "en", "de"
}

// Reading is one way to understand a clause.
type Reading struct {
	Instructions []Instruction
	// Prior says how likely the grammar alone makes this reading, from 0 to 1.
	Prior float64
}

// Instruction is one thing to do or to check.
type Instruction struct {
	Text   string // the words that it was read from
	Kind   Kind
	Verb   string // of Activate: the word of the text in its base form ("delete", "reply", "löschen")
	Target *Phrase
	// Item is what is chosen (Choose) where it is described and not named: "the second
	// option", "all colours", "the cheapest flight". Values is empty then.
	Item   *Phrase
	To     *Phrase
	Place  Place
	Values []Value
	// Details are what is said of an activity besides: from where, to where, when.
	Details   []Detail
	By        int           // of Adjust: +1 increases by Values[0] (or one), -1 decreases
	Order     string        // of Sort: "ascending" or "descending"
	Key       string        // of Press, as tests write it: Enter, Control+a
	Times     int           // how often; 0 and 1 are once
	Duration  time.Duration // of Wait; of others how long they may take ("within 5 seconds")
	Direction string        // up, down, left, right, top, bottom
	URL       string
	Assertion *Assertion
	// If is a condition without which the instruction is skipped, and Optional says so
	// of the thing itself ("if a banner appears, close it"; "accept cookies if asked").
	If       *Assertion
	Else     bool // done when If does not hold ("otherwise")
	Optional bool
	Lang     string // "en", "de"
}

// Detail is something that is said of an activity: "from A", "to B", "on 12/05/2016".
type Detail struct {
	Name  string // from, to, date
	Value Value
}

// Place is where something goes relative to a target.
type Place string

// The places.
const (
	Onto   Place = ""
	Before Place = "before"
	After  Place = "after"
	First  Place = "first"
	Last   Place = "last"
	At     Place = "at" // the position in Values[0], from 1
)

// Phrase describes an element in words: "the second Delete button in the row of Ann".
type Phrase struct {
	Text string // as it was written
	// Name is what the element is called, without articles and the word for its kind;
	// "" when only its kind or place is said ("the third link").
	Name string
	// Exact is set for a quoted name.
	Exact bool
	// Roles are the ARIA roles that its kind means, best first: "field" is textbox,
	// searchbox, combobox, spinbutton. Noun is the word of the text. None: any.
	Roles []string
	Noun  string
	// Ordinal is 1 for the first; -1 is the last, -2 the one before it; 0: not said.
	Ordinal int
	// All means each of them; Except are those left out. Count: "two of the boxes".
	All bool
	// Only is set for "only A": others must not be.
	Only   bool
	Count  int
	Except []Phrase
	// Further names of the same kind: "check A, B and C".
	Others []Phrase
	// Relations narrow it down: "in the row of Ann", "under heading Y", "next to Z".
	Relations []Relation
	// State is what it must be: checked, disabled, expanded, selected, focused, empty, required.
	State map[string]bool
	// Attributes that are seen and not said: color, shape, size ("the red circle").
	Looks map[string]string
	// Extreme is set for superlatives: "the cheapest flight", "the smallest circle".
	Extreme *Extreme
	// Pronoun: it, that, them: what the instruction before was about.
	Pronoun bool
	// Owner of a value: "the price of the lamp" is Name price with a Relation Of.
}

// Extreme picks the least or the greatest of several by something that they show.
type Extreme struct {
	Of  string // price, duration, size, number, rating, date
	Max bool
}

// Relation says how an element stands to another.
type Relation struct {
	Kind RelationKind
	Phrase
}

// RelationKind is how an element stands to another.
type RelationKind string

// The kinds of relations.
const (
	In      RelationKind = "in"     // inside: dialog, section, form, list, frame, table, row, column, menu, page
	Of      RelationKind = "of"     // belongs to: "the price of the lamp", "the mail from Ann"
	Under   RelationKind = "under"  // below a heading or label
	Above   RelationKind = "above"  //
	Beside  RelationKind = "beside" // next to, near, left of and right of (Side)
	LeftOf  RelationKind = "left"
	RightOf RelationKind = "right"
	Behind  RelationKind = "after"  // follows in the document
	Ahead   RelationKind = "before" // precedes in the document
	With    RelationKind = "with"   // has the text or element inside ("the row with 12.50", "the card containing X")
	Like    RelationKind = "like"   // means the same: "words similar to fast"
)

// Value is something to type, choose or compare with.
type Value struct {
	Text   string // as it is to be typed
	Quoted bool
	// Number is set for numbers, and words for them ("two").
	Number *float64
	// Date is set for dates and times: what is not said is zero (see When).
	Date *Date
	// From is set when the value stands on the page: "the price that is shown above". Text
	// has the words then.
	From *Phrase
	// Prefix, Suffix and Part are set when only these are said of it: "an item that
	// starts with "Co" and ends with "ge"". Text has the words then.
	Prefix, Suffix, Part string
	// Label is what the text calls the value: "password" in `the password "x"`.
	Label string
}

// Date is a date, a time or both, as far as the text says. Relative ones ("tomorrow",
// "in three days", "next Monday") have Relative set ("day", "now" or one with a weekday), and are resolved when the test is
// written.
type Date struct {
	Year, Month, Day     int // 0: not said
	Hour, Minute, Second int // -1: not said
	Relative             string
	Days                 int // with Relative "day": from today
	// Weekday is 0 for Sunday, with Relative "next weekday", "this weekday" or "last
	// weekday".
	Weekday int
}

// Property is what an assertion compares.
type Property string

// The properties.
const (
	IsVisible  Property = "visible"
	IsHidden   Property = "hidden"
	IsEnabled  Property = "enabled"
	IsChecked  Property = "checked"
	IsSelected Property = "selected"
	IsFocused  Property = "focused"
	IsExpanded Property = "expanded"
	IsEmpty    Property = "empty"
	IsRequired Property = "required"
	HasText    Property = "text"
	HasValue   Property = "value"
	HasCount   Property = "count"
	HasOrder   Property = "order" // Values in this order, or Order ascending, descending
	HasAttr    Property = "attribute"
	HasURL     Property = "url"    // of the page
	HasTitle   Property = "title"  // of the page
	HasDialog  Property = "dialog" // the text of the browser's dialog
)

// Assertion is something that must hold.
type Assertion struct {
	Text     string
	Subject  *Phrase // nil: the page
	Property Property
	Not      bool
	// Mode is one of storage/step's: equals, contains, matches, at_least, at_most.
	Mode   string
	Name   string // of the attribute; of HasOrder what it is sorted by
	Order  string
	Values []Value
	// Also are further assertions of a condition, all of which must hold.
	Also []Assertion
}
