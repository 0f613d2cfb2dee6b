// Package diagnosis is how answers and reports of runs say why something failed: the reason of a
// job with what it was made of, its comparison with the last good run, and the groups that the
// failures of a suite run fall into.
//
// It reads nothing and decides nothing: package failure of storage has what is shown.
package diagnosis

import (
	"fmt"
	"strings"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage/failure"
	"github.com/slipway-qa/slipway/storage/step/playback"
)

// Job is why a job failed. The members of the nil Job are left out.
type Job struct {
	Reason failure.Reason `json:"reason"` // product, test, environment or unknown
	Why    []string       `json:"why"`    // sentences that are made of what was seen
	// Cause is what the failure is grouped by, in words; CauseKey is the same for every failure of it.
	Cause    string `json:"cause"`
	CauseKey string `json:"causeKey"`
	// Comparison is with the last job that passed, of the same case on the same target in the same
	// environment; null where there is none.
	Comparison *Comparison `json:"comparison"`
}

// Comparison is what a job that failed saw otherwise than the last good one.
type Comparison struct {
	RunID        uuid.UUID         `json:"runId"` // of the good one
	JobID        uuid.UUID         `json:"jobId"`
	Build        string            `json:"build"` // "" where its run named none
	CreationDate string            `json:"creationDate"`
	SameSteps    bool              `json:"sameSteps"`
	SameBuild    *bool             `json:"sameBuild"` // null: one of the two runs names no build
	Page         *failure.Page     `json:"page"`      // null: one of the two pages is not known
	Network      bool              `json:"network"`   // the requests of both are known
	Requests     []failure.Request `json:"requests"`  // that fail and did not
	Console      []string          `json:"console"`   // errors that are new
	Durations    []failure.Slower  `json:"durations"` // beyond three times as long
}

// OfJob returns the view of a diagnosis; nil without one.
func OfJob(d *failure.Diagnosis) *Job {
	if d == nil {
		return nil
	}
	view := &Job{Reason: d.Reason, Why: d.Why, Cause: d.Subject, CauseKey: d.Key}
	if view.Why == nil {
		view.Why = []string{}
	}
	if c := d.Comparison; c != nil {
		view.Comparison = &Comparison{RunID: c.RunID, JobID: c.JobID, Build: c.Build,
			CreationDate: c.CreatedAt.UTC().Format("2006-01-02T15:04:05.000Z"),
			SameSteps:    c.SameSteps, SameBuild: c.SameBuild, Page: c.Page, Network: c.WithNetwork, Requests: c.Requests,
			Console: c.Console, Durations: c.Durations}
	}
	return view
}

// The bounds of the groups in an answer.
const (
	MaxGroups = 50
	MaxCases  = 20 // of a group
)

// Group are the failures of a suite run that have one cause.
type Group struct {
	Key    string         `json:"key"`   // the same for every failure of the cause
	Title  string         `json:"title"` // 7 cases: 503 of /api/cart
	Reason failure.Reason `json:"reason"`
	Count  int            `json:"count"`    // of cases
	Jobs   int            `json:"jobCount"` // that failed
	Cases  []Case         `json:"cases"`    // the first of them
}

// Case is a case of a group.
type Case struct {
	ID    string    `json:"testCaseId"`
	Name  string    `json:"testCaseName"`
	RunID uuid.UUID `json:"runId"`
	Jobs  int       `json:"jobCount"`
}

// Groups returns the views of groups; never nil.
func Groups(groups []failure.Group) []Group {
	list := make([]Group, 0, len(groups))
	for i := range groups {
		g := &groups[i]
		view := Group{Key: g.Key, Title: g.Title(), Reason: g.Reason, Count: g.Count, Jobs: g.Jobs, Cases: make([]Case, 0, len(g.Cases))}
		for _, c := range g.Cases {
			view.Cases = append(view.Cases, Case{c.ID, c.Name, c.RunID, c.Jobs})
		}
		list = append(list, view)
	}
	return list
}

// Text is the failure of a job in lines, for a report: what its step expected and found, the nearest
// elements, and the reason; "" where nothing is known.
func Text(records []playback.Record, d *failure.Diagnosis) string {
	var out strings.Builder
	for i := range records {
		if f := records[i].Failure; f != nil && records[i].Status == playback.Failed {
			fmt.Fprintf(&out, "\nexpected: %s\nactual: %s", f.Expected, f.Actual)
			for _, c := range f.Candidates {
				fmt.Fprintf(&out, "\nnear: %s", Element(&c))
			}
			break
		}
	}
	if d != nil {
		fmt.Fprintf(&out, "\nreason: %s", d.Reason)
		for _, why := range d.Why {
			fmt.Fprintf(&out, "\n  %s", why)
		}
	}
	return out.String()
}

// Element is a candidate in a line.
func Element(c *playback.Candidate) string {
	var words []string
	if c.Role != "" {
		words = append(words, c.Role)
	}
	if name := c.Name; name != "" {
		words = append(words, fmt.Sprintf("%q", name))
	} else if c.Text != "" {
		words = append(words, fmt.Sprintf("%q", c.Text))
	}
	if c.Selector != nil {
		words = append(words, "at "+c.Selector.Type+" "+c.Selector.Value)
	}
	return strings.Join(words, " ") + ": " + strings.Join(c.Against, ", ")
}
