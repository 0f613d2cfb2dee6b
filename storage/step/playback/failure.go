package playback

import "github.com/slipway-qa/slipway/storage/step"

// The bounds of a Failure, whose texts are those of pages.
const (
	MaxCandidates = 3
	MaxAgainst    = 5
	MaxSaid       = 500 // bytes of what was expected, and of what there was
)

// Failure is why a step failed: what it expected, what there was instead, and the elements that
// come nearest to the one that it needs.
type Failure struct {
	Expected   string      `json:"expected"`
	Actual     string      `json:"actual"`
	Candidates []Candidate `json:"candidates,omitempty"` // the nearest first
}

// Candidate is an element that is not the one that a step needs, or that cannot be used.
type Candidate struct {
	// Selector finds it and nothing else; nil where nothing does, or only with a secret.
	Selector *step.Selector `json:"selector,omitempty"`
	Role     string         `json:"role,omitempty"`
	Name     string         `json:"name,omitempty"`
	Text     string         `json:"text,omitempty"`
	// Against is what speaks against it, in words: "it is not visible".
	Against []string `json:"against"`
}

// Redacted returns a copy whose texts have passed redact. A selector that redact changes is left
// out: it would find something else.
func (f *Failure) Redacted(redact func(string) string) *Failure {
	if f == nil {
		return nil
	}
	clean := Failure{Expected: redact(f.Expected), Actual: redact(f.Actual)}
	for _, c := range f.Candidates {
		one := Candidate{Selector: c.Selector, Role: redact(c.Role), Name: redact(c.Name), Text: redact(c.Text),
			Against: make([]string, len(c.Against))}
		for i := range c.Against {
			one.Against[i] = redact(c.Against[i])
		}
		for s := c.Selector; s != nil; s = s.Within {
			if redact(s.Value) != s.Value || redact(s.Name) != s.Name || redact(s.HasText) != s.HasText {
				one.Selector = nil
				break
			}
		}
		clean.Candidates = append(clean.Candidates, one)
	}
	return &clean
}
