package conventions

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// The loop of docs/tests.md that a CI job waits with ends as the run does, whatever
// becomes of single requests, its first and its last among them.
func TestDocumentedLoopOutlivesFailedPolls(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"jq", "curl", "sh"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(program + " is not there")
		}
	}
	text, err := os.ReadFile("../../docs/tests.md")
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(text), "CI_COMMIT_SHORT_SHA=abc -->\n```sh\n")
	require.True(t, found)
	script, _, found := strings.Cut(rest, "```")
	require.True(t, found)
	require.Contains(t, script, "sleep 5")
	script = strings.ReplaceAll(script, "sleep 5", "sleep 0.1")

	for _, c := range []struct {
		ends    string
		minutes int
		red     bool
		polls   int64
		report  bool
	}{{"PASSED", 10, false, 6, true}, {"FAILED", 10, true, 6, true}, {"ERROR", 10, true, 6, true}, {"CANCELLED", 10, true, 6, false},
		{"PASSED", 0, true, 0, true}} {
		t.Run(fmt.Sprint(c.ends, c.minutes), func(t *testing.T) {
			t.Parallel()
			var starts, polls, reports atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPost {
					if r.Header.Get("Idempotency-Key") != "1" {
						http.Error(w, "it must be safe to send it again", http.StatusBadRequest)
						return
					}
					switch starts.Add(1) {
					case 1:
						panic(http.ErrAbortHandler) // the connection breaks
					case 2:
						http.Error(w, "<html>", http.StatusBadGateway)
					default:
						fmt.Fprint(w, `{"data":{"id":"r1"}}`)
					}
					return
				}
				if r.URL.Query().Get("format") == "junit" {
					switch {
					case !c.report:
						http.Error(w, "<html>", http.StatusNotFound)
					case reports.Add(1) == 1:
						http.Error(w, "<html>", http.StatusServiceUnavailable)
					default:
						fmt.Fprint(w, "<testsuites/>")
					}
					return
				}
				switch polls.Add(1) {
				case 1:
					fmt.Fprint(w, `{"data":{"status":"QUEUED"}}`)
				case 2:
					http.Error(w, "bad gateway", http.StatusBadGateway)
				case 3:
					panic(http.ErrAbortHandler) // the connection breaks
				case 4:
					fmt.Fprint(w, `<html>`)
				case 5:
					fmt.Fprint(w, `{"data":{"status":"RUNNING"}}`)
				default:
					fmt.Fprintf(w, `{"data":{"status":%q}}`, c.ends)
				}
			}))
			defer server.Close()
			folder := t.TempDir()
			shell := exec.CommandContext(t.Context(), "sh", "-e", "-c", script)
			shell.Dir = folder
			shell.Env = append(os.Environ(), "QA_URL="+server.URL, "QA_AUTH=a:b", "SUITE=s1", "CI_JOB_ID=1",
				"CI_COMMIT_SHORT_SHA=abc", fmt.Sprint("QA_MINUTES=", c.minutes))
			out, err := shell.CombinedOutput()
			require.Equal(t, c.red, err != nil, "%v: %s", c, out)
			require.Equal(t, c.polls, polls.Load(), "%v: %s", c, out)
			require.EqualValues(t, 3, starts.Load(), "%s", out)
			report, err := os.ReadFile(filepath.Join(folder, "junit.xml"))
			if !c.report {
				require.ErrorIs(t, err, os.ErrNotExist, "what is no report is not stored as one: %s", report)
				return
			}
			require.NoError(t, err)
			require.Equal(t, "<testsuites/>", string(report))
		})
	}
}
