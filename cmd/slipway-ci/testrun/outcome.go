package testrun

import (
	"context"
	"fmt"
	"time"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/client"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/report"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/testfile"
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

// caseOf is a test on one target, with its failed tries.
func (c *Config) caseOf(ctx context.Context, j *job) report.Case {
	last := &j.tries[len(j.tries)-1]
	out := report.Case{Name: j.name, Suite: j.test.Suite, Target: targetName(j.target), URL: c.casePage(j.test.ID, last.runID),
		Took: between(last.of.StartDate, last.of.EndDate)}
	for i := range j.tries {
		t := &j.tries[i]
		if t.of.Status != client.StatusFailed && t.of.Status != client.StatusError {
			continue
		}
		out.Failures = append(out.Failures, c.failureOf(ctx, j, t, i+1))
		out.File, out.Line = c.Folder.place(j.test.ID, t.of.Steps)
	}
	switch s := last.of.Status; {
	case s == client.StatusPassed && len(out.Failures) == 0:
		out.Outcome = report.Passed
	case s == client.StatusPassed || s == client.StatusFlaky:
		out.Outcome = report.Flaky
	case s == client.StatusFailed:
		out.Outcome = report.Failed
	case s == client.StatusError:
		out.Outcome = report.Errored
	case s == client.StatusCancelled:
		out.Outcome, out.Reason, out.Failures = report.Cancelled, "the run was cancelled", nil
	default:
		out.Outcome, out.Reason, out.Failures = report.Cancelled, "it has not ended", nil
	}
	return out
}

func (c *Config) failureOf(ctx context.Context, j *job, t *try, number int) report.Failure {
	f := report.Failure{Outcome: report.Failed, URL: c.casePage(j.test.ID, t.runID)}
	if t.of.Status == client.StatusError {
		f.Outcome = report.Errored
	}
	if t.of.Error != nil {
		f.Code, f.Text = t.of.Error.Code, t.of.Error.Detail
	}
	for i := range t.of.Steps {
		f.Steps = append(f.Steps, stepLine(i, &t.of.Steps[i]))
	}
	if c.Artifacts != nil {
		files, err := c.Artifacts.keep(ctx, c.Client, fmt.Sprintf("%s %s %d", j.name, targetName(j.target), number), t.of.Files)
		if err != nil {
			c.Out.Warn("%s: %v", j.name, err)
		}
		f.Attachments = files
	}
	return f
}

// stepLine is a step in a line: 3. FAILED click button "Save" (120 ms): no element matches.
func stepLine(i int, s *client.StepTaken) string {
	line := fmt.Sprintf("%d. %s %s (%d ms)", i+1, s.Status, testfile.Words(s.Tool.Type, s.Tool.Args), s.TookMS)
	if s.Result.Message != "" {
		line += ": " + s.Result.Message
	}
	return line
}
