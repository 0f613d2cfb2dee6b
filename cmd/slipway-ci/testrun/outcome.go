package testrun

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/client"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/report"
	"github.com/slipway-qa/slipway/storage/step/testfile"
)

// report says what became of all tests.
func (c *Config) report(ctx context.Context, p *Plan, w *watch, since time.Time) *report.Report {
	r := &report.Report{Name: p.Names(), Started: since, Took: time.Since(since)}
	if len(w.units) == 1 {
		r.URL = c.page(w.units[0])
	}
	for _, id := range w.order {
		r.Cases = append(r.Cases, c.caseOf(ctx, w.jobs[id]))
	}
	for _, u := range w.units {
		switch {
		case u.skipped != "":
			r.Cases = append(r.Cases, report.Case{Name: u.name(), Suite: u.of.Suite, Outcome: report.Skipped, Reason: u.skipped})
		case u.of == nil && u.failed != "":
			r.Cases = append(r.Cases, report.Case{Name: u.name(), Suite: u.suite.Name, URL: c.page(u), Outcome: report.Errored,
				Failures: []report.Failure{{Outcome: report.Errored, Code: "SUITE_RUN_FAILED", Text: u.failed, URL: c.page(u)}}})
		case len(u.runs) == 0:
			one := report.Case{Name: u.name(), Suite: u.suite.Name, URL: c.page(u), Outcome: report.Cancelled, Reason: "it has not begun"}
			if client.Ended(u.status) && u.status != client.StatusCancelled {
				one.Outcome, one.Reason = report.Errored, ""
				one.Failures = []report.Failure{{Outcome: report.Errored, Code: "NOTHING_RUN", Text: "the run had no test"}}
			}
			r.Cases = append(r.Cases, one)
		}
	}
	return r
}

// caseOf is a test on one target, with its failed attempts.
func (c *Config) caseOf(ctx context.Context, j *job) report.Case {
	out := report.Case{Name: j.of.Name, Suite: j.test.Suite, Target: targetName(j.of.Target), URL: c.casePage(j.test.ID, j.runID),
		Took: between(j.of.StartDate, j.of.EndDate)}
	for _, a := range attempts(&j.of) {
		if a.Status != client.StatusFailed && a.Status != client.StatusError {
			continue
		}
		out.Failures = append(out.Failures, c.failureOf(ctx, j, &a))
		out.File, out.Line = c.Folder.place(j.test.ID, a.Steps)
	}
	out.Cause = report.Cause{Key: j.of.CauseKey, Text: j.of.Cause, Reason: j.of.Reason, Why: j.of.Why}
	if last := len(out.Failures) - 1; last >= 0 && j.of.Reason != "" {
		out.Failures[last].Why = append(out.Failures[last].Why, append([]string{"reason: " + j.of.Reason}, j.of.Why...)...)
	}
	switch s := j.of.Status; {
	case s == client.StatusPassed:
		out.Outcome = report.Passed
	case s == client.StatusFlaky:
		out.Outcome = report.Flaky
	case (s == client.StatusFailed || s == client.StatusError) && j.quarantine != nil:
		out.Outcome, out.Reason = report.Quarantined, j.quarantine.Reason
	case s == client.StatusFailed:
		out.Outcome = report.Failed
	case s == client.StatusError:
		out.Outcome = report.Errored
	case s == client.StatusCancelled:
		out.Outcome, out.Reason, out.Failures = report.Cancelled, cancelledFor(&j.of), nil
		if j.quarantine != nil && j.of.Error != nil && j.of.Error.Code == dependencyFailed {
			out.Outcome = report.Quarantined // with what it needs
		}
	default:
		out.Outcome, out.Reason, out.Failures = report.Cancelled, "it has not ended", nil
	}
	return out
}

// dependencyFailed is the code of a job that was skipped since a test that it needs did not pass.
const dependencyFailed = "DEPENDENCY_NOT_PASSED"

// cancelledFor is why a test did not run to its end.
func cancelledFor(j *client.TestJob) string {
	if j.Error == nil || j.Error.Code == client.StatusCancelled || j.Error.Detail == "" {
		return "the run was cancelled"
	}
	return j.Error.Detail
}

// attempts are those of a job; of one that was played once it is the job.
func attempts(j *client.TestJob) []client.TestAttempt {
	if len(j.Attempts) > 0 {
		return j.Attempts
	}
	return []client.TestAttempt{{Number: 1, Status: j.Status, Error: j.Error, Steps: j.Steps, Files: j.Files}}
}

func (c *Config) failureOf(ctx context.Context, j *job, a *client.TestAttempt) report.Failure {
	f := report.Failure{Outcome: report.Failed, URL: c.casePage(j.test.ID, j.runID)}
	if a.Status == client.StatusError {
		f.Outcome = report.Errored
	}
	if a.Error != nil {
		f.Code, f.Text = a.Error.Code, a.Error.Detail
	}
	for i := range a.Steps {
		f.Steps = append(f.Steps, stepLine(i, &a.Steps[i]))
		if len(f.Why) == 0 && a.Steps[i].Status == client.StatusFailed {
			f.Why = a.Steps[i].Failure.Lines()
		}
	}
	for _, artifacts := range c.Artifacts {
		files, err := artifacts.keep(ctx, c.Client, fmt.Sprintf("%s %s %d", j.of.Name, targetName(j.of.Target), a.Number), a.Files)
		if err != nil {
			c.Out.Warn("%s: %v", j.of.Name, err)
		}
		f.Attachments = append(f.Attachments, files...)
	}
	return f
}

// maxIndent is how deep steps are set in: groups are no deeper.
const maxIndent = 5

// stepLine is a step in a line: 3. FAILED click button "Save" (120 ms): no element matches.
func stepLine(i int, s *client.StepTaken) string {
	indent, phase := "", ""
	if s.Group != nil {
		indent = strings.Repeat("  ", max(0, min(s.Group.Depth, maxIndent)))
	}
	if s.Phase != "" {
		phase = s.Phase + ": "
	}
	line := fmt.Sprintf("%s%d. %s %s%s (%d ms)", indent, i+1, s.Status, phase, testfile.Words(s.Tool.Type, s.Tool.Args), s.TookMS)
	if s.Result.Message != "" {
		line += ": " + s.Result.Message
	}
	return line
}
