package statuscall_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/commitstatus"
	"github.com/slipway-qa/slipway/tasks/outbound"
	. "github.com/slipway-qa/slipway/tasks/statuscall"
)

const token = "tok_0123456789-secret"

var sha = strings.Repeat("0a", 20)

// provider is what the stand-in of a provider asks for, written from its documents and with
// nothing of the code that sends.
type provider struct {
	name, path string // of a repository
	status     string // where a status is posted, as it is sent
	repository string // where the repository is read
	header     map[string]string
	words      map[commitstatus.State]string
	context    string // the member with its name
	state      string // the member of the answer with the state
	shown      string // the document of the repository
}

func providers() map[commitstatus.Provider]provider {
	words := func(fail string) map[commitstatus.State]string {
		return map[commitstatus.State]string{commitstatus.Pending: "pending", commitstatus.Pass: "success", commitstatus.Fail: fail}
	}
	return map[commitstatus.Provider]provider{
		commitstatus.GitHub: {name: "GitHub", path: "acme/app", status: "/repos/acme/app/statuses/" + sha, repository: "/repos/acme/app",
			header: map[string]string{"Authorization": "Bearer " + token, "Accept": "application/vnd.github+json",
				"X-Github-Api-Version": "2022-11-28"},
			words: words("failure"), context: "context", state: "state", shown: `{"full_name":"Acme/App","permissions":{"push":true}}`},
		commitstatus.GitLab: {name: "GitLab", path: "acme/mobile/app", status: "/api/v4/projects/acme%2Fmobile%2Fapp/statuses/" + sha,
			repository: "/api/v4/projects/acme%2Fmobile%2Fapp", header: map[string]string{"Private-Token": token, "Accept": "application/json"},
			words: words("failed"), context: "name", state: "status",
			shown: `{"path_with_namespace":"acme/mobile/app","permissions":{"project_access":null,"group_access":{"access_level":30}}}`},
		commitstatus.Gitea: {name: "Gitea", path: "acme/app", status: "/api/v1/repos/acme/app/statuses/" + sha,
			repository: "/api/v1/repos/acme/app",
			header:     map[string]string{"Authorization": "token " + token, "Accept": "application/json"},
			words:      words("failure"), context: "context", state: "status", shown: `{"full_name":"acme/app","permissions":{"push":true}}`},
	}
}

// serve serves a handler, and returns the address.
func serve(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

func newSender(t *testing.T, private bool) *Sender {
	t.Helper()
	guard, err := outbound.New(outbound.Config{AllowPrivate: private})
	require.NoError(t, err)
	t.Cleanup(guard.CloseIdleConnections)
	return NewSender(guard)
}

func statusOf(state commitstatus.State) Status {
	return Status{Commit: sha, State: state, Context: "slipway/gate", Description: `all "hold" & more`,
		Link: "https://qa.example.com/console/builds/builds/7"}
}

// requireHeaders checks the headers of a request, and that it has no other that carries a token.
func requireHeaders(t *testing.T, want map[string]string, r *http.Request) {
	for name, value := range want {
		require.Equal(t, []string{value}, r.Header.Values(name), name)
	}
	for _, name := range []string{"Authorization", "Private-Token", "Cookie", "X-Github-Api-Version"} {
		if want[name] == "" {
			require.Empty(t, r.Header.Values(name), name)
		}
	}
	require.NotEmpty(t, r.UserAgent())
}

func TestRequests(t *testing.T) {
	t.Parallel()
	for name, p := range providers() {
		for state, word := range p.words {
			t.Run(string(name)+" "+string(state), func(t *testing.T) {
				t.Parallel()
				requests := make(chan *http.Request, 2)
				bodies := make(chan string, 2)
				address := serve(t, func(w http.ResponseWriter, r *http.Request) {
					body, _ := io.ReadAll(r.Body)
					requests <- r
					bodies <- string(body)
					w.WriteHeader(http.StatusCreated)
					fmt.Fprintf(w, `{"id":1,%q:%q}`, p.state, word)
				})
				got := newSender(t, true).Send(t.Context(), Repository{Provider: name, URL: address, Path: p.path, Token: token}, statusOf(state))
				require.Equal(t, Result{HTTPStatus: 201}, got)
				r := <-requests
				require.Equal(t, []string{"POST", p.status}, []string{r.Method, r.RequestURI})
				require.Equal(t, "application/json", r.Header.Get("Content-Type"))
				requireHeaders(t, p.header, r)
				var sent map[string]string
				require.NoError(t, json.Unmarshal([]byte(<-bodies), &sent))
				require.Equal(t, map[string]string{"state": word, p.context: "slipway/gate", "description": `all "hold" & more`,
					"target_url": "https://qa.example.com/console/builds/builds/7"}, sent)
				require.Empty(t, requests)
			})
		}
	}
}

func TestRepositories(t *testing.T) {
	t.Parallel()
	for name, p := range providers() {
		for shown, push := range map[string]*bool{p.shown: new(true), strings.NewReplacer("true", "false", "30",
			"20").Replace(p.shown): new(false),
			`{"full_name":"` + p.path + `","path_with_namespace":"` + p.path + `"}`: nil} {
			requests := make(chan *http.Request, 1)
			address := serve(t, func(w http.ResponseWriter, r *http.Request) {
				requests <- r
				_, _ = io.WriteString(w, shown)
			})
			seen, got := newSender(t, true).Look(t.Context(), Repository{Provider: name, URL: address, Path: p.path, Token: token})
			require.Equal(t, Result{HTTPStatus: 200}, got)
			require.Truef(t, strings.EqualFold(p.path, seen.Path), "%s %s", name, seen.Path)
			require.Equalf(t, push, seen.Push, "%s %s", name, shown)
			r := <-requests
			require.Equal(t, []string{"GET", p.repository, ""}, []string{r.Method, r.RequestURI, r.Header.Get("Content-Type")})
			requireHeaders(t, p.header, r)
		}
	}
}

// What is not seen is no success: sign-in pages, proxies and other repositories.
func TestAnswersThatShowNothing(t *testing.T) {
	t.Parallel()
	for name, p := range providers() {
		for _, text := range []string{"", "<html>sign in</html>", "{}", "[]", "null", `{"state":"pending","status":"pending"}`,
			`{"state":1,"status":{}}`,
			`{"full_name":"acme/other","path_with_namespace":"acme/other"}`, `{"state":"success","status":"success","pad":"` +
				strings.Repeat("x", 2<<20) + `"}`} {
			address := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) })
			to := Repository{Provider: name, URL: address, Path: p.path, Token: token}
			got := newSender(t, true).Send(t.Context(), to, statusOf(commitstatus.Pass))
			require.Equal(t, Result{HTTPStatus: 200, Error: "the address answered 200, but not as " + p.name + " does"}, got)
			seen, got := newSender(t, true).Look(t.Context(), to)
			require.Nil(t, seen)
			require.Contains(t, got.Error, "the address answered 200, but not as "+p.name+" does")
		}
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	reset := fmt.Sprint(time.Now().Add(10 * time.Minute).Unix())
	for name, c := range map[string]struct {
		status    int
		header    map[string]string
		body      string
		permanent bool
		wait      time.Duration // at least; 0: none
		text      string
	}{
		"bad token": {401, nil, `{"message":"Bad credentials"}`, true, 0,
			"GitHub answered 401 (the token is not valid): Bad credentials"},
		"no right": {403, nil, `{"message":"Resource not accessible by personal access token"}`, true, 0,
			"the token may not set statuses"},
		"no repository":      {404, nil, `{"message":"Not Found"}`, true, 0, "no such repository or commit"},
		"no commit":          {422, nil, `{"message":"No commit found for SHA: 0a"}`, true, 0, "GitHub answered 422: No commit found"},
		"no method":          {405, nil, ``, true, 0, "GitHub answered 405"},
		"gone":               {410, nil, `<html>`, true, 0, "GitHub answered 410"},
		"lock":               {409, nil, ``, false, 0, "GitHub answered 409"},
		"slow":               {408, nil, ``, false, 0, "GitHub answered 408"},
		"away":               {503, map[string]string{"Retry-After": "120"}, ``, false, 2 * time.Minute, "GitHub answered 503"},
		"broken":             {500, nil, `{"message":{"base":["wrong"]}}`, false, 0, `GitHub answered 500: {"base":["wrong"]}`},
		"limit":              {429, map[string]string{"Retry-After": "300"}, ``, false, 5 * time.Minute, "GitHub answered 429"},
		"limit without time": {429, nil, ``, false, time.Minute, "GitHub answered 429"},
		"limit of GitHub": {403, map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": reset},
			`{"message":"API rate limit exceeded"}`, false, 9 * time.Minute, "GitHub answered 403"},
		"second limit":   {403, map[string]string{"Retry-After": "60"}, `{}`, false, time.Minute, "GitHub answered 403"},
		"limit in words": {403, nil, `{"message":"You have exceeded a secondary rate limit."}`, false, time.Minute, "GitHub answered 403"},
		"odd reset": {403, map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "soon"}, ``,
			false, time.Minute, "GitHub answered 403"},
		"repeats the token":   {401, nil, `{"message":"no such token: ` + token + `"}`, true, 0, "no such token: ***"},
		"repeats it at error": {400, nil, `{"error":"` + token + ` is bad"}`, true, 0, "GitHub answered 400: *** is bad"},
		"control characters":  {400, nil, `{"message":"a\u0000b\u001b[31m\nc"}`, true, 0, "GitHub answered 400: ab[31m c"},
		"long":                {400, nil, `{"message":"` + strings.Repeat("ä", 5000) + `"}`, true, 0, "GitHub answered 400: ää"},
	} {
		address := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			for k, v := range c.header {
				w.Header().Set(k, v)
			}
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
		})
		to := Repository{Provider: commitstatus.GitHub, URL: address, Path: "acme/app", Token: token}
		sent := newSender(t, true).Send(t.Context(), to, statusOf(commitstatus.Pass))
		seen, looked := newSender(t, true).Look(t.Context(), to)
		require.Nil(t, seen)
		for _, got := range []Result{sent, looked} {
			require.Equal(t, c.status, got.HTTPStatus, name)
			require.Equal(t, c.permanent, got.Permanent, name)
			require.Contains(t, got.Error, c.text, name)
			require.NotContains(t, got.Error, token, name)
			require.Less(t, len([]rune(got.Error)), 300, name)
			require.GreaterOrEqual(t, got.RetryAfter, c.wait, name)
			require.Equal(t, c.wait == 0, got.RetryAfter == 0, name)
		}
	}
}

// The token does not follow a redirect, whatever its status.
func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	for _, status := range []int{301, 302, 303, 307, 308} {
		var asked atomic.Int32
		elsewhere := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			asked.Add(1)
			_, _ = io.WriteString(w, `{"state":"success","full_name":"acme/app"}`)
		})
		address := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere+r.RequestURI, status) })
		to := Repository{Provider: commitstatus.GitHub, URL: address, Path: "acme/app", Token: token}
		got := newSender(t, true).Send(t.Context(), to, statusOf(commitstatus.Pass))
		require.True(t, got.Permanent)
		require.Contains(t, got.Error, fmt.Sprintf("GitHub answered %d: it leads elsewhere", status))
		seen, got := newSender(t, true).Look(t.Context(), to)
		require.Nil(t, seen)
		require.Contains(t, got.Error, "leads elsewhere")
		require.Zero(t, asked.Load())
	}
}

func TestPrivateAddressesAreRefused(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	address := serve(t, func(http.ResponseWriter, *http.Request) { asked.Add(1) })
	for _, url := range []string{address, "http://169.254.169.254", "http://10.0.0.1"} {
		got := newSender(t, false).Send(t.Context(), Repository{Provider: commitstatus.GitHub, URL: url, Path: "acme/app",
			Token: token}, statusOf(commitstatus.Pass))
		require.True(t, got.Permanent, url)
		require.Contains(t, got.Error, "address refused", url)
	}
	require.Zero(t, asked.Load())
}

func TestNoAnswer(t *testing.T) {
	t.Parallel()
	address := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		require.NoError(t, err)
		_ = conn.Close()
	})
	to := Repository{Provider: commitstatus.GitHub, URL: address, Path: "acme/app", Token: token}
	require.Equal(t, Result{Error: "the receiver closed the connection without an answer"},
		newSender(t, true).Send(t.Context(), to, statusOf(commitstatus.Pass)))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	got := newSender(t, true).Send(ctx, to, statusOf(commitstatus.Pass))
	require.NotEmpty(t, got.Error)
	require.False(t, got.Permanent)
}

// GitLab refuses a pending status where one is pending: it counts as sent only when the
// statuses of the commit have it.
func TestStatusThatStands(t *testing.T) {
	t.Parallel()
	const refusal = `{"message":"Cannot transition status via :enqueue from :pending (Reason(s): Status cannot transition via \"enqueue\")"}`
	for name, c := range map[string]struct {
		status  int
		refusal string
		list    string
		stood   bool
	}{
		"stands":               {200, refusal, `[{"name":"other","status":"success"},{"name":"slipway/gate","status":"pending"}]`, true},
		"stands otherwise":     {200, refusal, `[{"name":"slipway/gate","status":"running"}]`, false},
		"another name":         {200, refusal, `[{"name":"other","status":"pending"}]`, false},
		"none":                 {200, refusal, `[]`, false},
		"no list":              {200, refusal, `<html>`, false},
		"list refused":         {403, refusal, `[{"name":"slipway/gate","status":"pending"}]`, false},
		"refused for the rest": {200, `{"message":"name is too long"}`, `[{"name":"slipway/gate","status":"pending"}]`, false},
	} {
		address := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Private-Token") != token {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			switch r.Method + " " + r.RequestURI {
			case "POST /api/v4/projects/acme%2Fapp/statuses/" + sha:
				w.WriteHeader(http.StatusBadRequest)
				_, _ = io.WriteString(w, c.refusal)
			case "GET /api/v4/projects/acme%2Fapp/repository/commits/" + sha + "/statuses?per_page=100&name=slipway%2Fgate":
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.list)
			default:
				w.WriteHeader(http.StatusNotFound)
			}
		})
		got := newSender(t, true).Send(t.Context(), Repository{Provider: commitstatus.GitLab, URL: address, Path: "acme/app",
			Token: token}, statusOf(commitstatus.Pending))
		if c.stood {
			require.Equal(t, Result{HTTPStatus: 400, Stood: true}, got, name)
			continue
		}
		require.True(t, got.Permanent, name)
		require.False(t, got.Stood, name)
		require.Contains(t, got.Error, "GitLab answered 400: ", name)
	}
}
