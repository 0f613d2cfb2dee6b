package devtools

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/api/authoring/recording"
	"github.com/slipway-qa/slipway/storage/step"
)

func sorted(of map[string]string) []string { return slices.Sorted(maps.Keys(of)) }

// part is a part of a recorded selector: its kind and what stands behind that.
type part struct{ kind, value string }

var (
	prefixed = regexp.MustCompile(`^(aria|css|xpath|pierce|text)/`)
	ariaRole = regexp.MustCompile(`^(.*?)\s*\[role=(?:"([a-z]+)"|'([a-z]+)'|([a-z]+))\]$`)
	testID   = regexp.MustCompile(`\[data-(?:testid|test-id|test|cy|qa)=(?:'([^'\\]+)'|"([^"\\]+)"|([A-Za-z0-9_-]+))\]`)
	hasID    = regexp.MustCompile(`^#([A-Za-z_-][A-Za-z0-9_-]*)$`)
	listTag  = regexp.MustCompile(`(?i)(^|[\s>/(])select([\[.#:)]|$)`)
)

// alternatives returns the selectors that found the element, each a way through shadow roots.
func (s *recorded) alternatives() (all [][]part, err error) {
	if len(s.Selectors) > maxSelectors {
		return nil, recording.Invalid(s.path+".selectors", "has at most %d elements", maxSelectors)
	}
	for _, raw := range s.Selectors {
		var way []string
		var one string
		switch {
		case json.Unmarshal(raw, &one) == nil:
			way = []string{one}
		case json.Unmarshal(raw, &way) != nil || len(way) == 0 || len(way) > maxSelectors:
			return nil, recording.Invalid(s.path+".selectors", "must be texts, or lists of texts")
		}
		parts := make([]part, len(way))
		for i, text := range way {
			if !recording.Plain(text) || strings.TrimSpace(text) == "" {
				return nil, recording.Invalid(s.path+".selectors", "must be UTF-8 text without the character NUL")
			}
			parts[i] = part{"css", text}
			if m := prefixed.FindString(text); m != "" {
				parts[i] = part{strings.TrimSuffix(m, "/"), text[len(m):]}
			}
			if parts[i].kind == "pierce" { // CSS reaches into open shadow roots
				parts[i].kind = "css"
			}
		}
		all = append(all, parts)
	}
	return all, nil
}

// rank says how likely a selector is to last: 0 is the best, -1 is one that nothing finds.
func rank(way []part) int {
	last := way[len(way)-1]
	for _, p := range way {
		if p.kind == "aria" && !ariaRole.MatchString(p.value) {
			return -1 // a name without a role
		}
	}
	switch last.kind {
	case "css":
		switch {
		case testID.MatchString(last.value):
			return 0
		case hasID.MatchString(last.value):
			return 1
		}
		return 3
	case "aria":
		return 2
	case "xpath":
		return 4
	}
	return 5
}

// element returns the selector of the step, with what the others tell as hints.
func (s *recorded) element() (*step.Selector, error) {
	all, err := s.alternatives()
	if err != nil {
		return nil, err
	}
	best := -1
	for i, way := range all {
		if n := rank(way); n >= 0 && (best < 0 || n < rank(all[best])) {
			best = i
		}
	}
	switch {
	case len(all) == 0:
		return nil, recording.Invalid(s.path+".selectors", "is missing")
	case best < 0:
		return nil, recording.Invalid(s.path+".selectors", "names an accessible name without a role, and nothing else: record a CSS selector too")
	}
	var found *step.Selector
	for _, p := range all[best] {
		one := p.selector()
		one.Within, found = found, one
	}
	found.Fingerprint = hints(all)
	return found, nil
}

func (p part) selector() *step.Selector {
	switch p.kind {
	case "xpath":
		return &step.Selector{Type: step.XPath, Value: p.value}
	case "text":
		return &step.Selector{Type: step.ByText, Value: p.value}
	case "aria":
		name, role := p.aria()
		return &step.Selector{Type: step.ByRole, Value: role, Name: name, Exact: name != ""}
	}
	return &step.Selector{Type: step.CSS, Value: p.value}
}

// aria returns name and role of a selector by accessibility; role is "" when it says none.
func (p part) aria() (name, role string) {
	m := ariaRole.FindStringSubmatch(p.value)
	if m == nil {
		return p.value, ""
	}
	return m[1], m[2] + m[3] + m[4]
}

const maxHint = 1 << 10 // bytes, as fingerprints have them

// hints are what the selectors tell of the element. They have no tag, so that they are partial:
// the first run that passes completes them.
func hints(all [][]part) *step.Fingerprint {
	f := step.Fingerprint{}
	for _, way := range all {
		p := way[len(way)-1]
		if len(p.value) > maxHint {
			continue
		}
		switch p.kind {
		case "aria":
			name, role := p.aria()
			if f.Name == "" && !strings.Contains(name, "[") {
				f.Name = name
			}
			if f.Role == "" {
				f.Role = role
			}
		case "text":
			if f.Text == "" {
				f.Text = p.value
			}
		case "css":
			if m := testID.FindStringSubmatch(p.value); m != nil && f.TestID == "" {
				f.TestID = m[1] + m[2] + m[3]
			}
			if m := hasID.FindStringSubmatch(p.value); m != nil && f.Attributes == nil {
				f.Attributes = map[string]string{"id": m[1]}
			}
		}
	}
	if f.Name == "" && f.TestID == "" && f.Text == "" && f.Attributes == nil {
		return nil
	}
	return &f
}

// isList reports whether a selector says that the element is a list of options.
func (s *recorded) isList() bool {
	all, err := s.alternatives()
	if err != nil {
		return false
	}
	for _, way := range all {
		last := way[len(way)-1]
		last.value = last.value[strings.LastIndexAny(strings.TrimRight(last.value, " /"), " >/")+1:]
		if (last.kind == "css" || last.kind == "xpath") && listTag.MatchString(last.value) {
			return true
		}
	}
	return s.hasRole("listbox")
}

func (s *recorded) hasRole(role string) bool {
	all, err := s.alternatives()
	if err != nil {
		return false
	}
	for _, way := range all {
		if last := way[len(way)-1]; last.kind == "aria" {
			if _, r := last.aria(); r == role {
				return true
			}
		}
	}
	return false
}
