// Package report writes what became of tests in the forms that pipelines read: JUnit as
// Surefire writes it, a summary in Markdown, lines that a pipeline shows at the line of a
// file, and GitLab's report of code quality.
//
// Texts come from tests and from the pages that they ran on. Each form escapes all of
// them: a page can end no line, element, link or table, give a pipeline no command, and
// name no file as an attachment. Every text is bounded, and so is each file.
package report

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/progress"
)

// Outcome is how a test ended.
type Outcome string

// The outcomes.
const (
	Passed  Outcome = "passed"
	Flaky   Outcome = "flaky"   // passed after it had failed
	Failed  Outcome = "failed"  // a step or an assertion
	Errored Outcome = "error"   // no browser, a lost worker, out of time
	Skipped Outcome = "skipped" // there was nothing to run
	// Cancelled tests were not run to their end. In JUnit they are skipped.
	Cancelled Outcome = "cancelled"
	// Quarantined tests failed where that fails nothing. In JUnit they are skipped.
	Quarantined Outcome = "quarantined"
)

// Good reports whether a test passed, whatever came before.
func (o Outcome) Good() bool { return o == Passed || o == Flaky }

// Harmless reports whether a test keeps no report from being good.
func (o Outcome) Harmless() bool { return o.Good() || o == Skipped || o == Quarantined }

// Report is what became of tests.
type Report struct {
	Name       string
	URL        string // of the console's page; "": there is no single one
	Started    time.Time
	Took       time.Duration
	Properties []Property
	Cases      []Case
	// Elsewhere says that there are tests to run in other parts of the whole: one without any is
	// good.
	Elsewhere bool
}

// Property is something that holds for the whole report.
type Property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Case is a test on one target.
type Case struct {
	Name    string
	Suite   string // "": in none
	Target  string // a browser, a device
	URL     string // of the console's page of the newest run
	Outcome Outcome
	Reason  string // why it was skipped, cancelled or is in quarantine
	Took    time.Duration
	// Cause is that of the last failure of a test that did not pass.
	Cause Cause
	// Failures are the runs that did not pass, oldest first: of a flaky test all but the
	// last run, of a failed one all.
	Failures []Failure
	// File and Line are where the test is written, with the step that failed last; "" when
	// it is in no file of the repository. File is relative to the repository's root.
	File string
	Line int
}

// Failure is a run that did not pass.
type Failure struct {
	Outcome     Outcome // Failed or Errored
	Code, Text  string
	URL         string   // of the console's page
	Why         []string // what was expected, what there was, and why
	Steps       []string
	Attachments []string // files that were stored here: from the working directory, or absolute
}

// last is the failure that decided; a zero one when there is none.
func (c *Case) last() Failure {
	if len(c.Failures) == 0 {
		return Failure{}
	}
	return c.Failures[len(c.Failures)-1]
}

// Count returns how many cases ended as one of these.
func (r *Report) Count(of ...Outcome) (n int) {
	for i := range r.Cases {
		for _, o := range of {
			if r.Cases[i].Outcome == o {
				n++
			}
		}
	}
	return n
}

// Good reports whether every test passed, but for those that had nothing to run. Where none was
// run nothing is good, unless there are some elsewhere.
func (r *Report) Good() bool {
	return r.Count(Failed, Errored, Cancelled) == 0 && (r.Elsewhere || r.Count(Passed, Flaky, Quarantined) > 0)
}

// maxText bounds one text in bytes, such as the message of a step: what people read of it.
const maxText = 8 << 10

// clip cuts a text to a number of bytes, at a character.
func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	text = text[:most-len("…")]
	for !utf8.ValidString(text) && len(text) > 0 && !utf8.RuneStart(text[len(text)-1]) {
		text = text[:len(text)-1]
	}
	return strings.ToValidUTF8(text, "") + "…"
}

// Line returns a text in one line of a log, in which no pipeline finds a command.
func Line(text string) string {
	return progress.Printable(clip(strings.ToValidUTF8(text, "?"), maxText))
}
