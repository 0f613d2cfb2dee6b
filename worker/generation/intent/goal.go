// Package intent reads what a test shall do out of prose: goals with typed slots, in the
// best few readings. It knows words and grammar and nothing of the page.
//
// Every content word of the text ends in a slot of a goal (its Span), or in Unread of the
// reading: nothing is dropped. Whoever executes a goal says which of the spans were executed
// or checked on the page; what is left over is what was not done.
package intent

import (
	"slices"
	"strings"
	"time"
)

// Span is a part of the text: bytes From to To.
type Span struct{ From, To int }

// Effect is the class of what a goal changes on the page, or Check.
type Effect string

// The effects. What must be seen after each is the business of package effect.
const (
	Add      Effect = "add"      // one more thing, or Target into To: "put Salt on the list"
	Remove   Effect = "remove"   // Target is gone: delete, throw away, cancel an order, take off To
	Complete Effect = "complete" // Target is ticked, done, paid, read: state Become
	Reopen   Effect = "reopen"   // the opposite of Complete
	Toggle   Effect = "toggle"   // a setting Target to On
	Set      Effect = "set"      // Fields hold values; a form, a cell, one field
	Choose   Effect = "choose"   // Target (options) out of From: list, radio, date, segment
	Rate     Effect = "rate"     // Target gets Amount stars
	Open     Effect = "open"     // a thing, dialog, tab, menu, page of the site
	Close    Effect = "close"    // what is open
	Expand   Effect = "expand"   // section, tree item
	Collapse Effect = "collapse" //
	Sort     Effect = "sort"     // by Measure, Descending
	Filter   Effect = "filter"   // only Target, or by Fields, Comparisons
	Search   Effect = "search"   // for Text
	Page     Effect = "page"     // to the page Amount, next, previous, or Amount rows a page
	Move     Effect = "move"     // Target to To, at Place
	Submit   Effect = "submit"   // what was filled in: save, send, place the order, finish
	Abandon  Effect = "abandon"  // cancel the dialog, keep after all, step back
	Confirm  Effect = "confirm"  // the question that is asked
	SignIn   Effect = "sign_in"  //
	SignOut  Effect = "sign_out" //
	Navigate Effect = "navigate" // URL, back, forward, reload
	Edit     Effect = "edit"     // Target (its text, or Field of it) becomes Text: rename, replace, correct
	Append   Effect = "append"   // Text after what Target holds
	Clear    Effect = "clear"    // Target holds nothing, is empty
	Increase Effect = "increase" // by Amount
	Decrease Effect = "decrease" //
	Press    Effect = "press"    // the control Target, named; whatever it does
	Type     Effect = "type"     // keys
	Point    Effect = "point"    // hover
	Select   Effect = "select"   // rows, text: marked, not changed
	Upload   Effect = "upload"   //
	Download Effect = "download" //
	Copy     Effect = "copy"     //
	Scroll   Effect = "scroll"   //
	Resize   Effect = "resize"   //
	Window   Effect = "window"   // switch to another window or frame
	Wait     Effect = "wait"     //
	Check    Effect = "check"    // Claim holds
	Act      Effect = "act"      // any other verb on Target: "archive the mail", "pin it", "approve"
)

// Text is one text to do, in several readings, best first; none where nothing was read.
type Text struct {
	Source   string
	Lang     string // of the text: "en", "de", "es", "fr"
	Readings []Reading
}

// Reading is one way to understand the whole text.
type Reading struct {
	Goals []Goal
	// Unread are spans of content words that no slot took. A reading with any may be tried
	// only to say how far it comes; it is never COMPLETED.
	Unread []Span
	// Prior is how likely grammar alone makes it, 0 to 1.
	Prior float64
}

// Goal is one thing to reach, to check or not to do.
type Goal struct {
	Span   Span
	Effect Effect
	// Verb is the word as written, Lemma its base form with its particle ("take off",
	// "abhaken"): controls are often called so.
	Verb  Span
	Lemma string
	// Words are what else of the text the goal's own class stands for: the particle of the verb,
	// "descending", "twice". They are done when the effect is seen.
	Words []Span
	// State is the class of the state that Target has then by the verb itself ("pay": paid),
	// Concept what controls for it are called in all languages, Risk destroy, pay or send.
	State, Concept, Risk string
	// Begun: it is only started ("start to remove"): what a dialog asks then is left to the next goal.
	Begun bool
	// Target are the things it is done to; several are coordinated ("A, B and C").
	Target []Description
	// To is where it goes, or what holds it then: "on the shopping list", "to Done", "as
	// Pending"; From where it is taken out of.
	To, From *Description
	// Become is the state or property that Target has then: "as paid", "to high", "warm".
	Become *Value
	// Fields are values with what is said of their field: "rooms to 2", "as Paul Remy",
	// "for Clara", "12.40". Name is nil where only the value stands.
	Fields []Field
	// Text is what is searched for, typed, uploaded, edited to.
	Text *Value
	// Measure, Descending: of Sort. Amount: of Rate, Page, Increase, Wait (seconds).
	Measure    *Description
	Descending bool
	Amount     *Value
	// In is where all of it is done: "in the Payment frame enter ...", "under Advanced, ...".
	In *Description
	// With is the instrument: "with the cross that appears on hover", "via the menu".
	With *Description
	// Place: before, after, first, last, next, previous, top, bottom, left, right, back,
	// forward, reload.
	Place string
	// On is what Toggle sets: on, off.
	On    bool
	Keys  string // of Type: "Enter", "Control+a"
	Times int    // 0 is once
	// How is the kind of a press that the verb says: "double", "right", "long"; "" is a plain one.
	How    string
	Within time.Duration
	Claim  *Claim
	// If is a condition on the page: the goal is left out where it does not hold, and only
	// if- and when-clauses make one. Otherwise: it is done where the If of the goal before
	// did not hold.
	If        *Claim
	Otherwise bool
	// Forbidden: the effect must not happen ("but do not send it", "leave alone").
	// Expected: it must fail ("try to save without a name").
	Forbidden, Expected bool
	// Optional: "if asked".
	Optional bool
}

// Field is a value of a form with what the text calls its field.
type Field struct {
	Name  *Description // nil: not said
	Prep  string       // the word that joined them, lemma in its language: "to", "as", "for", "of", "mit"
	Value Value
	// Off: the field is not to be set ("no cake", "without the gift wrap", "ohne Mozzarella").
	Off bool
	// Keep: it stays as it is ("leave the phone alone").
	Keep bool
	Span Span
}

// Kind is what a noun says that a thing is, on any page.
type Kind string

// The kinds: of controls, of structure and of things. "" is none said.
const (
	Button, Link, FieldKind, CheckBox, Radio, List, Option Kind = "button", "link", "field", "checkbox", "radio", "list", "option"
	Tab, Menu, Dialog, Section, Form, Icon, Image          Kind = "tab", "menu", "dialog", "section", "form", "icon", "image"
	Row, Column, Cell, Table, Card, Item, PageKind         Kind = "row", "column", "cell", "table", "card", "item", "page"
	Message, Heading, Tree, Slider, Switch, WindowKind     Kind = "message", "heading", "tree", "slider", "switch", "window"
	Frame, Text_, Value_, Total, Count                     Kind = "frame", "text", "value", "total", "count"
)

// Description is a noun phrase: what somebody calls a thing of the page.
type Description struct {
	Span Span
	// Words are its content words as written, without articles, the kind's noun and what the
	// slots below took: "late frost" in "the note about the late frost". Forms of each word
	// are the business of package word.
	Words []Word
	// Quoted: Words are a quoted or capitalized name, to be compared whole.
	Quoted bool
	// Called: a thing that is made, whose Noun is any word that stands before "called"; before is
	// how many of Words do: of what is there already they are words like others.
	Called bool
	before int
	Kind   Kind
	// Flags are the words of Ordinal, Next, Other, All, Both, Only and Count.
	Flags []Span
	Noun  string // the word for the kind, as written: "contact", "film", "Eintrag"; also of kind ""
	// NounSpan is where Noun stands; empty where it is not known.
	NounSpan Span
	// Ordinal is 1 for the first, -1 for the last, 0 not said; Next and Other as said.
	Ordinal     int
	Next, Other bool
	// All, Both, Only as said; Count: "two of the boxes", "three jackets"; Except.
	All, Both, Only bool
	Count           int
	Except          []Description
	Extreme         *Extreme
	Compare         []Comparison
	// Of is what it is a property of: "the price of the blue van" is Words price, Of blue van.
	// In is what holds it: "in the Doing column", "under Advanced", "on the Baumarkt list".
	// Near and the like: Relation.
	Of, In *Description
	// Having are what a thing has besides its name: "with breakfast", "that sleeps four", "in
	// coral", "from Ann", "who rows"; Lacking: "without a size".
	Having, Lacking []Description
	Relation        []Relation
	// State: checked, disabled, selected, empty, overdue, unread: words for states, and the
	// words themselves where the lexicon has no class for them.
	State []State
	// Pronoun: it, them, that, one ("the blue one" is Pronoun with Words blue).
	Pronoun bool
	// Also are other names for it, in parentheses: "siège enfant (Child seat)".
	Also []Description
	// Or: further things of the same role in an assertion with "or".
	Or []Description
}

// Phrase is the words of d as they stand, without its noun.
func (d *Description) Phrase() string {
	parts := make([]string, len(d.Words))
	for i, w := range d.Words {
		parts[i] = w.Text
	}
	return strings.Join(parts, " ")
}

// Value is the words of d, of which there is at least one, as a value.
func (d *Description) Value() Value {
	words := Span{From: d.Words[0].Span.From, To: d.Words[len(d.Words)-1].Span.To}
	return Value{Span: words, Text: d.Phrase(), Quoted: d.Quoted}
}

// Without returns a description without the word, or the word for a state, of a span, and that word; nil where
// the span is none of these.
func (d *Description) Without(s Span) (*Description, *Word) {
	rest := *d
	if i := slices.IndexFunc(d.State, func(st State) bool { return st.Span == s && !st.Not }); i >= 0 {
		rest.State = slices.Delete(slices.Clone(d.State), i, i+1)
		return &rest, &Word{Span: s, Text: d.State[i].Text}
	}
	if i := slices.IndexFunc(d.Words, func(w Word) bool { return w.Span == s }); i >= 0 && !d.Quoted {
		rest.Words = slices.Delete(slices.Clone(d.Words), i, i+1)
		return &rest, &d.Words[i]
	}
	return d, nil
}

// Word is a content word.
type Word struct {
	Span Span
	Text string
	// Lemma is its base form where the lexicon has one, else "".
	Lemma string
}

// State is a word for a state.
type State struct {
	Span Span
	// Text is the word as written: where no state of the class is known it may be a name.
	Text string
	Name string // class of the lexicon, else the word: "checked", "disabled", "gone"
	Not  bool
}

// Extreme picks the least or greatest by something that things show.
type Extreme struct {
	Span    Span
	Measure string // class: price, duration, age, size, number, rating, date, name; or the noun of "the most sugar"
	Noun    *Word  // "sugar" in "with the most sugar"
	Max     bool
	// Rank is 2 for "the second cheapest"; 0 and 1 the first.
	Rank int
}

// Comparison is a bound on something that things show.
type Comparison struct {
	Span    Span
	Measure *Description // nil: by the unit
	Op      string       // "<", "<=", ">", ">=", "=", "between"
	Value   Value
	Upper   *Value // of between
}

// Relation is how a thing stands to another: near, below, above, left, right, after, before.
type Relation struct {
	Kind string
	To   Description
}

// Value is something to type, choose or compare with.
type Value struct {
	Span   Span
	Text   string // as it is to be typed: without quotes
	Quoted bool
	Number *float64
	// Unit is as written and its class: "euros" is money, "degrees", "minutes" is duration.
	Unit, UnitClass string
	Date            *Date
	// Also are other words for it, in parentheses: "geschnitten (sliced)".
	Also []Value
	// From: the value stands on the page ("the price that is shown above").
	From *Description
	// Saved is the name under which a step of the test keeps Text, which the page showed.
	Saved string
}

// Typed is what a step types of a value: its text, or the variable that a step has saved it in.
func (v *Value) Typed() string {
	if v.Saved == "" {
		return v.Text
	}
	return SavedText(v.Saved)
}

// SavedText is how a step refers to what another one has saved.
func SavedText(name string) string { return "{{saved:" + name + "}}" }

// Date is as far as the text says.
type Date struct {
	Year, Month, Day int    // 0: not said
	Hour, Minute     int    // -1: not said
	Relative         string // "day" with Days, "weekday" with Weekday, "now"
	Days             int
	Weekday          int // 0 Sunday; -1 not said
	// To is the end of a range.
	To *Date
}

// Property is what a claim is about.
type Property string

// The properties.
const (
	Shown     Property = "shown"     // Subject is there
	Gone      Property = "gone"      // is not
	Appears   Property = "appears"   // was not there before the goal before it, and is now
	Vanishes  Property = "vanishes"  //
	Is        Property = "is"        // Subject shows, holds or is in the state Values
	Contains  Property = "contains"  // Subject (a list, a text) has Values in it
	Counts    Property = "counts"    // number of Subject, Op Values[0]
	Order     Property = "order"     // Values stand in this order; Subject by Measure
	At        Property = "at"        // Subject is first, last, second (Ordinal of Values[0])
	In        Property = "in"        // Subject is in Where
	Unchanged Property = "unchanged" // Subject is as it was before
	Address   Property = "address"
	Title     Property = "title"
	Asked     Property = "asked" // the browser's own dialog
)

// Claim is something that must hold at the end of what stands before it.
type Claim struct {
	Span Span
	// Words are the words of the property itself: "is displayed", "any more", "left".
	Words    []Span
	Subject  []Description // nil: the page
	Property Property
	Not      bool
	// Only: nothing else of the kind ("only Salt is left").
	Only   bool
	Values []Value
	// Be is a state or a thing that the subject is: "is selected", "should be empty".
	Be    []State
	Where *Description
	Op    string // "=", ">=", "<=", "contains", "starts", "ends"
	// By and Descending: of Order.
	By         *Description
	Descending bool
	// Plain: nothing in the words says that it must be so ("is", not "should be").
	Plain bool
	// denies: it says nothing but "not" of its subject, and means what the claim before it says.
	denies bool
}
