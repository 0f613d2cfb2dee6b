package tests

import (
	"strings"

	"github.com/slipway-qa/slipway/api/console/tests/step"
)

// diagnosis is why a job failed. Reason is "" of one that did not, and where it is not known.
type diagnosis struct {
	Reason     string      `json:"reason"`
	Why        []string    `json:"why"`
	Cause      string      `json:"cause"`
	Comparison *comparison `json:"comparison"`
}

// comparison is what a job saw otherwise than the last one that passed.
type comparison struct {
	Page      *changedPage     `json:"page"`
	Requests  []failingRequest `json:"requests"`
	Console   []string         `json:"console"`
	Durations []slower         `json:"durations"`
}

// changedPage are lines of the page.
type changedPage struct {
	Removed []string `json:"removed"`
	Added   []string `json:"added"`
	More    int      `json:"more"`
}

// Changed reports whether anything of the page differs.
func (p *changedPage) Changed() bool { return len(p.Removed)+len(p.Added) > 0 }

// Empty reports whether nothing was seen to differ.
func (c *comparison) Empty() bool {
	return (c.Page == nil || !c.Page.Changed()) && len(c.Requests)+len(c.Console)+len(c.Durations) == 0
}

// failingRequest is a request that fails and did not.
type failingRequest struct {
	Method  string `json:"method"`
	Host    string `json:"host"`
	Path    string `json:"path"`
	Status  int    `json:"status"`
	Failure string `json:"failure"`
	Before  int    `json:"before"`
}

// slower is what took longer; Step is "" for the whole test.
type slower struct {
	Step     string `json:"step"`
	BeforeMS int64  `json:"beforeMs"`
	NowMS    int64  `json:"nowMs"`
}

// stepFailure is what a step expected and found.
type stepFailure struct {
	Expected   string      `json:"expected"`
	Actual     string      `json:"actual"`
	Candidates []candidate `json:"candidates"`
}

// candidate is an element that comes near to the one that a step needs.
type candidate struct {
	Selector *step.Selector `json:"selector"`
	Role     string         `json:"role"`
	Name     string         `json:"name"`
	Text     string         `json:"text"`
	Against  []string       `json:"against"`
}

// String is the element as people call it.
func (c candidate) String() string {
	name := c.Name
	if name == "" {
		name = c.Text
	}
	return strings.TrimSpace(c.Role + " " + name)
}

// failureGroup are the failures of a suite run that have one cause.
type failureGroup struct {
	Title  string       `json:"title"`
	Reason string       `json:"reason"`
	Count  int          `json:"count"`
	Cases  []failedCase `json:"cases"`
}

// More is how many cases the group has besides those that are listed.
func (g failureGroup) More() int { return g.Count - len(g.Cases) }

// failedCase is a case of a group.
type failedCase struct {
	ID    string `json:"testCaseId"`
	Name  string `json:"testCaseName"`
	RunID string `json:"runId"`
}

// Failed returns the steps that failed and say what they expected, with their numbers.
func (j *job) Failed() (list []failedStep) {
	for i := range j.Steps {
		if f := j.Steps[i].Failure; f != nil {
			list = append(list, failedStep{i + 1, &j.Steps[i], f})
		}
	}
	return list
}

// failedStep is a step that failed.
type failedStep struct {
	Number int
	Step   *record
	*stepFailure
}
