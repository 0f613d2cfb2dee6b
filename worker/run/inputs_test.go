package run

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/authoring"
	store "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/seal"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/capability"
	"github.com/slipway-qa/slipway/storage/step/group"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker/run/replay"
)

// given are the values of variables that a run is given.
func given(t *testing.T, values map[string]string) store.Inputs {
	t.Helper()
	v, err := store.SealVariables(sealKey, values)
	require.NoError(t, err)
	return store.Inputs{Variables: v}
}

// What a run is given stands over stored variables, for a bare name alone, and is secret.
func TestGivenVariables(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.variable("user", "stored", false)
	w.variable("plain", "stored too", false)
	run := w.newRun(w.newCase("log in", "{{user}} {{org:user}} {{plain}} {{short}} {{unknown}}"),
		store.NewRun{Inputs: given(t, map[string]string{
			"user": secret, "short": "en", "unused": "another-secret"})}, chrome)
	w.handler.Play = func(_ context.Context, cfg replay.Config) replay.Result {
		for reference, want := range map[step.Reference][]any{
			{Name: "user"}: {secret, true, true}, {Scope: step.ScopeOrg, Name: "user"}: {"stored", false, true},
			{Name: "plain"}: {"stored too", false, true}, {Name: "short"}: {"en", false, true}, {Name: "unknown"}: {"", false, false},
		} {
			value, isSecret, ok := cfg.Lookup(reference)
			require.Equal(t, want, []any{value, isSecret, ok}, reference)
		}
		records := []playback.Record{{StepID: "s1", Status: playback.Failed, Result: step.Outcome{Message: "typed " + secret}}}
		cfg.Progress(records)
		return replay.Result{Status: playback.Failed, Code: store.CodeStepFailed, Message: "shows " + secret + " and another-secret",
			Records: records}
	}
	require.NoError(t, w.handler.Handle(t.Context(), w.claim(tasks.TestJob, run.Jobs[0].ID)))
	got := w.read(run)
	require.Equal(t, "shows *** and ***", got.Jobs[0].Error)
	require.Equal(t, "typed ***", got.Jobs[0].Records[0].Result.Message)
	require.Equal(t, []string{"short", "unused", "user"}, got.VariableNames)
	for _, value := range []string{secret, "another-secret"} {
		require.NotContains(t, w.everywhere(run), value)
	}
}

// A run whose values cannot be decrypted ends, and says what to do.
func TestGivenVariablesOfAnotherKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run := w.newRun(w.newCase("log in", "{{user}}"), store.NewRun{Inputs: given(t, map[string]string{"user": secret})}, chrome)
	w.handler.Keys = seal.Ring{[]byte(strings.Repeat("n", 32))}
	require.NoError(t, w.handler.Handle(t.Context(), w.claim(tasks.TestJob, run.Jobs[0].ID)))
	got := w.read(run).Jobs[0]
	require.Equal(t, store.Errored, got.Status)
	require.Equal(t, store.CodeInternal, got.ErrorCode)
	require.Contains(t, got.Error, "start it again")
}

// Where the steps were recorded, by what the run was given and what the case has.
func TestRecordedAddress(t *testing.T) {
	t.Parallel()
	goTo := []step.Step{{Tool: step.Tool{Type: step.GoToURL, Args: step.Args{URL: "https://staging.example.com/first"}}}}
	own, none := "https://staging.example.com/own", ""
	for name, c := range map[string]struct {
		recorded *string
		steps    []step.Step
		want     string
	}{
		"the case as it is": {nil, goTo, ""}, "the case's own": {&own, goTo, own}, "of the first step": {&none, goTo, goTo[0].Tool.Args.URL},
		"of no step": {&none, nil, ""}, "of a click": {&none, []step.Step{{Tool: step.Tool{Type: step.Click}}}, ""},
	} {
		p := &execution{work: &store.Work{Run: store.Run{RecordedURL: c.recorded}, Steps: c.steps},
			plan: &group.Plan{Steps: c.steps, Places: make([]group.Place, len(c.steps))}}
		require.Equal(t, c.want, p.recordedURL(), name)
	}
}

// host is a site that remembers what was asked of it.
type host struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
}

func newHost(t *testing.T) *host {
	t.Helper()
	h := &host{}
	h.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/favicon.ico" {
			return
		}
		h.mu.Lock()
		h.asked = append(h.asked, r.URL.RequestURI())
		h.mu.Unlock()
		rw.Header().Set("Content-Type", "text/html")
		fmt.Fprint(rw, `<!doctype html><title>Shop</title><label>User <input id=user></label>
			<button id=go onclick="document.body.append(Object.assign(document.createElement('h1'), {textContent: `+
			`document.querySelector('#user').value}))">Log in</button>`)
	}))
	t.Cleanup(h.Close)
	return h
}

func (h *host) pages() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string{}, h.asked...)
}

// A test that was recorded at one host runs at another, with the account of that: the one
// it was recorded at is not asked for anything.
func TestRunAtAnotherHost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pool, proxy := realBrowsers(t)
	w.handler.Browsers, w.handler.release, w.handler.Play = pool, nil, nil
	w.handler.Trouble, w.handler.Screenshots = proxy.Trouble, true
	staging, preview, pay := newHost(t), newHost(t), newHost(t)
	w.variable("user", "staging-user", false)
	text := "{{user}}"
	find := func(css string) *step.Selector { return &step.Selector{Type: step.CSS, Value: css} }
	var c *authoring.Case
	w.must(func(ctx context.Context, tx *storage.Tx) (err error) {
		c, err = authoring.CreateCase(ctx, tx, w.writer, authoring.NewCase{Name: "shop",
			Settings: capability.RunSettings{TestURL: staging.URL + "/start?a=b", RunTargets: []capability.Target{{Capabilities: chrome}}},
			Revision: authoring.Revision{Steps: []step.Step{
				{ID: "s1", Tool: step.Tool{Type: step.GoToURL, Args: step.Args{URL: pay.URL + "/pay"}}},
				{ID: "s2", Tool: step.Tool{Type: step.GoToURL, Args: step.Args{URL: staging.URL + "/cart?n=1"}}},
				{ID: "s3", Tool: step.Tool{Type: step.Assert, Args: step.Args{Matcher: &step.Matcher{Name: step.URLIs,
					Args: step.MatcherArgs{Value: staging.URL + "/cart?n=1"}}}}},
				{ID: "s4", Tool: step.Tool{Type: step.InputText, Args: step.Args{Text: &text, Selector: find("#user")}}},
				{ID: "s5", Tool: step.Tool{Type: step.Click, Args: step.Args{Selector: find("#go")}},
					When: &step.Condition{Matcher: &step.Matcher{Name: step.URLIs, Args: step.MatcherArgs{Value: staging.URL, Mode: step.Contains}}}},
				{ID: "s6", TimeoutMS: 60_000, Tool: step.Tool{Type: step.Assert, Args: step.Args{Selector: find("h1"),
					Matcher: &step.Matcher{Name: step.TextIs, Args: step.MatcherArgs{Value: "{{user}}"}}}}},
				{ID: "s7", Tool: step.Tool{Type: step.GoToURL, Args: step.Args{URL: "/end"}}},
			}}})
		return err
	})
	in := given(t, map[string]string{"user": "preview-user"})
	in.TestURL = preview.URL
	run := w.newRun(c, store.NewRun{Inputs: in}, chrome)
	require.NoError(t, w.handler.Handle(t.Context(), w.claim(tasks.TestJob, run.Jobs[0].ID)))
	got := w.read(run)
	require.Equal(t, store.Passed, got.Jobs[0].Status, "%s: %s", got.Jobs[0].ErrorCode, got.Jobs[0].Error)
	require.Equal(t, preview.URL+"/start?a=b", got.TestURL)
	for i, r := range got.Jobs[0].Records {
		require.Equal(t, playback.Passed, r.Status, "step %d: %s", i, r.Result.Message)
	}
	require.Equal(t, []string{"/cart?n=1", "/end"}, preview.pages())
	require.Equal(t, []string{"/pay"}, pay.pages())
	require.Empty(t, staging.pages())
	require.NotContains(t, w.everywhere(run), "preview-user")

	// The case itself is as it was.
	own := w.newRun(c, store.NewRun{}, chrome)
	require.NoError(t, w.handler.Handle(t.Context(), w.claim(tasks.TestJob, own.Jobs[0].ID)))
	require.Equal(t, store.Passed, w.read(own).Jobs[0].Status)
	require.Equal(t, []string{"/cart?n=1", "/end"}, staging.pages())
	require.Len(t, preview.pages(), 2)
}

// A test that begins at its own address begins at what the run was given.
func TestRunStartsElsewhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pool, proxy := realBrowsers(t)
	w.handler.Browsers, w.handler.release, w.handler.Play, w.handler.Trouble = pool, nil, nil, proxy.Trouble
	staging, preview := newHost(t), newHost(t)
	var c *authoring.Case
	w.must(func(ctx context.Context, tx *storage.Tx) (err error) {
		c, err = authoring.CreateCase(ctx, tx, w.writer, authoring.NewCase{Name: "shop",
			Settings: capability.RunSettings{TestURL: staging.URL + "/start", RunTargets: []capability.Target{{Capabilities: chrome}}},
			Revision: authoring.Revision{Steps: []step.Step{{ID: "s1", Tool: step.Tool{Type: step.Click,
				Args: step.Args{Selector: &step.Selector{Type: step.CSS, Value: "#go"}}}}}}})
		return err
	})
	for i, address := range []string{preview.URL, preview.URL + "/other"} {
		run := w.newRun(c, store.NewRun{Inputs: store.Inputs{TestURL: address}}, chrome)
		require.NoError(t, w.handler.Handle(t.Context(), w.claim(tasks.TestJob, run.Jobs[0].ID)))
		got := w.read(run).Jobs[0]
		require.Equal(t, store.Passed, got.Status, "%s: %s", got.ErrorCode, got.Error)
		require.Equal(t, []string{"/start", "/other"}[:i+1], preview.pages())
	}
	require.Empty(t, staging.pages())
}
