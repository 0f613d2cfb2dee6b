package replay

import "github.com/slipway-qa/slipway/storage/step"

// elementLocation is where an element is.
type elementLocation struct {
	frames   []frameLocation
	hosts    []pageSelector
	selector pageSelector
	// fingerprint is that of the element; nil: there is no healing.
	fingerprint *step.Fingerprint
	// guessed: the frames are those of the fingerprint.
	guessed bool
	// stored is the selector as the test has it.
	stored *step.Selector
	// target: something is dragged to it. What a step learns is what it drags.
	target bool
}

// frameLocation is where a frame is, within the frame around it.
type frameLocation struct {
	hosts    []pageSelector
	selector pageSelector
}

// pageSelector is a selector as the page scripts take it.
type pageSelector struct {
	Type    string          `json:"type"`
	Value   string          `json:"value"`
	Name    string          `json:"name,omitempty"`
	Exact   bool            `json:"exact,omitempty"`
	Level   int             `json:"level,omitempty"`
	State   map[string]bool `json:"state,omitempty"`
	Within  *pageSelector   `json:"within,omitempty"`
	Has     *pageSelector   `json:"has,omitempty"`
	HasText string          `json:"hasText,omitempty"`
	Lies    []pageRelation  `json:"lies,omitempty"` // near, below ... others
	Index   *int            `json:"index,omitempty"`
}

// pageRelation is where an element lies towards another.
type pageRelation struct {
	Where    string       `json:"where"` // near, below, above, leftOf, rightOf
	Of       pageSelector `json:"of"`
	Distance int          `json:"distance,omitempty"`
}

func pageSelectorOf(s *step.Selector) pageSelector {
	p := pageSelector{Type: s.Type, Value: s.Value, Name: s.Name, Exact: s.Exact, Level: s.Level, State: s.State,
		HasText: s.HasText, Index: s.Index}
	if s.Within != nil {
		within := pageSelectorOf(s.Within)
		p.Within = &within
	}
	if s.Has != nil {
		has := pageSelectorOf(s.Has)
		p.Has = &has
	}
	for where, r := range s.Relations() {
		p.Lies = append(p.Lies, pageRelation{where, pageSelectorOf(r.Selector), r.Distance})
	}
	return p
}

// plain reports whether a selector is CSS or XPath alone, which needs only half of
// the page scripts.
func (p *pageSelector) plain() bool {
	if p == nil {
		return true
	}
	known := p.Type == step.CSS || p.Type == step.XPath || p.Type == ""
	return known && p.HasText == "" && len(p.Lies) == 0 && p.Within.plain() && p.Has.plain()
}

func allPlain(hosts []pageSelector, selector pageSelector) bool {
	for i := range hosts {
		if !hosts[i].plain() {
			return false
		}
	}
	return selector.plain()
}

func cssSelectors(values []string) []pageSelector {
	list := make([]pageSelector, 0, len(values))
	for _, value := range values {
		list = append(list, pageSelector{Type: step.CSS, Value: value})
	}
	return list
}

// orEmpty returns a list that is [] in JSON when there is none.
func orEmpty(list []pageSelector) []pageSelector {
	if list == nil {
		return []pageSelector{}
	}
	return list
}

// useFingerprint uses what a fingerprint knows of the frames around the element, unless
// the step itself names frames or shadow roots.
func (at *elementLocation) useFingerprint(fingerprint *step.Fingerprint) {
	if fingerprint == nil {
		return
	}
	at.fingerprint = fingerprint
	if len(at.frames) == 0 && len(at.hosts) == 0 && len(fingerprint.FramePath) > 0 {
		at.frames = cssFrames(fingerprint.FramePath)
		at.guessed = true
	}
}

// cssFrames returns the locations of frames from outside in.
func cssFrames(path []string) []frameLocation {
	var frames []frameLocation
	for _, selector := range cssSelectors(path) {
		frames = append(frames, frameLocation{selector: selector})
	}
	return frames
}
