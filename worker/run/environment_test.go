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
	"github.com/slipway-qa/slipway/storage/environment"
	store "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/capability"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker/run/replay"
)

// in are the inputs of a run in an environment, of a team or, for 0, of the organization.
func in(t *testing.T, env *environment.Values, given map[string]string) store.Inputs {
	t.Helper()
	v, err := store.SealValues(sealKey, given, env)
	require.NoError(t, err)
	return store.Inputs{Variables: v, Environment: env.Name, TestURL: env.TestURL}
}

// What an environment has stands over stored variables and below what the run is given, and
// its secrets are read nowhere.
func TestEnvironmentOfAJob(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.variable("user", "stored", false)
	w.variable("city", "stored", false)
	env := &environment.Values{Name: "staging", TestURL: "https://staging.example.com",
		Variables: map[string]string{"user": "of staging", "country": "de"},
		Secrets:   map[string]string{"password": secret, "unnamed": "another-secret"},
		Headers: []environment.Header{{Name: "authorization", Value: "Bearer {{password}}", Secret: true},
			{Name: "x-tenant", Value: "{{country}}"}}}
	run := w.newRun(w.newCase("log in", "{{user}} {{org:user}} {{city}} {{country}} {{password}}"),
		store.NewRun{Inputs: in(t, env, map[string]string{"country": "fr"})}, chrome)
	w.handler.Play = func(_ context.Context, cfg replay.Config) replay.Result {
		for reference, want := range map[step.Reference][]any{
			{Name: "user"}: {"of staging", false, true}, {Scope: step.ScopeOrg, Name: "user"}: {"stored", false, true},
			{Name: "city"}: {"stored", false, true}, {Name: "country"}: {"fr", false, true}, {Name: "password"}: {secret, true, true},
		} {
			value, isSecret, ok := cfg.Lookup(reference)
			require.Equal(t, want, []any{value, isSecret, ok}, reference)
		}
		return replay.Result{Status: playback.Failed, Code: store.CodeStepFailed, Message: "shows " + secret + " and another-secret"}
	}
	require.NoError(t, w.handler.Handle(t.Context(), w.claim(tasks.TestJob, run.Jobs[0].ID)))
	got := w.read(run)
	require.Equal(t, "shows *** and ***", got.Jobs[0].Error)
	require.Equal(t, "staging", got.Environment)
	request := w.browser.requests[0]
	require.Equal(t, "https://staging.example.com", request.Site)
	require.Equal(t, "[{authorization Bearer "+secret+"} {x-tenant fr}]", fmt.Sprint(request.Headers))
	require.NotContains(t, w.everywhere(run), secret)
}

// A job that cannot have its environment ends, and says why.
func TestRefusedEnvironments(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		env        environment.Values
		code, says string
	}{
		"of another team": {environment.Values{Team: 987654}, store.CodeEnvironment, "another team"},
		"a header without its variable": {environment.Values{TestURL: "https://staging.example.com",
			Headers: []environment.Header{{Name: "x-a", Value: "{{missing}}"}}}, store.CodeVariable, "header x-a"},
		"a header of two lines": {environment.Values{TestURL: "https://staging.example.com", Variables: map[string]string{"v": "a\nb: c"},
			Headers: []environment.Header{{Name: "x-a", Value: "{{v}}"}}}, store.CodeEnvironment, "line break"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			c.env.Name = "staging"
			run := w.newRun(w.newCase("log in", "Ann"), store.NewRun{Inputs: in(t, &c.env, nil)}, chrome)
			require.NoError(t, w.handler.Handle(t.Context(), w.claim(tasks.TestJob, run.Jobs[0].ID)))
			got := w.read(run).Jobs[0]
			require.Equal(t, []any{store.Errored, c.code}, []any{got.Status, got.ErrorCode})
			require.Contains(t, got.Error, c.says)
			require.Empty(t, w.browser.requests)
		})
	}
}

// A browser sends the headers to the site of the environment, over https too, where the
// relative addresses of the steps lead; and to no other site.
func TestHeadersInABrowser(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pool, proxy := realBrowsers(t)
	w.handler.Browsers, w.handler.release, w.handler.Play = pool, nil, nil
	w.handler.Trouble = proxy.Trouble
	var mu sync.Mutex
	seen := map[string]string{}
	serve := func(page string) http.HandlerFunc {
		return func(rw http.ResponseWriter, r *http.Request) {
			mu.Lock()
			seen[page+r.URL.Path] = r.Header.Get("Authorization") + r.Header.Get("X-Tenant")
			mu.Unlock()
			rw.Header().Set("Content-Type", "text/html")
			rw.Header().Set("Access-Control-Allow-Origin", "*")
			fmt.Fprintf(rw, `<!doctype html><title>Shop</title><h1>%s</h1>`, page)
			if page == "own" && r.URL.Path == "/cart" {
				fmt.Fprintf(rw, `<script>Promise.all([fetch('/api'), fetch('%s/tracker')]).then(() =>
					document.body.append(Object.assign(document.createElement('p'), {id: 'done', textContent: 'done'})))</script>`, seen["other"])
			}
		}
	}
	for name, start := range map[string]func(http.Handler) *httptest.Server{"http": httptest.NewServer, "https": httptest.NewTLSServer} {
		other := httptest.NewServer(serve("other"))
		own := start(serve("own"))
		mu.Lock()
		clear(seen)
		seen["other"] = strings.Replace(other.URL, "127.0.0.1", "localhost", 1)
		mu.Unlock()
		steps := []step.Step{
			{ID: "s1", Tool: step.Tool{Type: step.GoToURL, Args: step.Args{URL: "/cart"}}},
			{ID: "s2", TimeoutMS: 60_000, Tool: step.Tool{Type: step.Assert,
				Args: step.Args{Selector: &step.Selector{Type: step.CSS, Value: "#done"},
					Matcher: &step.Matcher{Name: step.TextIs, Args: step.MatcherArgs{Value: "done"}}}}},
		}
		target := capability.Target{Capabilities: capability.Capabilities{"browserName": "chrome", "acceptInsecureCerts": name == "https"}}
		var c *authoring.Case
		w.must(func(ctx context.Context, tx *storage.Tx) (err error) {
			c, err = authoring.CreateCase(ctx, tx, w.writer, authoring.NewCase{Name: name, Revision: authoring.Revision{Steps: steps},
				Settings: capability.RunSettings{TestURL: "https://shop.example.com/", RunTargets: []capability.Target{target}}})
			return err
		})
		env := &environment.Values{Name: "staging", TestURL: own.URL,
			Headers: []environment.Header{{Name: "authorization", Value: "Bearer abc", Secret: true}, {Name: "x-tenant", Value: "shop"}}}
		run := w.newRun(c, store.NewRun{Inputs: in(t, env, nil), Targets: []capability.Target{target}})
		require.NoError(t, w.handler.Handle(t.Context(), w.claim(tasks.TestJob, run.Jobs[0].ID)))
		got := w.read(run).Jobs[0]
		require.Equal(t, store.Passed, got.Status, "%s: %s: %s", name, got.ErrorCode, got.Error)
		mu.Lock()
		require.Equal(t, []string{"Bearer abcshop", "Bearer abcshop", ""}, []string{seen["own/cart"], seen["own/api"],
			seen["other/tracker"]}, name)
		require.Contains(t, seen, "other/tracker")
		mu.Unlock()
		own.Close()
		other.Close()
	}
}

// A suite run that a schedule has started enters its environment before its first case run;
// one whose environment is gone ends, and says so.
func TestSuiteRunEntersItsEnvironment(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run := w.newSuiteRun(1)
	w.exec(`update suite_runs set environment = 'staging' where id = $1`, run.ID)
	w.must(func(ctx context.Context, tx *storage.Tx) error {
		by := w.writer
		by.Admin = true
		text := func(text string) *string { return &text }
		_, err := environment.Create(ctx, tx, by, sealKey, environment.New{Name: "staging", Change: environment.Change{
			TestURL: text("https://staging.example.com"), Secrets: map[string]*string{"password": text(secret)},
			Targets: &[]capability.Target{{Capabilities: capability.Capabilities{"browserName": "firefox"}}}}})
		return err
	})
	require.NoError(t, w.suite().Handle(t.Context(), w.claim(tasks.SuiteRun, run.ID)))
	require.Equal(t, 1, w.number(`select count(*) from test_runs r join test_jobs j on j.run_id = r.id
		where r.environment = 'staging' and r.test_url like 'https://staging.example.com%'
			and j.target -> 'capabilities' ->> 'browserName' = 'firefox'`))
	require.Equal(t, 1, w.number(`select count(*) from suite_runs where sealed_variables is not null`))

	lost := w.startSuite(run.SuiteID)
	w.exec(`update suite_runs set environment = 'gone' where id = $1`, lost.ID)
	require.NoError(t, w.suite().Handle(t.Context(), w.claim(tasks.SuiteRun, lost.ID)))
	require.Equal(t, 1, w.number(`select count(*) from suite_runs where state = 'ERROR' and error like '%"gone" does not exist%'`))
	require.Equal(t, 1, w.number(`select count(*) from test_runs`), "no case of it was run")
}

// The browser takes the proxy for the site, by its key alone, and the proxy says that the
// certificate of the site is not trusted.
func TestHeadersToAnUntrustedSite(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pool, _ := realBrowsers(t)
	w.handler.Browsers, w.handler.release, w.handler.Play = pool, nil, nil
	own := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(own.Close)
	var c *authoring.Case
	w.must(func(ctx context.Context, tx *storage.Tx) (err error) {
		c, err = authoring.CreateCase(ctx, tx, w.writer, authoring.NewCase{Name: "untrusted",
			Settings: capability.RunSettings{TestURL: own.URL, RunTargets: []capability.Target{{Capabilities: chrome}}},
			Revision: authoring.Revision{Steps: []step.Step{{ID: "s1", TimeoutMS: 10_000, Tool: step.Tool{Type: step.Assert, Args: step.Args{
				Selector: &step.Selector{Type: step.CSS, Value: "body"}, Matcher: &step.Matcher{Name: step.TextIs,
					Args: step.MatcherArgs{Value: "x"}}}}}}}})
		return err
	})
	env := &environment.Values{Name: "staging", TestURL: own.URL, Headers: []environment.Header{{Name: "x-tenant", Value: "shop"}}}
	run := w.newRun(c, store.NewRun{Inputs: in(t, env, nil)}, chrome)
	require.NoError(t, w.handler.Handle(t.Context(), w.claim(tasks.TestJob, run.Jobs[0].ID)))
	got := w.read(run).Jobs[0]
	require.Equal(t, store.CodeAssertionFailed, got.ErrorCode, got.Error)
	require.Contains(t, got.Error, "certificate of the server is not trusted")
}
