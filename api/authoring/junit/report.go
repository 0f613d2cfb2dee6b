// Package junit writes runs of cases and suites as JUnit XML, as CI servers read it.
//
// One testcase is one job; its attempts, steps, findings and traces are below it. What has not
// ended, or was cancelled, counts as skipped, so that the report of a run that still runs is true
// so far. A report of more jobs than were read is streamed: the sums are known before the first
// job, and 50,000 jobs need no more memory than 100. An error after the first byte ends the
// answer in the middle, which is no XML, so that no reader takes a part for the whole.
package junit

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/authoring/answer"
	"github.com/slipway-qa/slipway/api/authoring/datarow"
	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
)

// A report has the form that the Ant task of JUnit has made common.
type (
	reportView struct {
		XMLName xml.Name `xml:"testsuites"`
		reportCounts
		Suite reportSuite      `xml:"testsuite"`
		build []reportProperty // the build that was tested, and the environment
		marks stepMarks
	}
	reportSuite struct {
		reportCounts
		Timestamp  string            `xml:"timestamp,attr"` // UTC, without a zone as the form has it
		Properties *reportProperties `xml:"properties"`
		Cases      []reportCase      `xml:"testcase"`
	}
	reportCounts struct {
		Name     string `xml:"name,attr"`
		Tests    int    `xml:"tests,attr"`
		Failures int    `xml:"failures,attr"`
		Errors   int    `xml:"errors,attr"`
		Skipped  int    `xml:"skipped,attr"`
		Time     string `xml:"time,attr"` // seconds
	}
	reportCase struct {
		Name       string            `xml:"name,attr"`
		ClassName  string            `xml:"classname,attr"`
		Time       string            `xml:"time,attr"`
		Properties *reportProperties `xml:"properties"`
		Failure    *reportFailure    `xml:"failure"`
		Error      *reportFailure    `xml:"error"`
		Attempts   []reportAttempt   // rerunFailure, rerunError, flakyFailure, flakyError
		Skipped    *reportSkipped    `xml:"skipped"`
		Output     string            `xml:"system-out,omitempty"`
		traces     []reportTrace     // of its attempts, the last one first
	}
	reportProperties struct {
		Properties []reportProperty `xml:"property"`
	}
	reportProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	reportFailure struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
	reportSkipped struct {
		Message string `xml:"message,attr"`
	}
)

// reportRun reports a run of a case, all of whose jobs were read.
func reportRun(r *run.Run, failing *datarow.Failing) *reportView {
	view := newReport(r.CaseName, r.BuildName, r.BuildID, r.Environment, r.CreatedAt, r.StartedAt, r.FinishedAt)
	for i := range r.Jobs {
		view.add(r, &r.Jobs[i], r.CaseName, failing)
	}
	return view
}

// reportSuiteRun reports a run of a suite with its case runs. A suite run that
// broke has a testcase that says so: without one, a report of no case at all would
// look like a success.
func reportSuiteRun(s *run.SuiteRun, runs []run.Run) *reportView {
	view := newReport(s.SuiteName, s.BuildName, s.BuildID, s.Environment, s.CreatedAt, s.StartedAt, s.FinishedAt)
	for i := range runs {
		for k := range runs[i].Jobs {
			view.add(&runs[i], &runs[i].Jobs[k], s.SuiteName, nil)
		}
	}
	if s.Error != "" {
		view.count(brokenSuite(s))
	}
	return view
}

// brokenSuite says why a suite run broke.
func brokenSuite(s *run.SuiteRun) reportCase {
	name := xmlText(s.SuiteName)
	return reportCase{Name: name, ClassName: name, Time: seconds(nil, nil), Error: newFailure("SUITE_RUN_FAILED", s.Error)}
}

func newReport(name, buildName string, buildID *int64, environment string, created time.Time, from, to *time.Time) *reportView {
	counts := reportCounts{Name: xmlText(name), Time: seconds(from, to)}
	if from == nil {
		from = &created
	}
	view := &reportView{reportCounts: counts,
		Suite: reportSuite{reportCounts: counts, Timestamp: from.UTC().Format("2006-01-02T15:04:05")}}
	if buildName != "" && buildName != name { // else the run named none
		view.build = append(view.build, reportProperty{buildNameProperty, xmlText(buildName)})
	}
	if buildID != nil {
		view.build = append(view.build, reportProperty{buildProperty, strconv.FormatInt(*buildID, 10)})
	}
	if environment != "" {
		view.build = append(view.build, reportProperty{environmentProperty, xmlText(environment)})
	}
	if view.build != nil {
		view.Suite.Properties = &reportProperties{view.build}
	}
	return view
}

// seconds is the time between two instants, 0 while one of them is not known.
func seconds(from, to *time.Time) string {
	var took time.Duration
	if from != nil && to != nil {
		took = max(0, to.Sub(*from))
	}
	return fmt.Sprintf("%.3f", took.Seconds())
}

// add reports a job of a run.
func (v *reportView) add(r *run.Run, j *run.Job, class string, failing *datarow.Failing) {
	v.addMarks(j)
	v.count(reportJob(r, j, class, failing))
}

// reportJob returns the testcase of a job; failing are the data rows of those that failed,
// nil without any.
func reportJob(r *run.Run, j *run.Job, class string, failing *datarow.Failing) reportCase {
	c := reportCase{Name: xmlText(JobName(r, j)), ClassName: xmlText(class), Time: seconds(j.StartedAt, j.FinishedAt),
		Properties: jobProperties(r, j), Output: xmlText(failing.Line(j)) + output(j.Records), traces: tracesOf(r, j)}
	switch j.Status {
	case run.Failed, run.Errored:
		if r.Quarantine != nil && r.SuiteRunID != nil {
			c.Skipped = &reportSkipped{xmlText("quarantined: " + r.Quarantine.Reason)}
			break
		}
		c.addFailures(j)
	case run.Flaky:
		c.Attempts = attemptsOf(j, "flaky")
	case run.Cancelled:
		c.Skipped = &reportSkipped{skippedFor(j)}
	case run.Queued:
		c.Skipped = &reportSkipped{"waits to be run"}
	case run.Running:
		c.Skipped = &reportSkipped{"still runs"}
	}
	return c
}

// skippedFor is why a cancelled job did not run to its end.
func skippedFor(j *run.Job) string {
	if j.Error == "" || j.ErrorCode == run.CodeCancelled {
		return "the run was cancelled"
	}
	return xmlText(j.Error)
}

// jobProperties are those of a testcase: of its steps, and of the quarantine in which it failed.
func jobProperties(r *run.Run, j *run.Job) *reportProperties {
	list := markProperties(j)
	if j.Diagnosis != nil {
		list = append(list, reportProperty{"reason", string(j.Diagnosis.Reason)}, reportProperty{"cause", xmlText(j.Diagnosis.Subject)})
	}
	if r.Quarantine != nil && r.SuiteRunID != nil && (j.Status == run.Failed || j.Status == run.Errored) {
		list = append(list, reportProperty{"quarantined", xmlText(r.Quarantine.Reason)},
			reportProperty{"quarantinedUntil", answer.Stamp(r.Quarantine.Until)},
			reportProperty{"quarantinedFailure", xmlText(j.ErrorCode + ": " + j.Error)})
	}
	if len(list) == 0 {
		return nil
	}
	return &reportProperties{list}
}

// buildProperty names the distribution's build that was tested.
const buildProperty = "buildId"

// buildNameProperty is what the run calls its build.
const buildNameProperty = "buildName"

// environmentProperty names the environment of the run.
const environmentProperty = "environment"

// These properties name what is not green though it passed: how many steps were healed,
// and how many have drifted. One such property for each step follows, where the steps
// were read.
const (
	healedProperty  = "healed"
	driftedProperty = "drifted"
	// unreviewedProperty counts steps that look like a picture that nobody has accepted.
	unreviewedProperty = "unreviewed"
)

// stepMarks count steps.
type stepMarks struct{ healed, drifted, unreviewed int }

func markProperties(j *run.Job) []reportProperty {
	list := sums(stepMarks{j.Healed, j.Drifted, j.Unreviewed})
	for i := range j.Records {
		r := &j.Records[i]
		if r.Healed != nil {
			list = append(list, reportProperty{healedProperty + ":" + r.StepID,
				xmlText(fmt.Sprintf("%s %s, not %s %s", r.Healed.To.Type, r.Healed.To.Value, r.Healed.From.Type, r.Healed.From.Value))})
		}
		if r.Drifted != nil {
			list = append(list, reportProperty{driftedProperty + ":" + r.StepID, xmlText(r.Drifted.Text())})
		}
		if r.Look != nil {
			list = append(list, reportProperty{"look:" + r.StepID, r.Look.State})
		}
	}
	return list
}

// sums are the properties that count steps; those of none are left out.
func sums(m stepMarks) (list []reportProperty) {
	for _, sum := range []struct {
		name  string
		steps int
	}{{healedProperty, m.healed}, {driftedProperty, m.drifted}, {unreviewedProperty, m.unreviewed}} {
		if sum.steps > 0 {
			list = append(list, reportProperty{sum.name, strconv.Itoa(sum.steps)})
		}
	}
	return list
}

// addMarks adds healed, drifted and unreviewed steps to the sums of the suite.
func (v *reportView) addMarks(j *run.Job) {
	if j.Healed == 0 && j.Drifted == 0 && j.Unreviewed == 0 {
		return
	}
	v.marks = stepMarks{v.marks.healed + j.Healed, v.marks.drifted + j.Drifted, v.marks.unreviewed + j.Unreviewed}
	v.Suite.Properties = &reportProperties{append(slices.Clone(v.build), sums(v.marks)...)}
}

// count adds a testcase to the report and its sums.
func (v *reportView) count(c reportCase) {
	v.Suite.Cases = append(v.Suite.Cases, c)
	v.sum(c)
}

// sum adds a testcase to the sums.
func (v *reportView) sum(c reportCase) {
	for _, sums := range []*reportCounts{&v.reportCounts, &v.Suite.reportCounts} {
		sums.Tests++
		switch {
		case c.Failure != nil:
			sums.Failures++
		case c.Error != nil:
			sums.Errors++
		case c.Skipped != nil:
			sums.Skipped++
		}
	}
}

func newFailure(code, text string) *reportFailure {
	code, text = xmlText(code), xmlText(text)
	return &reportFailure{Message: text, Type: code, Text: code + ": " + text}
}

// output lists the steps with their outcomes, a line each.
func output(records []playback.Record) string {
	var out strings.Builder
	for i := range records {
		r := &records[i]
		if r.Group != nil {
			out.WriteString(strings.Repeat("  ", r.Group.Depth))
		}
		fmt.Fprintf(&out, "%d. %s ", i+1, r.Status)
		if r.Phase != "" {
			fmt.Fprintf(&out, "%s: ", r.Phase)
		}
		fmt.Fprintf(&out, "%s (%d ms)", r.Tool.Type, r.TookMS)
		if r.Healed != nil {
			fmt.Fprintf(&out, " healed: %s", r.Healed.Reason)
		}
		if r.Suggested != nil {
			fmt.Fprintf(&out, " suggested: %s", r.Suggested.Reason)
		}
		if r.Drifted != nil {
			fmt.Fprintf(&out, " drifted: %s", r.Drifted.Reason)
		}
		if r.Result.Message != "" {
			fmt.Fprintf(&out, ": %s", r.Result.Message)
		}
		out.WriteByte('\n')
		writeFindings(&out, r.Findings)
	}
	return xmlText(out.String())
}

// maxReported bounds the findings of a step in a report.
const maxReported = 20

// writeFindings lists what fails a step that checks accessibility, a line each.
func writeFindings(out *strings.Builder, found *step.Findings) {
	if found == nil {
		return
	}
	for i, f := range found.List {
		if !f.Fails || i == maxReported {
			break // those that fail come first
		}
		fmt.Fprintf(out, "   %s (%s): %s, at %s\n", f.Rule, f.Impact, f.Help, f.Element)
	}
	if more := found.Failing - maxReported; more > 0 {
		fmt.Fprintf(out, "   and %d more findings\n", more)
	}
}

// xmlText takes out of a text what XML 1.0 cannot say: control characters and what
// is no character.
func xmlText(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t', r == '\n', r >= 0x20 && r <= 0xD7FF, r >= 0xE000 && r <= 0xFFFD, r >= 0x10000:
			return r
		}
		return -1
	}, strings.ToValidUTF8(text, ""))
}

func encodeReport(view *reportView) ([]byte, error) {
	var out bytes.Buffer
	out.WriteString(xml.Header)
	enc := xml.NewEncoder(&out)
	enc.Indent("", " ")
	if err := enc.Encode(view); err != nil {
		return nil, fmt.Errorf("write JUnit report: %w", err)
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// showReport writes a report as JUnit XML.
func showReport(c *gin.Context, view *reportView) error {
	text, err := encodeReport(view)
	if err != nil {
		return err
	}
	c.Header("X-Content-Type-Options", "nosniff")
	c.Data(http.StatusOK, "application/xml; charset=utf-8", text)
	return nil
}
