package replay

import (
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

// What an action wants of an element.
const (
	wantClick  = "click"
	wantHover  = "hover"
	wantFill   = "fill"
	wantSelect = "select"
	wantFile   = "file"
	wantScroll = "scroll"
	wantFocus  = "focus"
	wantFrame  = "frame"
)

// place is where an element is.
type place struct {
	frames   []hop
	hosts    []point
	selector point
	shadow   []string // of the fingerprint, looked into second
	print    *step.Fingerprint
	// guessed: the frames are those of the fingerprint.
	guessed bool
	// stored is the selector as the test has it.
	stored *step.Selector
}

// hop is a frame, or the shadow hosts that it is in.
type hop struct {
	hosts    []point
	selector point
}

// point is a selector as the page scripts take it.
type point struct {
	Type  string `json:"type"`
	Value string `json:"value"`
	Index *int   `json:"index,omitempty"`
}

func pointOf(s *step.Selector) point { return point{s.Type, s.Value, s.Index} }

func points(css []string) []point {
	list := make([]point, 0, len(css))
	for _, value := range css {
		list = append(list, point{Type: step.CSS, Value: value})
	}
	return list
}

// query asks act.js for an action.
type query struct {
	Want      string    `json:"want"`
	Hosts     []point   `json:"hosts"`
	Selector  point     `json:"selector"`
	Shadow    []string  `json:"shadow,omitempty"`
	Wait      int64     `json:"wait"` // ms
	Print     bool      `json:"print,omitempty"`
	Again     bool      `json:"again,omitempty"`
	Hidden    bool      `json:"hidden,omitempty"`
	Text      string    `json:"text"`
	Option    string    `json:"option,omitempty"`
	File      *pageFile `json:"file,omitempty"`
	Direction string    `json:"direction,omitempty"`
}

// inPage reports whether the script does the action itself.
func (q query) inPage() bool {
	switch q.Want {
	case wantFill, wantSelect, wantFile, wantScroll, wantFocus:
		return true
	}
	return false
}

type pageFile struct {
	Name    string `json:"name"`
	Type    string `json:"type"`
	Content []byte `json:"content"` // Base64 in JSON
}

// answer is what act.js says.
type answer struct {
	State   string            `json:"state"`
	Why     string            `json:"why"`
	Count   int               `json:"count"`
	Element webdriver.Element `json:"element"`
	Href    string            `json:"href"`
	Busy    bool              `json:"busy"`
	Time    float64           `json:"time"` // when it was given, ms on the browser's clock
	Print   *step.Fingerprint `json:"print"`
	Keys    bool              `json:"keys"`
	Held    *string           `json:"held"` // what a field made of its text
}
