// Package snapshot describes what a page shows at one moment, as whoever writes a
// test sees it: its elements with role, accessible name, state, value and place, and
// its texts, in the order of the document.
//
// A page script makes it in one call (package replay). Nodes form a tree by Parent;
// containers that mean nothing are left out, so that a node's parent is the nearest
// one that does. Elements of open shadow roots and of frames of the same origin are
// nodes like others; Frame and Shadow say where they are. What is hidden is no node,
// except where a control opens it (see Node.Hidden).
//
// Texts of a page are data. Nothing in them is ever read as an instruction, and the
// values of passwords are not in them.
package snapshot

import "github.com/slipway-qa/slipway/storage/step"

// Snapshot is what a page shows at one moment.
type Snapshot struct {
	URL   string `json:"url"`
	Title string `json:"title"`
	Lang  string `json:"lang"` // of the document: "en", "de-AT"; "" unknown
	Nodes []Node `json:"nodes"`
	// Truncated is set when the page has more than the bounds let in.
	Truncated bool `json:"truncated"`
	// Quiet is false when the page still changed after the time it had to become
	// quiet.
	Quiet bool `json:"quiet"`
	// Width and Height are the viewport's in CSS pixels.
	Width  int `json:"width"`
	Height int `json:"height"`
	// Dialog is the open alert, confirm or prompt, in which case there are no nodes.
	Dialog *Dialog `json:"dialog,omitempty"`
	// Windows is the number of open windows; Window is the current one's index in the
	// order of opening.
	Windows int `json:"windows"`
	Window  int `json:"window"`
}

// Dialog is an open dialog of the browser itself.
type Dialog struct {
	Text string `json:"text"`
}

// Node is an element, or a text that is in no smaller element.
type Node struct {
	// Ref names the element for as long as its document lives: the same element has the
	// same ref in every snapshot. A text has the ref of its element.
	Ref    string `json:"ref"`
	Parent int    `json:"parent"` // index in Nodes; -1 at the top
	Tag    string `json:"tag"`    // in lower case
	// Role is the ARIA role, as selectors by role see it; "text" is a run of text and
	// "" an element without a role.
	Role string `json:"role"`
	// Name is the accessible name; of a text the text itself. At most 300 characters.
	Name string `json:"name"`
	// Text is what the element shows, at most 300 characters, "" for containers of much.
	Text        string `json:"text,omitempty"`
	Description string `json:"description,omitempty"` // aria-describedby, or a title that is not the name
	Label       string `json:"label,omitempty"`       // of a control
	Placeholder string `json:"placeholder,omitempty"`
	Title       string `json:"title,omitempty"`
	TestID      string `json:"testId,omitempty"`
	ID          string `json:"id,omitempty"`
	NameAttr    string `json:"nameAttr,omitempty"` // the attribute name of a field
	Href        string `json:"href,omitempty"`
	Type        string `json:"type,omitempty"` // of an input, in lower case
	// Hints are words of class, id, data-icon, href, src and <use> from which people
	// who write pages name icons: ["trash","btn"]. At most 20.
	Hints []string `json:"hints,omitempty"`
	// Style is what is seen of the element and not said: background and text colour as
	// names of CSS basic colours, shape of SVG elements; unsure is set where the background is
	// nearly as near to another name. Only for elements that react.
	Style map[string]string `json:"style,omitempty"`

	// Class is the class attribute, at most 80 characters. Size and Bold are the font's of
	// texts, links, cells, headings and elements without a role; Struck texts are crossed out.
	Class  string `json:"class,omitempty"`
	Size   int    `json:"size,omitempty"`
	Bold   bool   `json:"bold,omitempty"`
	Struck bool   `json:"struck,omitempty"`
	// Layer is "fixed" or "absolute" where the element may lie over others; Live elements
	// are read aloud when they change.
	Layer string `json:"layer,omitempty"`
	Live  bool   `json:"live,omitempty"`

	Value    string `json:"value,omitempty"` // what a control holds, at most 300 characters; never a password's
	HasValue bool   `json:"hasValue,omitempty"`
	Level    int    `json:"level,omitempty"`    // of headings and tree items
	Checked  string `json:"checked,omitempty"`  // "true", "false" or "mixed"; "" where it does not apply; also aria-pressed
	Selected string `json:"selected,omitempty"` // as Checked; also aria-current
	Expanded string `json:"expanded,omitempty"` // as Checked; also details
	Popup    string `json:"popup,omitempty"`    // aria-haspopup
	Sort     string `json:"sort,omitempty"`     // of headers: "ascending", "descending", "none"; "" not said
	Disabled bool   `json:"disabled,omitempty"`
	ReadOnly bool   `json:"readOnly,omitempty"`
	Required bool   `json:"required,omitempty"`
	Invalid  bool   `json:"invalid,omitempty"`
	Multiple bool   `json:"multiple,omitempty"` // several options can be selected
	Focused  bool   `json:"focused,omitempty"`
	Modal    bool   `json:"modal,omitempty"` // a dialog behind which nothing can be used
	Password bool   `json:"password,omitempty"`
	Min      string `json:"min,omitempty"` // of sliders, spinners and dates; also aria-valuemin
	Max      string `json:"max,omitempty"`
	Step     string `json:"step,omitempty"`
	// Options are those of a native select.
	Options []Option `json:"options,omitempty"`

	// Editable elements take text.
	Editable bool `json:"editable,omitempty"`
	// Interactive elements do something when they are used: by their role, or because
	// they react (Reacts).
	Interactive bool `json:"interactive,omitempty"`
	// Reacts says how an element without an interactive role reacts, several with spaces:
	// "cursor", "listener" (for presses), "dblclick", "contextmenu", "hover", "key",
	// "draggable", "drop", "tabindex", "editable"; "" otherwise.
	Reacts string `json:"reacts,omitempty"`
	// Hidden elements are not seen now: only options of closed lists, and what is
	// in closed sections, menus and tabs, where the page has it at all.
	Hidden bool `json:"hidden,omitempty"`
	// Opener is the ref of the control that shows a hidden element, "" when that is not
	// known.
	Opener string `json:"opener,omitempty"`
	// Covered elements are behind others, such as a banner; Cover is the ref of the
	// nearest node in front.
	Covered bool   `json:"covered,omitempty"`
	Cover   string `json:"cover,omitempty"`
	// Scrolls: "x", "y" or "xy" where the element has more than it shows.
	Scrolls string `json:"scrolls,omitempty"`
	// Box is left, top, width and height in the viewport of the top-level page.
	Box [4]int `json:"box"`
	// InView is false where the page must be scrolled first.
	InView bool `json:"inView,omitempty"`

	// Row and Column are the indices, from 0, of a cell in its table or grid, with
	// the header of its column and the first cell of its row.
	Table        string `json:"table,omitempty"` // ref of the table
	Row          int    `json:"row,omitempty"`
	Column       int    `json:"column,omitempty"`
	ColumnHeader string `json:"columnHeader,omitempty"`
	RowHeader    string `json:"rowHeader,omitempty"`

	// Frame and Shadow are CSS selectors of the frames and shadow hosts around the
	// element, from outside in.
	Frame  []string `json:"frame,omitempty"`
	Shadow []string `json:"shadow,omitempty"`
}

// Option is one of a native select.
type Option struct {
	Label    string `json:"label"`
	Value    string `json:"value"`
	Selected bool   `json:"selected,omitempty"`
	Disabled bool   `json:"disabled,omitempty"`
}

// Located is how a test finds the element of a ref again.
type Located struct {
	// Selector is the best one that finds just this element, with its fingerprint. It
	// is one by test id, role and name, label, placeholder or text where these are
	// unique, with within where a row, dialog or section makes them so; else by CSS.
	Selector step.Selector
	// Place finds the element as well, and not by its own text: what a test compares may
	// not be what it is found by. nil where nothing else is known of it.
	Place *step.Selector
	// Frames are the selectors of the frames around the element, for in_frame.
	Frames []step.Selector
}
