package testrun

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/client"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/progress"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/report"
)

// rowServer answers as a server does for a test of 1,200 data rows, of which two fail at first.
type rowServer struct {
	t    *testing.T
	runs [][]int // the rows of each run
}

const allRows = 1200

func (s *rowServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		var in client.StartRun
		text, err := io.ReadAll(r.Body)
		require.NoError(s.t, err)
		require.NoError(s.t, json.Unmarshal(text, &in))
		rows := in.Rows
		for i := 0; in.Rows == nil && i < allRows; i++ {
			rows = append(rows, i)
		}
		s.runs = append(s.runs, rows)
		s.write(w, len(s.runs)-1, "QUEUED", 0, 100)
		return
	}
	n, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:], "run-"))
	require.NoError(s.t, err)
	skip, _ := strconv.Atoi(r.URL.Query().Get("jobsSkip"))
	limit, err := strconv.Atoi(r.URL.Query().Get("jobsLimit"))
	if err != nil {
		limit = 100
	}
	s.write(w, n, "FAILED", skip, limit)
}

func (s *rowServer) write(w http.ResponseWriter, n int, status string, skip, limit int) {
	jobs := []map[string]any{}
	for _, row := range s.runs[n][min(skip, len(s.runs[n])):min(skip+limit, len(s.runs[n]))] {
		state := status
		if status == "FAILED" && !(n == 0 && (row == 7 || row == 1111)) {
			state = "PASSED"
		}
		jobs = append(jobs, map[string]any{"id": fmt.Sprintf("job-%d-%d", n, row), "name": fmt.Sprintf("Sign in [row %d]", row), "status": state,
			"target": map[string]any{"capabilities": map[string]string{"browserName": "chrome"}}, "row": map[string]any{"index": row, "name": ""}})
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"data": map[string]any{"id": fmt.Sprintf("run-%d", n), "testCaseId": "test",
		"testCaseName": "Sign in",
		"status":       status, "jobs": jobs, "jobCount": len(s.runs[n]), "creationDate": time.Now().UTC().Format(time.RFC3339)}})
}

// All rows are in the report, whatever page they are on.
func TestReportOfRows(t *testing.T) {
	t.Parallel()
	s := &rowServer{t: t}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	api, err := client.New(client.Config{Server: server.URL, RetryFor: -1})
	require.NoError(t, err)
	_, c := newScripted(t, nil)
	c.Client = api
	c.Out = progress.New(progress.Config{Out: io.Discard, Mode: progress.Silent})
	t.Cleanup(c.Out.Close)
	r, err := c.Run(t.Context(), planOf("test"))
	require.NoError(t, err)
	require.Len(t, s.runs, 1)
	require.Equal(t, allRows, len(r.Cases))
	require.Equal(t, 2, r.Count(report.Failed))
	require.Equal(t, allRows-2, r.Count(report.Passed))

	// Some rows alone.
	s.runs, c.Start.Rows, c.Key = nil, []int{3, 4}, func(what ...string) string { return "again " + strings.Join(what, " ") }
	_, err = c.Run(t.Context(), planOf("test"))
	require.NoError(t, err)
	require.Equal(t, [][]int{{3, 4}}, s.runs)
}
