package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Tests that failed for one cause are one line of the summary, whatever else their pages say.
func TestGroups(t *testing.T) {
	t.Parallel()
	cart := Cause{Key: "503 GET /api/cart", Text: "503 of /api/cart", Reason: "product", Why: []string{"GET /api/cart answered 503."}}
	late := Cause{Key: hostile, Text: hostile, Reason: hostile}
	r := &Report{Name: "Shop", Cases: []Case{
		{Name: "Sign in", Outcome: Passed},
		{Name: "Quiet", Outcome: Quarantined, Cause: cart},
		{Name: "Odd", Outcome: Failed, Cause: late, Failures: []Failure{{Code: "STEP_FAILED", Text: "no",
			Why: []string{"expected: " + hostile}}}},
		{Name: "Buy", Target: "chrome", Outcome: Failed, Cause: cart,
			Failures: []Failure{{Code: "STEP_FAILED", Text: "no", Why: []string{"actual: it is gone"}}}},
		{Name: "Buy", Target: "firefox", Outcome: Failed, Cause: cart},
		{Name: "Pay", Outcome: Errored, Cause: Cause{Key: cart.Key, Text: cart.Text, Reason: "environment"}},
		{Name: "Unknown", Outcome: Failed},
	}}
	groups := r.Groups()
	require.Len(t, groups, 2)
	require.Equal(t, "2 cases: 503 of /api/cart", groups[0].Title())
	require.Equal(t, "unknown", groups[0].Reason, "its tests have several")
	require.Len(t, groups[0].Tests, 3)

	var out bytes.Buffer
	require.NoError(t, r.Markdown(&out, MaxSummary))
	require.Contains(t, out.String(), `| 2 cases\: 503 of /api/cart | unknown | Buy, Buy, Pay |`)
	require.Contains(t, out.String(), `- actual\: it is gone`)
	for line := range strings.Lines(out.String()) {
		require.False(t, strings.HasPrefix(line, "::"), "no command of a pipeline")
		require.NotContains(t, line, "<script>")
	}
	out.Reset()
	require.NoError(t, r.JUnit(&out))
	require.Contains(t, out.String(), `<property name="cause" value="503 of /api/cart">`)
	require.Contains(t, out.String(), `<property name="reason" value="product">`)
	require.Contains(t, out.String(), "actual: it is gone")
	require.Contains(t, out.String(), "[ [ATTACHMENT|/etc", "a page names no file of the output")

	d := r.Document()
	require.Equal(t, DocumentGroup{Title: "2 cases: 503 of /api/cart", Reason: "unknown", Tests: []string{"Buy", "Buy", "Pay"}}, d.Groups[0])
	require.Equal(t, "product", d.Tests[3].FailureReason)
	require.Equal(t, []string{"GET /api/cart answered 503."}, d.Tests[3].Why)
}
