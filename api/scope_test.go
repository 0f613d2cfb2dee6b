package api_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/storage/account"
)

// The changing routes that keys with scopes get through, of an owner: r by agent:read, t by
// agent:tests, x by agent:runs, b by agent:builds, c by agent:crashes. Each of the routes that
// are not here takes a key without scopes: a new one does until it stands here.
func TestScopesOfRoutes(t *testing.T) {
	t.Parallel()
	const tests, v3 = "/v1/ai-authoring", "/api/v3"
	want := map[string]string{}
	add := func(scopes string, routes ...string) {
		for _, name := range routes {
			want[name] = scopes
		}
	}
	add("rtxbc", "POST /mcp", "POST "+v3+"/agent-calls", "POST "+v3+"/symbols/known") // the last one asks
	const cases, suites = tests + "/testcases", tests + "/testsuites"
	add("t", "POST "+cases, "POST "+cases+"/:id", "POST "+cases+"/:id/rename", "POST "+cases+"/:id/duplicate",
		"POST "+cases+"/:id/healings/:healingId",
		"POST "+cases+"/:id/revisions/:revisionId/restore", "POST "+cases+"/:id/quarantine", "DELETE "+cases+"/:id/quarantine",
		"POST "+cases+"/:id/runs/:runId/pin", "DELETE "+cases+"/:id/runs/:runId/pin", "POST "+suites+"/:id/runs/:runId/pin",
		"DELETE "+suites+"/:id/runs/:runId/pin",
		"POST "+cases+"/:id/generate", "POST "+cases+"/generate", "DELETE "+cases+"/generate/:taskId",
		"POST "+suites, "POST "+suites+"/:id", "POST "+tests+"/step-groups", "PATCH "+tests+"/step-groups/:id")
	add("x", "POST "+cases+"/:id/run", "POST "+cases+"/:id/run/:revisionId", "POST "+cases+"/:id/runs/:runId/cancel",
		"POST "+cases+"/:id/runs/:runId/rerun", "POST "+suites+"/:id/run",
		"POST "+suites+"/:id/runs/:runId/cancel", "POST "+suites+"/:id/runs/:runId/rerun", "POST "+tests+"/test-schedules/:id/run")
	add("b", "POST "+v3+"/uploads", "PUT "+v3+"/uploads/:id/parts/:number", "DELETE "+v3+"/uploads/:id", "POST "+v3+
		"/symbols/:id/index", "PUT "+v3+"/builds/:id/commits")
	const groups = v3 + "/crash-groups"
	add("c", "PATCH "+groups+"/:id", "POST "+groups+"/change", "POST "+groups+"/:id/split", "POST "+groups+"/:id/comments",
		"PATCH "+groups+"/:id/comments/:comment", "DELETE "+groups+"/:id/comments/:comment")
	letters := map[account.Scope]string{account.ScopeRead: "r", account.ScopeTests: "t", account.ScopeRuns: "x",
		account.ScopeBuilds: "b", account.ScopeCrashes: "c"}
	got, table := map[string]string{}, auth.Table()
	for _, r := range emptyRooms().Routes() {
		if r.Action == "" || r.Method == http.MethodGet || r.Method == http.MethodHead {
			continue
		}
		through := ""
		for _, scope := range account.Scopes() {
			if table[r.Action].Allow((&auth.Caller{Role: account.Owner}).Restricted(scope)) == nil {
				through += letters[scope]
			}
		}
		if through != "" {
			got[r.Method+" "+r.Path] = through
		}
	}
	require.Equal(t, want, got)
}
