package main

import (
	"fmt"

	"github.com/slipway-qa/slipway/cmd/slipway/setting"

	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The whole way of a commit's status as the program wires it: the setting by the API, a build
// that was uploaded with its commit, the task by way of Redis and a worker, and the request.
func TestCommitStatusArrives(t *testing.T) {
	t.Parallel()
	w := newSurface(t, func(s *setting.Settings) { s.WorkerPools += ";2:webhook-slow=1" })
	const token = "tok_0123456789-secret"
	commit := strings.Repeat("0a", 20)
	arrived := make(chan string, 10)
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		arrived <- fmt.Sprint(r.Method, " ", r.RequestURI, " ", r.Header.Get("PRIVATE-TOKEN"), " ", string(body))
		rw.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(rw, `{"status":"failed"}`)
	}))
	t.Cleanup(server.Close)
	must := func(r request) {
		t.Helper()
		status, answer := w.send(r)
		require.Equal(t, r.want, status, "%s", answer)
		require.NotContains(t, string(answer), token)
		w.keep(r.save, answer)
	}
	must(request{method: put, path: v3 + "/settings/organization", body: `{"generic_files":true}`, want: 200})
	upload := uploadOf("tool.exe")
	upload["metadata.commit"] = commit
	must(request{method: post, path: v3 + "/builds/upload", files: upload, want: 201, save: "build=build.id;built=build.project_id"})
	must(request{method: put, path: v3 + "/projects/{id:built}/commit-status", want: 200, save: "context=commit_status.context",
		body: `{"provider":"gitlab","url":"` + server.URL + `","repository":"acme/mobile/app","token":"` + token + `"}`})
	must(request{method: put, path: v3 + "/projects/{id:built}/gate-policy", want: 200,
		body: `{"conditions":[{"name":"small","type":"size","max_bytes":1000000}]}`})
	// The upload's own status, that nothing is decided, is not sent any more once this one stands.
	must(request{method: post, path: v3 + "/builds/upload", files: upload, want: 201, save: "build=build.id"})
	must(request{method: post, path: v3 + "/builds/{id:build}/gate/override", body: `{"state":"fail","reason":"it burns"}`, want: 200})
	w.relay()
	select {
	case got := <-arrived:
		require.Equal(t, "POST /api/v4/projects/acme%2Fmobile%2Fapp/statuses/"+commit+" "+token+
			` {"state":"failed","name":"`+w.ids["context"]+`","target_url":"`+w.base+`/console/builds/builds/`+
			w.ids["build"]+`","description":"The gate is closed: it burns"}`, got)
	case <-time.After(time.Minute):
		t.Fatal("no status arrived")
	}
	w.wait("sent", `select last_sent_at::text from commit_status_settings where last_sent_at is not null`)
	w.wait("task", `select id::text from tasks where kind = 'commit:status' and state = 'succeeded' and result ->> 'outcome' = 'sent'`)
	_, answer := w.send(request{method: http.MethodGet, path: v3 + "/tasks/{id:task}"})
	require.Contains(t, string(answer), `"outcome":"sent"`)
	require.NotContains(t, string(answer), token)
	page := w.console(w.boot.Owner.Username, w.boot.Owner.AccessKey).open("/console/builds/builds/" + w.ids["build"])
	require.Equal(t, http.StatusOK, page.status, "the link of the status leads to a page")
}
