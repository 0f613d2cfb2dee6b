package client

import (
	"cmp"
	"fmt"
	"strings"
)

// StepFailure is what a step expected and found, with the elements that come nearest to its own.
type StepFailure struct {
	Expected   string `json:"expected"`
	Actual     string `json:"actual"`
	Candidates []struct {
		Role    string   `json:"role"`
		Name    string   `json:"name"`
		Text    string   `json:"text"`
		Against []string `json:"against"`
	} `json:"candidates"`
}

// Lines are the failure for people.
func (f *StepFailure) Lines() []string {
	if f == nil {
		return nil
	}
	lines := []string{"expected: " + f.Expected, "actual: " + f.Actual}
	for _, c := range f.Candidates {
		lines = append(lines, fmt.Sprintf("near: %s %q: %s", c.Role, cmp.Or(c.Name, c.Text), strings.Join(c.Against, ", ")))
	}
	return lines
}
