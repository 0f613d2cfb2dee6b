package evidence

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/failure"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/worker/run/traffic"
)

func redact(text string) string { return strings.ReplaceAll(text, "hunter2", "***") }

func TestPages(t *testing.T) {
	t.Parallel()
	r := New()
	r.Left(-1, []string{"opened"})
	r.Left(0, []string{"a", "hunter2"})
	r.Met(1, []string{"met"})
	r.Met(-1, []string{"no step"})
	r.Left(1, []string{"b"})
	r.Left(3, []string{"c"})
	tool := func(name string) step.Tool { return step.Tool{Type: name} }
	records := []playback.Record{
		{StepID: "s1", Status: playback.Passed, Tool: tool(step.Click), TookMS: 3},
		{StepID: "s2", Status: playback.Passed, Tool: tool(step.Click)},
		{StepID: "s3", Status: playback.Skipped, Tool: tool(step.Click)},
		{StepID: "s4", Status: playback.Passed, Tool: tool(step.Assert)},
		{StepID: "s5", Status: playback.Failed, Tool: tool(step.Click)},
	}
	d := r.Digest(Test{Records: records, Redact: redact})
	for id, want := range map[string][]string{"s1": {"opened"}, "s2": {"met"}, "s4": {"c"}, "s5": {"c"}} {
		page, ok := d.PageOf(id)
		require.True(t, ok, id)
		require.Equal(t, want, page, id)
	}
	require.Contains(t, d.Lines, "***")
	require.NotContains(t, d.Lines, "hunter2")
	require.EqualValues(t, 3, d.Played[0].TookMS)
	require.Len(t, d.Played, 4, "what was skipped was not played")

	none := (*Recorder)(nil)
	none.Met(0, nil)
	none.Left(0, nil)
	_, ok := none.Digest(Test{Records: records, Redact: redact}).PageOf("s1")
	require.False(t, ok)
}

func TestPagesAreBounded(t *testing.T) {
	t.Parallel()
	r := New()
	for i := range 100 {
		var lines []string
		for k := range 200 {
			lines = append(lines, fmt.Sprintf("%d of %d", k, i))
		}
		r.Left(i, lines)
	}
	d := r.Digest(Test{Records: []playback.Record{{StepID: "s1", Status: playback.Failed}}, Redact: redact})
	require.Len(t, d.Lines, maxTable)
	page, _ := d.PageOf("s1")
	require.Len(t, page, MaxLines)
}

func TestEndpoints(t *testing.T) {
	t.Parallel()
	entry := func(url string, status int, failed string) traffic.Entry {
		return traffic.Entry{Method: "GET", URL: url, Status: status, Failure: failed, Done: true}
	}
	list := []traffic.Entry{entry("http://Shop:80/cart/1", 500, ""), entry("http://ads/x?token=hunter2", 0, "net::ERR_FAILED"),
		{Method: "GET", URL: "http://shop:80/open"},
		entry("http://shop:80/cart/2", 200, ""), entry("http://shop:80/hunter2", 200, ""), entry("data:x", 200, "")}
	d := New().Digest(Test{Host: "shop:80", Network: true, Entries: list, Redact: redact, Console: []string{"no 1", "no 2", "hunter2"}})
	require.Equal(t, []failure.Seen{
		{Method: "GET", Host: "ads", Path: "/x", Failure: "net::ERR_FAILED"},
		{Method: "GET", Host: "shop:80", Path: "/cart/{id}", Own: true, Status: 200},
		{Method: "GET", Host: "shop:80", Path: "/***", Own: true, Status: 200},
	}, d.Requests)
	require.Equal(t, []string{"no #", "***"}, d.Console)

	for i := range 500 {
		list = append(list, entry(fmt.Sprintf("http://shop:80/page-%c%c", 'a'+i/26, 'a'+i%26), 200, ""))
	}
	d = New().Digest(Test{Host: "shop:80", Network: true, Entries: list, Redact: redact})
	require.Len(t, d.Requests, failure.MaxSeen)
	require.True(t, d.Requests[0].Host == "ads", "those that failed stay")
	require.Empty(t, New().Digest(Test{Entries: list, Redact: redact}).Requests)
}

func TestSameSteps(t *testing.T) {
	t.Parallel()
	click := func(id, css string, f *step.Fingerprint) []step.Step {
		inner := step.Tool{Type: step.Click, Args: step.Args{Selector: &step.Selector{Type: step.CSS, Value: css, Fingerprint: f}}}
		return []step.Step{{ID: id, Tool: step.Tool{Type: step.InFrame,
			Args: step.Args{Selector: &step.Selector{Type: step.CSS, Value: "iframe"}, Tool: &inner}}}}
	}
	of := func(steps []step.Step) string { return New().Digest(Test{Steps: steps, Redact: redact}).Steps }
	learnt := click("s1", "#a", &step.Fingerprint{Tag: "a"})
	require.Equal(t, of(click("s1", "#a", nil)), of(learnt))
	require.NotNil(t, learnt[0].Tool.Args.Tool.Args.Selector.Fingerprint, "the steps stay what they are")
	require.Equal(t, of(click("s1", "#a", nil)), of(click("s2", "#a", nil)))
	require.NotEqual(t, of(click("s1", "#a", nil)), of(click("s1", "#b", nil)))
}
