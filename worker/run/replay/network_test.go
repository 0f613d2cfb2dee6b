package replay_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	store "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/worker/browser"
	"github.com/slipway-qa/slipway/worker/run/replay"
)

// tools reads steps as the interface has them.
func tools(t testing.TB, docs ...string) (steps []step.Step) {
	t.Helper()
	for _, doc := range docs {
		var s step.Step
		require.NoError(t, json.Unmarshal([]byte(`{"tool":`+doc+`}`), &s), doc)
		steps = append(steps, s)
	}
	require.NoError(t, step.Validate(steps))
	return steps
}

// networkShop is a page whose buttons request, go on, download and complain.
func networkShop(t testing.TB) string {
	return site(t,
		map[string]string{"/": `<button id=add onclick="fetch('/api/cart', {method: 'POST', body: JSON.stringify({item: 'lamp', n: 2})})
  .then(async (r) => { out.textContent = r.status + ' ' + (await r.text()); }, () => { out.textContent = 'gone'; })">Add</button>
<button id=wrong onclick="console.error('it is wrong: ' + document.cookie)">Wrong</button>
<a id=next href=/next?x=1>Next</a> <a id=file href=/file>File</a> <p id=out>`, "/next": `<p id=there>there`}, func(mux *http.ServeMux) {
			mux.HandleFunc("/api/cart", func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				w.Header().Set("Content-Type", "application/json")
				w.Header().Set("X-Shop", "one")
				w.WriteHeader(http.StatusCreated)
				fmt.Fprintf(w, `{"total":3,"got":%s}`, body)
			})
			mux.HandleFunc("/file", func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Disposition", `attachment; filename="report 1.csv"`)
				fmt.Fprint(w, "a,b\n1,2\n")
			})
		})
}

func TestNetworkSteps(t *testing.T) {
	t.Parallel()
	r := play(t, replay.Config{TestURL: networkShop(t), Steps: tools(t,
		`{"type":"click","args":{"selector":"#add"}}`,
		`{"type":"wait_for_request","args":{"url":"**/api/cart","method":"POST"}}`,
		`{"type":"assert","args":{"selector":"#out","matcher":{"name":"text","args":{"value":"201","mode":"contains"}}}}`,
		`{"type":"assert","args":{"matcher":{"name":"request","args":{"url":"**/api/cart","method":"POST","count":1,"body":{"path":"$.item",`+
			`"value":"lamp"}}}}}`,
		`{"type":"assert","args":{"matcher":{"name":"request","args":{"url":"**/api/other","count":0}}}}`,
		`{"type":"assert","args":{"not":true,"matcher":{"name":"request","args":{"url":"**/api/cart","method":"DELETE"}}}}`,
		`{"type":"assert","args":{"matcher":{"name":"response","args":{"url":"/api/*","status":201,"header":{"name":"x-shop","value":"one"},`+
			`"body":{"path":"$.got.n","value":2}}}}}`,
		`{"type":"route","args":{"url":"**/api/cart","times":1,"answer":{"status":503,"json":{"error":"closed"}}}}`,
		`{"type":"click","args":{"selector":"#add"}}`,
		`{"type":"wait_for_response","args":{"url":"**/api/cart","status":503}}`,
		`{"type":"assert","args":{"selector":"#out","matcher":{"name":"text","args":{"value":"503 {\"error\":\"closed\"}"}}}}`,
		`{"type":"route","args":{"url":"**/api/**","abort":"connectionrefused"}}`,
		`{"type":"click","args":{"selector":"#add"}}`,
		`{"type":"assert","args":{"selector":"#out","matcher":{"name":"text","args":{"value":"gone"}}}}`,
		`{"type":"unroute","args":{"url":"**/api/**"}}`,
		`{"type":"route","args":{"url":"**/next?x=1","delay":200,"change":{"headers":{"X-Late":"yes"}}}}`,
		`{"type":"assert","args":{"matcher":{"name":"console","args":{"ignore":["Failed to load resource"]}}}}`,
		`{"type":"click","args":{"selector":"#file"}}`,
		`{"type":"wait_for_download","args":{"name":"report*.csv"}}`,
		`{"type":"assert","args":{"matcher":{"name":"download","args":{"name":"report 1.csv","size":8,"value":"1,2","mode":"contains"}}}}`,
		`{"type":"click","args":{"selector":"#next"}}`,
		`{"type":"wait_for_url","args":{"url":"**/next?x=1"}}`,
		`{"type":"assert","args":{"matcher":{"name":"response","args":{"url":"**/next?x=1","header":{"name":"X-Late","value":"yes"}}}}}`,
		`{"type":"wait_for_url","args":{"matcher":{"name":"url","args":{"value":"next","mode":"contains"}}}}`,
	)})
	for i, record := range r.Records {
		require.Equal(t, playback.Passed, record.Status, "step %d: %s", i, record.Result.Message)
	}
	require.Equal(t, "PASSED", r.Status, r.Message)
	require.False(t, r.Broken)
}

// A failure says what there is in place of what was expected, without secrets.
func TestNetworkFailures(t *testing.T) {
	t.Parallel()
	at := networkShop(t)
	for _, c := range []struct{ doc, code, words string }{
		{`{"type":"wait_for_request","args":{"url":"**/api/cart","method":"GET"}}`, store.CodeStepFailed,
			"since the step before began; there is POST"},
		{`{"type":"wait_for_request","args":{"url":"**/nothing"}}`, store.CodeStepFailed, "the last request is POST"},
		{`{"type":"wait_for_response","args":{"url":"**/api/cart","status":500}}`, store.CodeStepFailed,
			"with status 500 since the step before began; there is POST"},
		{`{"type":"wait_for_download","args":{}}`, store.CodeStepFailed, "no download has ended"},
		{`{"type":"wait_for_url","args":{"url":"**/next"}}`, store.CodeStepFailed, `expected url matches "**/next"`},
		{`{"type":"assert","args":{"matcher":{"name":"request","args":{"url":"**/api/cart","count":2}}}}`,
			store.CodeAssertionFailed, "expected equals 2 requests"},
		{`{"type":"assert","args":{"not":true,"matcher":{"name":"request","args":{"url":"**/api/cart"}}}}`,
			store.CodeAssertionFailed, "expected not at least 1 requests"},
		{`{"type":"assert","args":{"matcher":{"name":"request","args":{"url":"**/api/cart","body":{"path":"$.item","value":"{{hidden}} x"}}}}}`,
			store.CodeAssertionFailed, `there its body has "***"`},
		{`{"type":"assert","args":{"matcher":{"name":"response","args":{"url":"**/api/cart","status":404}}}}`,
			store.CodeAssertionFailed, "the last other one is POST"},
		{`{"type":"assert","args":{"matcher":{"name":"response","args":{"url":"**/api/cart","body":{"path":"$.none","value":"1"}}}}}`,
			store.CodeAssertionFailed, "its body has nothing there"},
		{`{"type":"assert","args":{"matcher":{"name":"download","args":{"name":"a.csv"}}}}`, store.CodeAssertionFailed,
			"expected a download of the name a.csv; there is none"},
		{`{"type":"assert","args":{"not":true,"matcher":{"name":"console","args":{}}}}`, store.CodeAssertionFailed,
			"expected errors in the console; there are none"},
		{`{"type":"unroute","args":{"url":"**/x"}}`, store.CodeStepFailed, "there is no route of **/x"},
		{`{"type":"route","args":{"url":"**/x","change":{"urlTo":"file:///etc/passwd"}}}`, store.CodeForbidden, "file"},
	} {
		// What the click does must be seen before: one of these holds as soon as nothing is there,
		// and the others say what there was.
		docs := []string{`{"type":"click","args":{"selector":"#add"}}`, `{"type":"wait_for_response","args":{"url":"**/api/cart"}}`, c.doc}
		limit := 1500
		if strings.Contains(c.doc, "wait_for_re") { // of what came since the step before
			docs, limit = []string{docs[0], c.doc}, 5000
		}
		steps := tools(t, docs...)
		steps[len(steps)-1].TimeoutMS = limit
		r := play(t, replay.Config{TestURL: at, Steps: steps, Lookup: func(step.Reference) (string, bool, bool) { return "lamp", true, true }})
		require.Equal(t, c.code, r.Code, "%s: %s", c.doc, r.Message)
		require.Contains(t, r.Message, c.words, c.doc)
		require.NotContains(t, r.Message, "lamp")
		require.False(t, r.Broken)
		failure := r.Records[len(r.Records)-1].Failure
		require.NotNil(t, failure, c.doc)
		if strings.Contains(r.Message, "; ") && (c.code == store.CodeAssertionFailed || strings.Contains(c.doc, "wait_for_re")) {
			require.True(t, strings.HasSuffix(r.Message, "; "+failure.Actual), "%s: %q", r.Message, failure.Actual)
			require.NotContains(t, failure.Expected, ";")
		}
	}
	r := play(t, replay.Config{TestURL: at, Steps: tools(t, `{"type":"click","args":{"selector":"#wrong"}}`,
		`{"type":"assert","args":{"matcher":{"name":"console","args":{}}}}`)})
	require.Equal(t, store.CodeAssertionFailed, r.Code)
	require.Contains(t, r.Message, "it is wrong")
}

// A session without BiDi, as some hubs have: each such step ends at once and says so.
func TestNetworkStepsWithoutBiDi(t *testing.T) {
	t.Parallel()
	at := networkShop(t)
	ctx := context.Background()
	s, err := client.NewSession(ctx, map[string]any{"browserName": "chrome",
		"goog:chromeOptions": map[string]any{"args": []string{"--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"}}})
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Delete(ctx) })
	for doc, words := range map[string]string{
		`{"type":"route","args":{"url":"**","abort":"failed"}}`:                        "no WebDriver BiDi",
		`{"type":"wait_for_request","args":{"url":"**"}}`:                              "no WebDriver BiDi",
		`{"type":"wait_for_download","args":{}}`:                                       "hub's machine",
		`{"type":"assert","args":{"matcher":{"name":"response","args":{"url":"**"}}}}`: "no WebDriver BiDi",
		`{"type":"assert","args":{"matcher":{"name":"console","args":{}}}}`:            "no WebDriver BiDi",
	} {
		began := time.Now()
		r := play(t, replay.Config{Lease: &browser.Lease{Session: s}, TestURL: at, Steps: tools(t, doc),
			StepTimeout: 5 * time.Minute, AssertTimeout: 5 * time.Minute})
		require.Equal(t, store.CodeStepFailed, r.Code, doc)
		require.Contains(t, r.Message, words, doc)
		require.Less(t, time.Since(began), 4*time.Minute, "nothing was waited for")
	}
}

// A browser that is killed within each kind of step ends the test, and its lease as broken.
func TestABrowserIsKilledInANetworkStep(t *testing.T) {
	t.Parallel()
	for _, doc := range []string{
		`{"type":"wait_for_request","args":{"url":"**/never"}}`,
		`{"type":"wait_for_response","args":{"url":"**/never"}}`,
		`{"type":"wait_for_download","args":{}}`,
		`{"type":"wait_for_url","args":{"url":"**/never"}}`,
		`{"type":"assert","args":{"matcher":{"name":"request","args":{"url":"**/never"}}}}`,
		`{"type":"assert","args":{"matcher":{"name":"download","args":{}}}}`,
	} {
		l := lease()
		pid := int(l.Session.Capabilities["goog:processID"].(float64))
		steps := tools(t, `{"type":"click","args":{"selector":"#add"}}`, `{"type":"route","args":{"url":"**/never","delay":60000}}`, doc)
		done := 0
		r := play(t, replay.Config{Lease: l, TestURL: networkShop(t), Steps: steps, StepTimeout: 5 * time.Minute, AssertTimeout: 5 * time.Minute,
			Progress: func([]playback.Record) {
				if done++; done == 2 {
					go func() { _ = syscall.Kill(pid, syscall.SIGKILL) }()
				}
			}})
		require.Equal(t, store.CodeBrowserLost, r.Code, "%s: %s", doc, r.Message)
		require.True(t, r.Broken)
		release(l, true)
	}
}
