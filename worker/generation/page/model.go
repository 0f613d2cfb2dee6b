// Package page makes a pure model of a snapshot of a page: what a person would say is on it.
//
// It has records (rows, cards, entries of lists and trees, events: by role, or by repeated
// structure) with typed attributes, fields with their labels, by markup or by nearness, controls
// with their names and icons, and containers (sections, dialogs, forms, columns) with titles.
// Nothing is asked of the browser: the same snapshot makes the same model, so that two moments
// can be compared (package effect) and descriptions be looked up (package find).
//
// What is alike is found by package shape, what a text says as a value by package value. How
// many elements there are is bounded by the snapshot.
package page

import (
	"github.com/slipway-qa/slipway/worker/generation/page/shape"
	"github.com/slipway-qa/slipway/worker/generation/page/value"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// Model is a page at one moment. Nodes are named by their index in Snapshot.Nodes; refs
// stay the same from one moment to the next.
type Model struct {
	*snapshot.Snapshot
	Records  []Record
	Groups   []Group
	Fields   []Field
	Controls []Control
	// Containers are sections, dialogs, columns, panels, forms, frames, lists with a title.
	Containers []Container
	// Lines are texts as they are read: what stands in one block, with its node.
	Lines []Line
	// Front is the container in front (an open modal dialog, popup or menu), -1 without one.
	Front int
	// Memo is what package find keeps of the model between two searches; nil before the first.
	Memo any

	index    *snapshot.Index
	record   []int // the innermost record around each node, -1
	holder   []int // the innermost container around each node, -1
	field    []int // the field whose node or option it is, -1
	control  []int // the control that it is, -1
	patterns map[shape.Pattern]bool
}

// Group is a set of records of one structure: a table, a list, a grid of cards, a tree.
type Group struct {
	Node    int // the element around them
	Records []int
	Columns []Column
	Kind    string // table, list, cards, tree, calendar
	// Title is what it is called: caption, heading before it, label; "" unknown.
	Title string
	// Pager, Counter: nodes, -1 none.
	Pager, Counter int
	// OnePage: the pager says that there is no other page: "Page 1 of 1".
	OnePage bool
	// FirstPage: the pager or the counter says that what is seen is the first page: "1–10 of 57".
	FirstPage bool
	// Key names the group in every snapshot of the page.
	Key string
}

// Column is an attribute that the records of a group have.
type Column struct {
	Name string // header or repeated label; "" where none is shown
	Type Type
	Node int // of the header, -1
	// Sorts is set where the header can be pressed, with Sorted "ascending", "descending" or "".
	Sorts  bool
	Sorted string
}

// Type is the type of what an attribute shows.
type Type = value.Type

// The types.
const (
	Text     = value.Text
	Number   = value.Number
	Money    = value.Money
	Date     = value.Date
	Time     = value.Time
	Duration = value.Duration
	Rating   = value.Rating
	State    = value.State // one of few words: open, paid, Admin
	Image    = value.Image
)

// Record is a thing: a row, a card, an item.
type Record struct {
	Group  int
	Node   int    // the element around it
	Index  int    // in its group, from 0
	Parent int    // the record around it (tree items), -1
	Title  string // by what it is called: its heading, its first text
	// Attributes are in the order of the document; the title is one of them.
	Attributes []Attribute
	// Controls are indices into Model.Controls of those inside.
	Controls []int
	// States: checked, selected, done (struck through), disabled, expanded, hidden behind hover.
	States []string
	// Key names the thing in every snapshot of the page, also when the page makes its elements
	// anew: by its group, its title and which of those of this title it is. The element's ref
	// stays when its title changes.
	Key string
}

// Attribute is something that a record shows.
type Attribute struct {
	Name string // of its column, label, or class hint; "" unknown
	Node int
	Text string
	Type Type
	// Number is the amount of numbers, money (in its unit), durations (seconds), ratings, and
	// of dates the seconds since 1970; Unit as written.
	Number *float64
	Unit   string
	// Strikes: shown, and said to hold no more (an old price, a done task).
	Struck bool
}

// Field is something that holds a value: input, select, group of radios, slider, switch,
// editable text, cell that is edited in place, rating.
type Field struct {
	Node  int
	Kind  string // text, number, date, time, choice, choices, switch, slider, rating, file, editor, shown
	Label string // by markup, else by nearness
	// Names are all by which it may be called, best first: label, placeholder, name, group.
	Names                                  []string
	Group                                  string // legend, heading of its block
	Container                              int
	Record                                 int // in which it stands, -1
	Value                                  string
	Options                                []Option
	Required, Disabled, ReadOnly, Multiple bool
	Unit                                   string // shown beside it
	// Less and More are the controls that step it, indices into Model.Controls, -1.
	Less, More int
	// InPlace: the value is a text, and is changed after a double click or Enter.
	InPlace bool
	// Entries: each text that is entered becomes an entry beside the field, as tags do.
	Entries bool
	Hidden  bool
	Key     string
}

// Option is one of a field.
type Option struct {
	Label    string
	Value    string
	Node     int // of radios and listbox options; -1 of native selects
	Selected bool
	Disabled bool
}

// Control is something that does something when it is used.
type Control struct {
	Node int
	Role string
	// Names are all by which it may be called, best first: accessible name, text, title,
	// icon by its hints through the lexicon's icons ("trash" is remove).
	Names []Name
	// Icon is set where it shows no text.
	Icon      bool
	Record    int    // -1
	Container int    // -1
	State     string // checked, pressed, selected, expanded, disabled, ""
	Opens     bool   // popup, menu, dialog, by ARIA
	// Reveal: it is seen only on hover or focus of this node, -1.
	Reveal          int
	Hidden, Covered bool
	Key             string
}

// Name is a name of a control or a container, with where it comes from.
type Name struct {
	Text string
	From string // name, text, label, title, description, placeholder, icon, near, looks, id
}

// Container holds other things and has a name.
type Container struct {
	Node   int
	Kind   string // dialog, section, form, column, tab, panel, menu, list, table, card, frame, region, toolbar
	Title  string
	Parent int
	// Opener is the control that shows what is hidden in it, -1.
	Opener        int
	Hidden, Modal bool
	// End is the index after the last node inside: a section that only its heading shows begins
	// at the heading, and what is in it is not below that node.
	End int
	Key string
}

// Line is a text as it is read.
type Line struct {
	Node      int
	Text      string
	Record    int
	Container int
	Live      bool // alert, status, toast
	Heading   int  // level, 0 none
}

// New returns the model of a snapshot.
func New(s *snapshot.Snapshot, settings ...Setting) *Model {
	return build(s, settings)
}

// Index returns the ways through the nodes.
func (m *Model) Index() *snapshot.Index { return m.index }

// Inside reports whether a node is in another one, or is it.
func (m *Model) Inside(outer, inner int) bool {
	if outer < 0 || inner < 0 || inner >= len(m.Nodes) {
		return false
	}
	for inner > outer {
		inner = m.Nodes[inner].Parent
	}
	return inner == outer
}

// RecordAt returns the innermost record around a node, or that it is; -1 without one.
func (m *Model) RecordAt(node int) int { return at(m.record, node) }

// ContainerAt returns the innermost container around a node; -1 without one.
func (m *Model) ContainerAt(node int) int { return at(m.holder, node) }

// FieldAt returns the field of a node: its own, or that of which it is an option; -1.
func (m *Model) FieldAt(node int) int { return at(m.field, node) }

// ControlAt returns the control that a node is; -1.
func (m *Model) ControlAt(node int) int { return at(m.control, node) }

// Holds reports whether a node is in a container.
func (m *Model) Holds(container, node int) bool {
	return container < 0 || (node >= m.Containers[container].Node && node < m.Containers[container].End)
}

func at(list []int, i int) int {
	if i < 0 || i >= len(list) {
		return -1
	}
	return list[i]
}
