package junit

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	store "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/capability"
	"github.com/slipway-qa/slipway/storage/step/playback"
)

func instant(t testing.TB, text string) *time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339Nano, text)
	require.NoError(t, err)
	return &at
}

const goldenReport = `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="Buy &lt;all&gt;" tests="6" failures="1" errors="1" skipped="3" time="2.500">
 <testsuite name="Buy &lt;all&gt;" tests="6" failures="1" errors="1" skipped="3" time="2.500" timestamp="2026-03-01T10:00:01">
  <properties>
   <property name="buildName" value="1.2 &lt;rc&gt;"></property>
   <property name="healed" value="3"></property>
  </properties>
  <testcase name="Buy &lt;all&gt; (target 1: chrome 120 Linux)" classname="Buy &lt;all&gt;" time="1.234">
   <properties>
    <property name="healed" value="1"></property>
    <property name="healed:s1" value="css a &gt; b, not css #old"></property>
   </properties>
   <system-out>1. PASSED click (5 ms) healed: same text: clicked&#xA;2. PASSED finish (0 ms)&#xA;</system-out>
  </testcase>
  <testcase name="Buy &lt;all&gt; (target 2)" classname="Buy &lt;all&gt;" time="0.000">
   <properties>
    <property name="healed" value="2"></property>
   </properties>
   <failure message="found &#34;a&#34; &amp; not b" type="ASSERTION_FAILED">ASSERTION_FAILED: found &#34;a&#34; &amp; not b</failure>
  </testcase>
  <testcase name="Buy &lt;all&gt; (target 3)" classname="Buy &lt;all&gt;" time="0.000">
   <error message="no browser" type="SESSION_NOT_CREATED">SESSION_NOT_CREATED: no browser</error>
  </testcase>
  <testcase name="Buy &lt;all&gt; (target 4)" classname="Buy &lt;all&gt;" time="0.000">
   <skipped message="the run was cancelled"></skipped>
  </testcase>
  <testcase name="Buy &lt;all&gt; (target 5)" classname="Buy &lt;all&gt;" time="0.000">
   <skipped message="waits to be run"></skipped>
  </testcase>
  <testcase name="Buy &lt;all&gt; (target 6)" classname="Buy &lt;all&gt;" time="0.000">
   <skipped message="still runs"></skipped>
  </testcase>
 </testsuite>
</testsuites>
`

func TestJUnitOfARun(t *testing.T) {
	t.Parallel()
	from := instant(t, "2026-03-01T11:00:01.5+01:00")
	run := &store.Run{CaseName: "Buy <all>", BuildName: "1.2 <rc>", CreatedAt: *instant(t, "2026-03-01T10:00:00Z"), StartedAt: from,
		FinishedAt: instant(t, "2026-03-01T10:00:04Z"), Jobs: []store.Job{
			{Status: store.Passed, Healed: 1, StartedAt: from, FinishedAt: instant(t, "2026-03-01T10:00:02.734Z"),
				Target: capability.Target{Capabilities: capability.Capabilities{"browserName": "chrome", "browserVersion": "120",
					"platformName": "Linux"}},
				Records: []playback.Record{
					{StepID: "s1", Tool: step.Tool{Type: step.Click}, Status: playback.Passed, TookMS: 5,
						Result: step.Outcome{Message: "clicked"},
						Healed: &playback.Healed{Reason: "same text", From: step.Selector{Type: step.CSS, Value: "#old"},
							To: step.Selector{Type: step.CSS, Value: "a > b"}}},
					{Tool: step.Tool{Type: step.Finish}, Status: playback.Passed}}},
			{Status: store.Failed, Healed: 2, ErrorCode: store.CodeAssertionFailed, Error: "found \"a\" & \x00\x1bnot b\xff"},
			{Status: store.Errored, ErrorCode: store.CodeNoSession, Error: "no browser"},
			{Status: store.Cancelled, ErrorCode: store.CodeCancelled},
			{Status: store.Queued}, {Status: store.Running, StartedAt: from},
		}}
	for i := range run.Jobs {
		run.Jobs[i].Position = i
	}
	text, err := encodeReport(reportRun(run, nil))
	require.NoError(t, err)
	require.Equal(t, goldenReport, string(text))
}

// A suite run that broke before it had a case must not look like a success.
func TestJUnitOfABrokenSuiteRun(t *testing.T) {
	t.Parallel()
	broken := &store.SuiteRun{SuiteName: "Smoke", CreatedAt: *instant(t, "2026-03-01T10:00:00Z"), Status: store.Errored,
		Error: "no case is left"}
	text, err := encodeReport(reportSuiteRun(broken, nil))
	require.NoError(t, err)
	require.Equal(t, `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="Smoke" tests="1" failures="0" errors="1" skipped="0" time="0.000">
 <testsuite name="Smoke" tests="1" failures="0" errors="1" skipped="0" time="0.000" timestamp="2026-03-01T10:00:00">
  <testcase name="Smoke" classname="Smoke" time="0.000">
   <error message="no case is left" type="SUITE_RUN_FAILED">SUITE_RUN_FAILED: no case is left</error>
  </testcase>
 </testsuite>
</testsuites>
`, string(text))
}

func FuzzJUnit(f *testing.F) {
	f.Add("name", "error", "message")
	f.Add("a\x00\x08\x1f]]>", "<failure>&amp;\r\n\t", "\ufffe\uffff\U0010ffff\xed\xa0\x80")
	f.Add("<![CDATA[", "<!-- -->", "<?xml version=\"1.1\"?>")
	f.Fuzz(func(t *testing.T, name, failure, message string) {
		run := store.Run{CaseName: name, Jobs: []store.Job{{Status: store.Failed, ErrorCode: failure, Error: failure,
			Records: []playback.Record{{Tool: step.Tool{Type: name}, Status: playback.Failed, Result: step.Outcome{Message: message},
				Healed: &playback.Healed{Reason: message}}}}}}
		flaky := store.Run{CaseName: name, Jobs: []store.Job{{Status: store.Flaky, Earlier: []store.Attempt{{Status: store.Errored,
			ErrorCode: failure, Error: message, Records: []playback.Record{{Tool: step.Tool{Type: name},
				Result: step.Outcome{Message: message}}}}}}}}
		text, err := encodeReport(reportSuiteRun(&store.SuiteRun{SuiteName: name, Error: message}, []store.Run{run, flaky}))
		require.NoError(t, err)
		require.True(t, utf8.Valid(text))
		dec := xml.NewDecoder(strings.NewReader(string(text)))
		for {
			if _, err := dec.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%v in %q", err, text)
			}
		}
		var back reportView
		require.NoError(t, xml.Unmarshal(text, &back))
		c := back.Suite.Cases[0]
		require.Equal(t, xmlText(name), c.Name)
		require.Equal(t, xmlText(failure), c.Failure.Message)
		require.Equal(t, xmlText(failure)+": "+xmlText(failure), c.Failure.Text)
		require.True(t, strings.HasSuffix(c.Output, xmlText(message)+"\n"))
	})
}
