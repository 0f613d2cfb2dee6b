package testrun

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/client"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/report"
)

// The server shares a suite out; cases that are named beside it are not told of it.
func TestSuitesAreSharedOutByTheServer(t *testing.T) {
	t.Parallel()
	_, c := newScripted(t, nil)
	told := map[string]string{}
	c.Client = answered(t, func(r *http.Request) string {
		if r.Method == http.MethodPost {
			text, _ := io.ReadAll(r.Body)
			told[r.URL.Path] = string(text)
			return `{"data":{"id":"9","status":"QUEUED","jobs":[]}}`
		}
		if strings.Contains(r.URL.Path, "testsuites") {
			return `{"data":{"id":"9","status":"PASSED","caseRuns":[{"id":"8","testCaseId":"1","testCaseName":"a","status":"CANCELLED",` +
				`"quarantine":{"reason":"late"},
				"jobs":[{"id":"7","name":"a","status":"CANCELLED","error":{"code":"DEPENDENCY_NOT_PASSED",` +
				`"detail":"skipped: it needs \"b\", which failed"}}]},
				{"id":"6","testCaseId":"2","testCaseName":"b","status":"CANCELLED",
				"jobs":[{"id":"5","name":"b","status":"CANCELLED","error":{"code":"MAX_DURATION_EXCEEDED","detail":"skipped: over"}}]}]}}`
		}
		return `{"data":{"id":"4","status":"PASSED","jobs":[{"id":"3","name":"alone","status":"PASSED"}]}}`
	})
	c.Start.Shard, c.Start.MaxDuration = &client.SuiteShard{Index: 2, Of: 4, Key: "pipeline"}, 60
	p := planOf("alone")
	p.Suites = []client.TestSuite{{ID: "9", Name: "Smoke"}}
	r, err := c.Run(t.Context(), p)
	require.NoError(t, err)
	require.Len(t, told, 2)
	for path, text := range told {
		require.Equal(t, strings.Contains(path, "testsuites"),
			strings.Contains(text, `"shard":{"index":2,"of":4,"key":"pipeline"},"maxDuration":60`), path)
	}
	got := map[string]report.Case{}
	for _, k := range r.Cases {
		got[k.Name] = k
	}
	require.Equal(t, report.Quarantined, got["a"].Outcome, "skipped for a test in quarantine")
	require.Equal(t, report.Cancelled, got["b"].Outcome)
	require.Equal(t, "skipped: over", got["b"].Reason)
	require.Equal(t, report.Passed, got["alone"].Outcome)
}
