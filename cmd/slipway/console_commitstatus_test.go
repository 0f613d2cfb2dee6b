package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/account"
)

// The commit status of an app is set by a form, tested against the provider, and removed; its
// token is on no page.
func TestConsoleCommitStatus(t *testing.T) {
	t.Parallel()
	const token = "tok_0123456789-secret"
	push := make(chan bool, 1)
	provider := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		select {
		case may := <-push:
			if r.Method != http.MethodGet || r.URL.Path != "/repos/acme/app" || r.Header.Get("Authorization") != "Bearer "+token {
				rw.WriteHeader(http.StatusUnauthorized)
				return
			}
			_, _ = fmt.Fprintf(rw, `{"full_name":"acme/app","permissions":{"push":%t}}`, may)
		default:
			rw.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(provider.Close)
	w := newBuildsWorld(t)
	at, setting := "/apps/"+w.app+"/commit-status", "/projects/"+w.app+"/commit-status"
	p := w.see(at, "go nowhere yet")
	checkPage(t, at, p)
	require.Contains(t, w.see("/apps/"+w.app).links(), "/console/builds"+at)
	require.Nil(t, p.form(at+"/test"))

	p = w.submit(p, at, url.Values{"provider": {"github"}, "url": {provider.URL}, "repository": {buildScript}, "token": {token}})
	require.Equal(t, http.StatusBadRequest, p.status)
	require.Contains(t, p.text, `<a href="#status-repository">repository</a> must have letters`)
	require.NotContains(t, p.text, buildScript)
	require.NotContains(t, p.text, token, "a token that was typed is shown to nobody")
	checkPage(t, at, p)
	require.Equal(t, provider.URL, fields(p.form(at)).Get("url"), "what was typed is kept")
	require.Contains(t, w.submit(p, at, url.Values{"provider": {"sourceforge"}, "repository": {"acme/app"}, "token": {token}}).text,
		`href="#status-provider"`)
	require.Contains(t, w.submit(p, at, url.Values{"repository": {"acme/app"}}).text, `href="#status-token"`, "the first one needs a token")
	p = w.done(p, at, url.Values{"repository": {"acme/app"}, "token": {token}}, "The setting was saved.")
	require.NotContains(t, p.text, token)
	require.Equal(t, "acme/app", w.shows(setting, "commit_status.repository"))
	require.Equal(t, "slipway/gate: shop (Windows)", w.shows(setting, "commit_status.context"))
	require.Equal(t, "", fields(p.form(at)).Get("token"))

	push <- true
	p = w.done(p, at+"/test", nil, "The repository acme/app was seen, and the token&#39;s owner may push to it.")
	push <- false
	p = w.submit(p, at+"/test", nil)
	require.Contains(t, p.text, `class="notice bad"`)
	require.Contains(t, p.text, "may not push to it")
	p = w.submit(p, at+"/test", nil)
	require.Contains(t, p.text, "The repository was not seen: GitHub answered 404")
	w.done(p, at, url.Values{"context": {"qa/gate"}, "token": {""}}, "The setting was saved.")
	require.Equal(t, "qa/gate", w.shows(setting, "commit_status.context"))
	require.Equal(t, "true", w.shows(setting, "commit_status.has_token"), "an empty token leaves the one that there is")
	w.surface.exec(`update commit_status_settings set last_error = $1, last_error_at = now()`, buildScript)
	p = w.see(at, "Last failure")
	require.NotContains(t, p.text, buildScript)

	member := w.console(w.member("reader", account.Member))
	require.Equal(t, http.StatusForbidden, member.open("/console/builds"+at).status)
	require.NotContains(t, member.open("/console/builds/apps/"+w.app).links(), "/console/builds"+at)
	p = w.done(p, at+"/delete", nil, "The setting was removed with its token.")
	require.Contains(t, p.text, "go nowhere yet")
	require.Equal(t, "0", w.surface.one(`select count(*)::text from commit_status_settings`))
}
