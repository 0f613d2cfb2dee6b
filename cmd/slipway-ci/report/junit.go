package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"
)

// The form is that of Surefire 3.0 (surefire-test-report-3.0.xsd): one testsuite, whose
// testcases have their children in the order below. A test that failed has the first run
// as failure or error, and each further one as rerunFailure or rerunError; a test that
// passed after it had failed has its failed runs as flakyFailure or flakyError.
type (
	junitSuite struct {
		XMLName    xml.Name         `xml:"testsuite"`
		Version    string           `xml:"version,attr"`
		Name       string           `xml:"name,attr"`
		Time       string           `xml:"time,attr"` // seconds
		Tests      int              `xml:"tests,attr"`
		Errors     int              `xml:"errors,attr"`
		Skipped    int              `xml:"skipped,attr"`
		Failures   int              `xml:"failures,attr"`
		Properties *junitProperties `xml:"properties"`
		Cases      []junitCase      `xml:"testcase"`
	}
	junitProperties struct {
		List []junitProperty `xml:"property"`
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitCase struct {
		Name          string           `xml:"name,attr"`
		Class         string           `xml:"classname,attr"`
		Time          string           `xml:"time,attr"`
		Properties    *junitProperties `xml:"properties"`
		Failure       *junitFault      `xml:"failure"`
		RerunFailures []junitRerun     `xml:"rerunFailure"`
		FlakyFailures []junitRerun     `xml:"flakyFailure"`
		Skipped       *junitSkip       `xml:"skipped"`
		Error         *junitFault      `xml:"error"`
		RerunErrors   []junitRerun     `xml:"rerunError"`
		FlakyErrors   []junitRerun     `xml:"flakyError"`
		Output        string           `xml:"system-out,omitempty"`
	}
	junitFault struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
	junitRerun struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Stack   string `xml:"stackTrace"`
		Output  string `xml:"system-out,omitempty"`
	}
	junitSkip struct {
		Message string `xml:"message,attr"`
	}
)

const (
	// maxOutput bounds the output of one run of one test in bytes.
	maxOutput = 64 << 10
	// maxMessage bounds an attribute: what is longer stands in the element.
	maxMessage = 1 << 10
)

// JUnit writes the report in the form of Surefire.
func (r *Report) JUnit(w io.Writer) error {
	suite := junitSuite{Version: "3.0", Name: xmlText(r.Name, maxMessage), Time: seconds(r.Took), Tests: len(r.Cases),
		Errors: r.Count(Errored), Skipped: r.Count(Skipped, Cancelled, Quarantined), Failures: r.Count(Failed)}
	properties := r.Properties
	if r.URL != "" {
		properties = append(properties[:len(properties):len(properties)], Property{"url", r.URL})
	}
	if len(properties) > 0 {
		suite.Properties = &junitProperties{}
		for _, p := range properties {
			suite.Properties.List = append(suite.Properties.List, junitProperty{xmlText(p.Name, maxMessage), xmlText(p.Value, maxText)})
		}
	}
	for i := range r.Cases {
		suite.Cases = append(suite.Cases, r.junitCase(&r.Cases[i]))
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return fmt.Errorf("write JUnit report: %w", err)
	}
	e := xml.NewEncoder(w)
	e.Indent("", " ")
	if err := e.Encode(suite); err != nil {
		return fmt.Errorf("write JUnit report: %w", err)
	}
	if _, err := io.WriteString(w, "\n"); err != nil {
		return fmt.Errorf("write JUnit report: %w", err)
	}
	return nil
}

func (r *Report) junitCase(c *Case) junitCase {
	out := junitCase{Name: xmlText(c.Name, maxMessage), Class: xmlText(c.Suite, maxMessage), Time: seconds(c.Took)}
	if c.Suite == "" {
		out.Class = xmlText(r.Name, maxMessage)
	}
	if c.Cause.Key != "" && !c.Outcome.Good() {
		out.Properties = &junitProperties{[]junitProperty{{"reason", xmlText(c.Cause.Reason, maxMessage)},
			{"cause", xmlText(c.Cause.Text, maxMessage)}}}
	}
	var lines []string
	if c.URL != "" {
		lines = append(lines, c.URL)
	}
	switch c.Outcome {
	case Skipped, Cancelled:
		out.Skipped = &junitSkip{xmlText(c.Reason, maxMessage)}
	case Quarantined:
		out.Skipped = &junitSkip{xmlText("quarantined: "+c.Reason, maxMessage)}
		for i := range c.Failures {
			lines = append(append(lines, c.Failures[i].Code+": "+c.Failures[i].Text), c.Failures[i].output()...)
		}
		out.Output = xmlText(strings.Join(lines, "\n"), maxOutput)
		return out
	}
	for i := range c.Failures {
		f := &c.Failures[i]
		text := xmlText(strings.Join(append([]string{f.Code + ": " + f.Text}, f.Why...), "\n"), maxText)
		message, kind := xmlText(f.Text, maxMessage), xmlText(f.Code, maxMessage)
		if i == 0 && !c.Outcome.Good() {
			fault := &junitFault{Message: message, Type: kind, Text: text}
			// The element is that of the case, as readers count them, whatever the first run was.
			if out.Failure = fault; c.Outcome == Errored {
				out.Failure, out.Error = nil, fault
			}
			lines = append(lines, f.output()...)
			continue
		}
		again := junitRerun{Message: message, Type: kind, Stack: text, Output: xmlText(strings.Join(f.output(), "\n"), maxOutput)}
		switch {
		case c.Outcome.Good() && f.Outcome == Errored:
			out.FlakyErrors = append(out.FlakyErrors, again)
		case c.Outcome.Good():
			out.FlakyFailures = append(out.FlakyFailures, again)
		case f.Outcome == Errored:
			out.RerunErrors = append(out.RerunErrors, again)
		default:
			out.RerunFailures = append(out.RerunFailures, again)
		}
		// Readers look for attachments in the output of the test alone.
		lines = append(lines, f.attachments()...)
	}
	out.Output = xmlText(strings.Join(lines, "\n"), maxOutput)
	return out
}

// output are the link, the steps and the attachments of a failed run.
func (f *Failure) output() (lines []string) {
	if f.URL != "" {
		lines = append(lines, f.URL)
	}
	for _, line := range f.Why {
		lines = append(lines, strings.ReplaceAll(Line(line), "[[", "[ ["))
	}
	for _, step := range f.Steps {
		// A step shows what a page says: it must not name a file to attach.
		lines = append(lines, strings.ReplaceAll(Line(step), "[[", "[ ["))
	}
	return append(lines, f.attachments()...)
}

// attachments are in the form that Jenkins and GitLab read.
func (f *Failure) attachments() (lines []string) {
	for _, path := range f.Attachments {
		lines = append(lines, "[[ATTACHMENT|"+path+"]]")
	}
	return lines
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", max(0, d).Seconds()) }

// xmlText takes out of a text what XML 1.0 cannot say.
func xmlText(text string, most int) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t', r == '\n', r >= 0x20 && r <= 0xD7FF, r >= 0xE000 && r <= 0xFFFD, r >= 0x10000:
			return r
		}
		return -1
	}, strings.ToValidUTF8(clip(text, most), ""))
}
