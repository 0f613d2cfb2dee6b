package page

import "github.com/slipway-qa/slipway/storage/step"

// Location is where an element is.
type Location struct {
	Frames   []Frame
	Hosts    []Selector
	Selector Selector
	// Fingerprint is that of the element; nil: there is no healing.
	Fingerprint *step.Fingerprint
	// Guessed: the frames are those of the fingerprint.
	Guessed bool
	// Stored is the selector as the test has it.
	Stored *step.Selector
	// Target: something is dragged to it. What a step learns is what it drags.
	Target bool
}

// Frame is where a frame is, within the frame around it.
type Frame struct {
	Hosts    []Selector
	Selector Selector
}

// Selector is a selector as the page scripts take it.
type Selector struct {
	Type    string          `json:"type"`
	Value   string          `json:"value"`
	Name    string          `json:"name,omitempty"`
	Exact   bool            `json:"exact,omitempty"`
	Level   int             `json:"level,omitempty"`
	State   map[string]bool `json:"state,omitempty"`
	Within  *Selector       `json:"within,omitempty"`
	Has     *Selector       `json:"has,omitempty"`
	HasText string          `json:"hasText,omitempty"`
	Lies    []relation      `json:"lies,omitempty"` // near, below ... others
	Index   *int            `json:"index,omitempty"`
}

// relation is where an element lies towards another.
type relation struct {
	Where    string   `json:"where"` // near, below, above, leftOf, rightOf
	Of       Selector `json:"of"`
	Distance int      `json:"distance,omitempty"`
}

// SelectorOf returns the selector of a step as the page scripts take it.
func SelectorOf(s *step.Selector) Selector {
	p := Selector{Type: s.Type, Value: s.Value, Name: s.Name, Exact: s.Exact, Level: s.Level, State: s.State,
		HasText: s.HasText, Index: s.Index}
	if s.Within != nil {
		within := SelectorOf(s.Within)
		p.Within = &within
	}
	if s.Has != nil {
		has := SelectorOf(s.Has)
		p.Has = &has
	}
	for where, r := range s.Relations() {
		p.Lies = append(p.Lies, relation{where, SelectorOf(r.Selector), r.Distance})
	}
	return p
}

// plain reports whether a selector is CSS or XPath alone, which needs only half of
// the page scripts.
func (p *Selector) plain() bool {
	if p == nil {
		return true
	}
	known := p.Type == step.CSS || p.Type == step.XPath || p.Type == ""
	return known && p.HasText == "" && len(p.Lies) == 0 && p.Within.plain() && p.Has.plain()
}

func allPlain(hosts []Selector, selector Selector) bool {
	for i := range hosts {
		if !hosts[i].plain() {
			return false
		}
	}
	return selector.plain()
}

// CSSSelectors returns selectors of the type css.
func CSSSelectors(values []string) []Selector {
	list := make([]Selector, 0, len(values))
	for _, value := range values {
		list = append(list, Selector{Type: step.CSS, Value: value})
	}
	return list
}

// OrEmpty returns a list that is [] in JSON when there is none.
func OrEmpty(list []Selector) []Selector {
	if list == nil {
		return []Selector{}
	}
	return list
}

// UseFingerprint uses what a fingerprint knows of the frames around the element, unless
// the step itself names frames or shadow roots.
func (at *Location) UseFingerprint(fingerprint *step.Fingerprint) {
	if fingerprint == nil {
		return
	}
	at.Fingerprint = fingerprint
	if len(at.Frames) == 0 && len(at.Hosts) == 0 && len(fingerprint.FramePath) > 0 {
		at.Frames = CSSFrames(fingerprint.FramePath)
		at.Guessed = true
	}
}

// CSSFrames returns the locations of frames from outside in.
func CSSFrames(path []string) []Frame {
	var frames []Frame
	for _, selector := range CSSSelectors(path) {
		frames = append(frames, Frame{Selector: selector})
	}
	return frames
}
