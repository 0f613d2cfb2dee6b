package report

import "time"

// Document is a report for programs, as --json prints it.
type Document struct {
	Name       string         `json:"name"`
	URL        string         `json:"url,omitempty"`
	Passed     bool           `json:"passed"`
	StartedAt  time.Time      `json:"started_at"`
	DurationMS int64          `json:"duration_ms"`
	Counts     map[string]int `json:"counts"` // by outcome
	Properties []Property     `json:"properties"`
	Tests      []DocumentCase `json:"tests"`
	// Groups are the tests that failed, by their causes.
	Groups      []DocumentGroup `json:"failure_groups"`
	Attachments []string        `json:"attachments"`
}

// DocumentCase is a test on one target.
type DocumentCase struct {
	Name       string            `json:"name"`
	Suite      string            `json:"suite,omitempty"`
	Target     string            `json:"target,omitempty"`
	Outcome    Outcome           `json:"outcome"`
	Reason     string            `json:"reason,omitempty"`
	DurationMS int64             `json:"duration_ms"`
	URL        string            `json:"url,omitempty"`
	File       string            `json:"file,omitempty"`
	Line       int               `json:"line,omitempty"`
	Failures   []DocumentFailure `json:"failures"`
	// Cause and Why are those of the last failure; "" and empty where they are not known. FailureReason is what is to be
	// mended: product, test, environment or unknown.
	Cause         string   `json:"cause,omitempty"`
	FailureReason string   `json:"failure_reason,omitempty"`
	Why           []string `json:"why,omitempty"`
}

// DocumentGroup are tests that failed for one cause.
type DocumentGroup struct {
	Title  string   `json:"title"`
	Reason string   `json:"reason"`
	Tests  []string `json:"tests"` // their names
}

// DocumentFailure is a run that did not pass.
type DocumentFailure struct {
	Code string `json:"code"`
	Text string `json:"text"`
	URL  string `json:"url,omitempty"`
}

// Document returns the report for programs.
func (r *Report) Document() Document {
	d := Document{Name: r.Name, URL: r.URL, Passed: r.Good(), StartedAt: r.Started.UTC(), DurationMS: r.Took.Milliseconds(),
		Counts: map[string]int{}, Properties: append([]Property{}, r.Properties...), Tests: []DocumentCase{},
		Groups: []DocumentGroup{}, Attachments: []string{}}
	for _, o := range []Outcome{Passed, Flaky, Failed, Errored, Cancelled, Skipped, Quarantined} {
		d.Counts[string(o)] = r.Count(o)
	}
	for i := range r.Cases {
		c := &r.Cases[i]
		one := DocumentCase{Name: c.Name, Suite: c.Suite, Target: c.Target, Outcome: c.Outcome, Reason: c.Reason,
			DurationMS: c.Took.Milliseconds(),
			URL:        c.URL, File: c.File, Line: c.Line, Failures: []DocumentFailure{}, Cause: c.Cause.Text,
			FailureReason: c.Cause.Reason, Why: c.Cause.Why}
		for _, f := range c.Failures {
			one.Failures = append(one.Failures, DocumentFailure{f.Code, clip(f.Text, maxText), f.URL})
			d.Attachments = append(d.Attachments, f.Attachments...)
		}
		d.Tests = append(d.Tests, one)
	}
	for _, g := range r.Groups() {
		one := DocumentGroup{Title: g.Title(), Reason: g.Reason, Tests: []string{}}
		for _, c := range g.Tests {
			one.Tests = append(one.Tests, c.Name)
		}
		d.Groups = append(d.Groups, one)
	}
	return d
}
