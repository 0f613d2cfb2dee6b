package intake

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/chromium"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/crashproject"
)

// A page of another origin posts by fetch and by beacons, as browsers do it: with preflights,
// and with credentials, which * refuses. A page that the project does not allow reads nothing.
func TestPagesInChromium(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	server := httptest.NewServer(w.router)
	defer server.Close()
	page := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "text/html")
		_, _ = rw.Write([]byte("<!doctype html><title>shop</title>"))
	}))
	defer page.Close()
	w.store.set("page", &crash.Token{ID: 8, ProjectID: 7, OrganizationID: 3, Scopes: []string{crashproject.ScopeErrorPost},
		Origins: []string{page.URL}})
	tab := chromium.Start(t, 2*time.Minute)
	require.NoError(t, chromedp.Do(tab, chromedp.Navigate(page.URL)))
	evaluate := func(script string) string {
		said, err := chromedp.Run(tab, chromedp.Evaluate[string](script, chromedp.EvalAwaitPromise))
		require.NoError(t, err)
		return said
	}
	fetch := func(token, kind string) string {
		return evaluate(fmt.Sprintf(`fetch(%q, {method: "POST", credentials: "include", headers: {"Content-Type": %q}, body: %q})
			.then(r => r.json()).then(m => m.response || "refused", e => "blocked").catch(e => "blocked")`, server.URL+"/post?token="+
			token, kind, minimal))
	}
	stored := func() int { w.submit.mu.Lock(); defer w.submit.mu.Unlock(); return len(w.submit.got) }
	require.Equal(t, "ok", fetch("page", "text/plain"))
	require.Equal(t, "ok", fetch("page", "application/json"), "with a preflight")
	require.Equal(t, 2, stored())
	require.Equal(t, "blocked", fetch("shop", "text/plain"))
	require.Equal(t, "blocked", fetch("shop", "application/json"))
	require.Equal(t, 2, stored())

	require.Equal(t, "true", evaluate(fmt.Sprintf(`Promise.resolve(String(navigator.sendBeacon(%q, %q)))`, server.URL+
		"/post?token=page", minimal)))
	require.Equal(t, "true",
		evaluate(fmt.Sprintf(`Promise.resolve(String(navigator.sendBeacon(%q, new Blob([%q], {type: "application/json"}))))`,
			server.URL+"/post?token=page", minimal)))
	require.Equal(t, "true", evaluate(fmt.Sprintf(`new Response(new Blob([%q]).stream().pipeThrough(new CompressionStream("gzip"))).blob()
		.then(b => String(navigator.sendBeacon(%q, b)))`, minimal, server.URL+"/post?token=page")))
	require.Eventually(t, func() bool { return stored() == 5 }, time.Minute, 10*time.Millisecond)
	for _, got := range w.submit.got {
		require.Equal(t, minimal, string(got.Document))
	}
}
