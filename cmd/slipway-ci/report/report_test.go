package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// hostile is what a page may say: it ends elements, lines, links, tables and commands.
const hostile = "a\x00b\x1b[31m\r\n::set-output name=x::y\n##vso[task.setvariable variable=x]y ##teamcity[x] ##[error]z ]]> </failure> " +
	"| a | `b` **c** [d](javascript:e) <script>f</script> <!-- g --> [[ATTACHMENT|/etc/passwd]] @everyone %0A \u2028\ufffe\U0001F642"

// sample has a case of each outcome.
func sample() *Report {
	fail := func(o Outcome, attachments ...string) Failure {
		return Failure{Outcome: o, Code: "STEP_FAILED", Text: hostile, URL: "https://qa.example.com/console/tests/cases/a/runs/1",
			Steps: []string{"1. PASSED go_to_url / (3 ms)", "2. FAILED click " + hostile}, Attachments: attachments}
	}
	return &Report{Name: "Shop", URL: "https://qa.example.com/console/tests/suites/s/runs/r", Took: 90*time.Second + 1234*time.Microsecond,
		Properties: []Property{{"build", "1.2.3"}, {"commit", "abc"}, {hostile, hostile}},
		Cases: []Case{
			{Name: "Open", Suite: "Shop", Target: "chrome", Outcome: Passed, Took: time.Second, URL: "https://qa.example.com/console/x"},
			{Name: "Buy", Suite: "Shop", Target: "chrome", Outcome: Failed, Failures: []Failure{fail(Failed, "shots/one.png"),
				fail(Errored), fail(Failed)},
				File: "tests/buy, fast:1.yaml", Line: 7},
			{Name: "No browser", Target: "firefox", Outcome: Errored, Failures: []Failure{fail(Errored, "/abs/two.png"),
				fail(Failed), fail(Errored)}},
			{Name: "Shaky", Suite: "Shop", Outcome: Flaky, Failures: []Failure{fail(Failed, "shots/three.png"), fail(Errored)},
				File: "tests/shaky.yaml", Line: 3},
			{Name: hostile, Suite: hostile, Target: hostile, Outcome: Skipped, Reason: hostile},
			{Name: "Cut off", Suite: "Shop", Outcome: Cancelled, Reason: "the run was cancelled"},
		}}
}

func junit(t *testing.T, r *Report) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, r.JUnit(&out))
	return out.String()
}

// The order and number of the elements of Surefire's schema, version 3.0, and the
// attributes that it requires.
var (
	schemaOrder = map[string][]string{
		"testsuite": {"properties", "testcase"},
		"testcase": {"failure", "rerunFailure", "flakyFailure", "skipped", "error", "rerunError", "flakyError",
			"system-out", "system-err"},
		"properties": {"property"}, "rerunFailure": {"stackTrace", "system-out", "system-err"},
		"rerunError":   {"stackTrace", "system-out", "system-err"},
		"flakyFailure": {"stackTrace", "system-out", "system-err"}, "flakyError": {"stackTrace", "system-out", "system-err"},
	}
	schemaOnce  = []string{"skipped", "error", "stackTrace", "system-out", "system-err"}
	schemaNeeds = map[string][]string{
		"testsuite": {"name", "tests", "errors", "skipped", "failures"}, "testcase": {"name", "time"}, "property": {"name", "value"},
		"failure": {"type"}, "error": {"type"}, "rerunFailure": {"type"}, "rerunError": {"type"}, "flakyFailure": {"type"},
		"flakyError": {"type"},
	}
	schemaKnows = map[string][]string{
		"testsuite": {"version", "name", "time", "tests", "errors", "skipped", "failures", "group"},
		"testcase":  {"name", "classname", "group", "time"}, "property": {"name", "value"}, "skipped": {"message"},
		"failure": {"message", "type"}, "error": {"message", "type"}, "rerunFailure": {"message", "type"}, "rerunError": {"message", "type"},
		"flakyFailure": {"message", "type"}, "flakyError": {"message", "type"},
	}
	schemaNeedsChild = map[string]string{"rerunFailure": "stackTrace", "rerunError": "stackTrace", "flakyFailure": "stackTrace",
		"flakyError": "stackTrace"}
	surefireTime = regexp.MustCompile(`^(([0-9]{0,3},)*[0-9]{3}|[0-9]{0,3})*(\.[0-9]{0,3})?$`)
)

// followsSchema holds a document against Surefire's schema.
func followsSchema(text string) error {
	d := xml.NewDecoder(strings.NewReader(text))
	type open struct {
		name     string
		children []string
	}
	var stack []open
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch v := token.(type) {
		case xml.StartElement:
			name := v.Name.Local
			if len(stack) == 0 && name != "testsuite" {
				return fmt.Errorf("the root is %s", name)
			}
			if err := attributesFollow(name, v.Attr); err != nil {
				return err
			}
			if len(stack) > 0 {
				parent := &stack[len(stack)-1]
				at := slices.Index(schemaOrder[parent.name], name)
				if at < 0 {
					return fmt.Errorf("%s in %s", name, parent.name)
				}
				if n := len(parent.children); n > 0 {
					before := parent.children[n-1]
					if slices.Index(schemaOrder[parent.name], before) > at || before == name && slices.Contains(schemaOnce, name) {
						return fmt.Errorf("%s behind %s in %s", name, before, parent.name)
					}
				}
				parent.children = append(parent.children, name)
			}
			stack = append(stack, open{name: name})
		case xml.EndElement:
			last := stack[len(stack)-1]
			if need := schemaNeedsChild[last.name]; need != "" && !slices.Contains(last.children, need) {
				return fmt.Errorf("%s without %s", last.name, need)
			}
			stack = stack[:len(stack)-1]
		case xml.CharData:
			if len(stack) > 0 && schemaOrder[stack[len(stack)-1].name] != nil && strings.TrimSpace(string(v)) != "" {
				return fmt.Errorf("text in %s", stack[len(stack)-1].name)
			}
		}
	}
}

func attributesFollow(name string, list []xml.Attr) error {
	has := map[string]string{}
	for _, a := range list {
		if !slices.Contains(schemaKnows[name], a.Name.Local) {
			return fmt.Errorf("%s has the attribute %s", name, a.Name.Local)
		}
		has[a.Name.Local] = a.Value
	}
	for _, need := range schemaNeeds[name] {
		if _, there := has[need]; !there {
			return fmt.Errorf("%s lacks the attribute %s", name, need)
		}
	}
	if at, there := has["time"]; there && !surefireTime.MatchString(at) {
		return fmt.Errorf("the time of %s is %q", name, at)
	}
	return nil
}

func TestJUnitFollowsSurefire(t *testing.T) {
	t.Parallel()
	text := junit(t, sample())
	require.NoError(t, followsSchema(text), text)
	require.NoError(t, followsSchema(junit(t, &Report{Name: "nothing"})))
	// What checks can fail.
	for _, bad := range []string{`<testsuites/>`, `<testsuite name="a" tests="1" errors="0" skipped="0"/>`,
		`<testsuite name="a" tests="1" errors="0" skipped="0" failures="0"><testcase name="a" time="1s"/></testsuite>`,
		`<testsuite name="a" tests="1" errors="0" skipped="0" failures="0"><testcase name="a" time="1"><system-out/>` +
			`<failure type="b"/></testcase></testsuite>`,
		`<testsuite name="a" tests="1" errors="0" skipped="0" failures="0"><testcase name="a" time="1">` +
			`<flakyFailure type="b"/></testcase></testsuite>`,
		`<testsuite name="a" tests="1" errors="0" skipped="0" failures="0" hostname="h"/>`} {
		require.Error(t, followsSchema(bad), bad)
	}

	var read junitSuite
	require.NoError(t, xml.Unmarshal([]byte(text), &read))
	require.Equal(t, []int{6, 1, 1, 2}, []int{read.Tests, read.Failures, read.Errors, read.Skipped})
	require.Equal(t, "90.001", read.Time)
	require.Equal(t, junitProperty{"url", "https://qa.example.com/console/tests/suites/s/runs/r"},
		read.Properties.List[len(read.Properties.List)-1])
	failed, errored, flaky := read.Cases[1], read.Cases[2], read.Cases[3]
	require.NotNil(t, failed.Failure)
	require.Len(t, failed.RerunFailures, 1)
	require.Len(t, failed.RerunErrors, 1)
	require.NotNil(t, errored.Error)
	require.Nil(t, errored.Failure)
	require.Equal(t, "Shop", errored.Class, "a test of no suite is of the report")
	require.Nil(t, flaky.Failure)
	require.Nil(t, flaky.Error)
	require.Len(t, flaky.FlakyFailures, 1)
	require.Len(t, flaky.FlakyErrors, 1)
	require.Contains(t, failed.Output, "\n[[ATTACHMENT|shots/one.png]]")
	require.Contains(t, flaky.Output, "[[ATTACHMENT|shots/three.png]]")
	for _, c := range read.Cases {
		require.NotContains(t, c.Output, "[[ATTACHMENT|/etc/passwd]]", "a page attaches no file")
	}
	require.NotContains(t, text, "\x1b")
	require.NotContains(t, text, "\x00")
}

// Python's reader of XML is another than Go's.
func TestJUnitIsReadByPython(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed")
	}
	command := exec.CommandContext(t.Context(), python, "-c", `import sys, xml.etree.ElementTree as e
r = e.fromstring(sys.stdin.buffer.read())
print(r.tag, len(r.findall("testcase")), len(r.findall("testcase/flakyFailure")), len(r.findall("testcase/failure")), `+
		`r.find("testcase/failure").get("type"))`)
	command.Stdin = strings.NewReader(junit(t, sample()))
	out, err := command.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, "testsuite 6 1 1 STEP_FAILED", strings.TrimSpace(string(out)))
}

// Counts and elements agree, whatever the tries before the last one ended as.
func TestElementsAreThoseOfTheCase(t *testing.T) {
	t.Parallel()
	lost, broke := Failure{Outcome: Errored, Code: "WORKER_LOST"}, Failure{Outcome: Failed, Code: "STEP_FAILED"}
	text := junit(t, &Report{Cases: []Case{{Outcome: Failed, Failures: []Failure{lost, broke}},
		{Outcome: Errored, Failures: []Failure{broke, lost}}}})
	require.Contains(t, text, `errors="1" skipped="0" failures="1"`)
	require.Equal(t, 1, strings.Count(text, "<failure "), text)
	require.Equal(t, 1, strings.Count(text, "<error "), text)
	require.Contains(t, text, `<failure message="" type="WORKER_LOST">`)
}

func TestMarkdownSaysWhatMatters(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, sample().Markdown(&out, MaxSummary))
	text := out.String()
	require.Contains(t, text, "### ❌ [Shop](<https://qa.example.com/console/tests/suites/s/runs/r>)")
	require.Contains(t, text, "1 failed, 1 could not run, 1 passed in the end (flaky), 1 cancelled, 1 passed, 1 skipped in 1m30s.")
	require.Contains(t, text, "| Buy | chrome | ❌ failed |")
	require.Contains(t, text, "| Shaky |  | ✅ flaky |")
	for _, bad := range []string{"<script", "javascript:e)", "[d](", "`b`", "**c**", "@everyone", "<!--", "\x1b", "##vso[", "\n::"} {
		require.NotContains(t, text, bad)
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "|") {
			require.Equal(t, 5, strings.Count(strings.ReplaceAll(line, `\|`, ""), "|"), "a table has its columns: %s", line)
		}
	}
	for _, most := range []int{0, 10, 100, 700, 2000, 5000} {
		out.Reset()
		require.NoError(t, sample().Markdown(&out, most))
		require.LessOrEqual(t, out.Len(), most)
		if most >= 700 {
			require.Contains(t, out.String(), "More has no room here.", most)
		}
	}
	large := sample()
	for range 3_000 {
		large.Cases = append(large.Cases, large.Cases[1])
	}
	out.Reset()
	require.NoError(t, large.Markdown(&out, 2*MaxSummary))
	require.LessOrEqual(t, out.Len(), MaxSummary)
}

func TestAnnotationsEscape(t *testing.T) {
	t.Parallel()
	lines := sample().Annotations(GitHub)
	require.Len(t, lines, 2)
	require.True(t, strings.HasPrefix(lines[0],
		"::error file=tests/buy%2C fast%3A1.yaml,line=7,title=failed%3A Buy::STEP_FAILED: a b"), lines[0])
	require.True(t, strings.HasPrefix(lines[1], "::warning file=tests/shaky.yaml,line=3,"), lines[1])
	azure := sample().Annotations(Azure)
	require.True(t, strings.HasPrefix(azure[0],
		"##vso[task.logissue type=error;sourcepath=tests/buy, fast:1.yaml;linenumber=7;]failed: Buy: STEP_FAILED: a b"), azure[0])
	for _, line := range append(lines, azure...) {
		require.NotContains(t, line, "\n")
		require.NotContains(t, line, "\r")
		require.NotContains(t, line, "\x1b")
		require.NotContains(t, line[1:], "##vso[")
	}
	require.Empty(t, sample().Annotations("gitlab"))
	many := sample()
	for range 200 {
		many.Cases = append(many.Cases, many.Cases[1])
	}
	require.Len(t, many.Annotations(GitHub), maxAnnotations)
}

func TestCodeQuality(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, sample().CodeQuality(&out))
	var list []map[string]any
	require.NoError(t, json.Unmarshal(out.Bytes(), &list))
	require.Len(t, list, 2)
	require.Equal(t, "critical", list[0]["severity"])
	require.Equal(t, "minor", list[1]["severity"])
	require.Equal(t, map[string]any{"path": "tests/buy, fast:1.yaml", "lines": map[string]any{"begin": 7.0}}, list[0]["location"])
	require.NotEqual(t, list[0]["fingerprint"], list[1]["fingerprint"])
	out.Reset()
	require.NoError(t, (&Report{}).CodeQuality(&out))
	require.Equal(t, "[]\n", out.String())
}

func TestLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"a\nb\tc", "a b c"}, {"::error::x", ": :error::x"}, {" ::error::x", ": :error::x"}, {"a ##vso[b]c", "a # #vso[b]c"}, {"##[x]", "# #[x]"},
		{"a # b ## c", "a # b ## c"}, {"\x1b[31mred", "[31mred"}, {"a\xffb", "a?b"}, {"\u2028::x", ": :x"},
	} {
		require.Equal(t, c.want, Line(c.text), "%q", c.text)
	}
	require.LessOrEqual(t, len(Line(strings.Repeat("🙂", maxText))), maxText)
}
