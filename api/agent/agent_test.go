package agent_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"

	handlers "github.com/slipway-qa/slipway/api/agent"
	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/route/routetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

func TestMain(m *testing.M) {
	gin.SetMode(gin.ReleaseMode)
	os.Exit(servicetest.Main(m))
}

// protocol answers by what it was asked with, and asks the api where the test says so.
type protocol struct {
	api http.RoundTripper
	ask string // a path of the api; "": none

	mu     sync.Mutex
	caller *auth.Caller
	scopes []account.Scope
	body   string
}

func (p *protocol) Serve(w http.ResponseWriter, r *http.Request, scopes []account.Scope) {
	body, _ := io.ReadAll(r.Body)
	p.mu.Lock()
	p.caller, p.scopes, p.body = auth.CallerOf(r.Context()), scopes, string(body)
	p.mu.Unlock()
	if p.ask == "" {
		return
	}
	asked, err := http.NewRequestWithContext(r.Context(), http.MethodPost, "https://qa.example.com"+p.ask,
		strings.NewReader(`{"tool":"get_run","outcome":"done","arguments":["run_id"],"digest":"0a"}`))
	if err != nil {
		panic(err)
	}
	asked.Header.Set("X-API-Key", "of nobody")
	res, err := p.api.RoundTrip(asked)
	if err != nil {
		http.Error(w, err.Error(), http.StatusTeapot)
		return
	}
	defer res.Body.Close()
	w.WriteHeader(res.StatusCode)
	_, _ = io.Copy(w, res.Body)
}

type world struct {
	*fixture.Fixture
	engine   *gin.Engine
	protocol *protocol
	now      time.Time
	owner    *fixture.User
	key      string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{Fixture: fixture.New(t), protocol: &protocol{}, now: time.Now()}
	authenticator, err := auth.New(auth.Config{DB: w.DB, Region: "local"})
	require.NoError(t, err)
	h, err := handlers.New(handlers.Config{DB: w.DB, PublicURL: "https://qa.example.com", BaseDomain: "qa.test",
		Now: func() time.Time { return w.now },
		Protocol: func(api http.RoundTripper) (handlers.Protocol, error) {
			w.protocol.api = api
			return w.protocol, nil
		}})
	require.NoError(t, err)
	w.engine = routetest.Engine(routetest.ByCredentials(authenticator), h.Routes()...)
	h.Connect(routetest.Engine(routetest.ByContext, h.Routes()...))
	w.owner = w.Org.NewUser("dev", account.Member)
	w.key = w.owner.Key(account.KindAPI)
	return w
}

func (w *world) send(path, key, origin, body string) *httptest.ResponseRecorder {
	w.T.Helper()
	r := httptest.NewRequestWithContext(w.T.Context(), http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("X-API-Key", key)
	if origin != "" {
		r.Header.Set("Origin", origin)
	}
	rec := httptest.NewRecorder()
	w.engine.ServeHTTP(rec, r)
	return rec
}

// text reads one text from the database.
func (w *world) text(query string) (found string) {
	w.T.Helper()
	require.NoError(w.T, w.DB.GetContext(w.T.Context(), &found, query))
	return found
}

const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`

func (w *world) scoped(scopes ...account.Scope) string {
	w.T.Helper()
	var text string
	require.NoError(w.T, w.DB.InTx(w.T.Context(), func(tx *storage.Tx) error {
		_, secret, err := account.CreateKey(w.T.Context(), tx, account.CLI(), w.Keys, account.NewKey{OrganizationID: w.Org.ID, UserID: w.owner.ID,
			Kind: account.KindAPI, Scopes: scopes})
		text = secret.Text
		return err
	}))
	return text
}

func TestServe(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.Equal(t, 200, w.send("/mcp", w.key, "", " "+ping+"\n").Code)
	require.Equal(t, ping, w.protocol.body)
	require.Nil(t, w.protocol.scopes)
	require.Equal(t, []account.Scope{account.ScopeRead}, w.protocol.caller.Scopes(), "who has no scopes reads")
	require.Equal(t, 200, w.send("/mcp", w.scoped(account.ScopeRuns, account.ScopeRuns), "", ping).Code)
	require.Equal(t, []account.Scope{account.ScopeRuns}, w.protocol.scopes)
	require.Equal(t, []account.Scope{account.ScopeRuns}, w.protocol.caller.Scopes())

	for origin, want := range map[string]int{
		"https://qa.example.com": 200, "https://QA.example.com": 200, "https://org.qa.test": 200, "http://qa.example.com": 403,
		"https://qa.example.com:8443": 403,
		"https://evil.example":        403, "https://a.b.qa.test": 403, "https://qa.test": 403, "https://org.qa.test:1": 403,
		"null": 403, "https://evil.test?.qa.test": 403,
	} {
		require.Equal(t, want, w.send("/mcp", w.key, origin, ping).Code, origin)
	}
	for _, body := range []string{"", " ", "[]", "[" + ping + "]", "{", `{"a":1}{}`, `"x"`, "7", "api_key=" + w.key} {
		require.Equal(t, 400, w.send("/mcp", w.key, "", body).Code, body)
	}
	require.Equal(t, 401, w.send("/mcp", "slp_local_api_wrong", "", ping).Code)
}

// What the tools ask is asked as the caller, restricted, and never by a credential of theirs.
func TestTransport(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.protocol.ask = "/api/v3/agent-calls"
	rec := w.send("/mcp", w.key, "", ping)
	require.Equal(t, 204, rec.Code, rec.Body)
	require.Equal(t, fmt.Sprintf("get_run %d 192.0.2.1", w.owner.ID),
		w.text(`select subject || ' ' || actor_user_id || ' ' || ip_address from audit_events where action = 'agent.called'`))
	require.Equal(t, "http", w.text(`select detail->>'via' from audit_events where action = 'agent.called'`), "the server says it")
	w.protocol.ask = "/api/v3/nothing"
	require.Equal(t, 404, w.send("/mcp", w.key, "", ping).Code)
	// Without a caller nothing is asked.
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://qa.example.com/api/v3/agent-calls", http.NoBody)
	require.NoError(t, err)
	_, err = w.protocol.api.RoundTrip(r)
	require.ErrorContains(t, err, "no caller")
}

// A key has a rate; another one its own.
func TestRate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 240 {
		require.Equal(t, 200, w.send("/mcp", w.key, "", ping).Code)
	}
	rec := w.send("/mcp", w.key, "", ping)
	require.Equal(t, 429, rec.Code)
	require.NotEmpty(t, rec.Header().Get("Retry-After"))
	require.Equal(t, 200, w.send("/mcp", w.scoped(account.ScopeRead), "", ping).Code)
	w.now = w.now.Add(time.Second)
	require.Equal(t, 200, w.send("/mcp", w.key, "", ping).Code)
}

func TestRecord(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	record := func(body string) *httptest.ResponseRecorder { return w.send("/api/v3/agent-calls", w.key, "", body) }
	rec := record(`{"tool":"get_run","outcome":"timed_out","arguments":["run_id","test_id"],"digest":"0a","took_ms":7}`)
	require.Equal(t, 204, rec.Code, rec.Body)
	require.Equal(t, "get_run stdio timed_out 7 true",
		w.text(
			`select subject || ' ' || (detail->>'via') || ' ' || (detail->>'outcome') || ' ' || (detail->>'took_ms') || ' ' || (detail ? 'key_id')
		from audit_events where action = 'agent.called'`))
	for body, member := range map[string]string{
		`{}`: "tool", `{"tool":"A"}`: "tool", `{"tool":"` + strings.Repeat("a", 65) + `"}`: "tool", `{"tool":"a"}`: "outcome",
		`{"tool":"a","via":"http","outcome":"done"}`:                          "via",
		`{"tool":"a","outcome":"done","arguments":["x y"]}`:                   "arguments",
		`{"tool":"a","outcome":"done","digest":"xyz"}`:                        "digest",
		`{"tool":"a","outcome":"done","took_ms":-1}`:                          "took_ms",
		`{"tool":"a","outcome":"done","secret":"x"}`:                          "secret",
		`{"tool":"a","outcome":"done","arguments":["` + manyNames(33) + `"]}`: "arguments",
	} {
		rec := record(body)
		require.Equal(t, 400, rec.Code, body)
		require.Contains(t, rec.Body.String(), member, body)
	}
	require.Equal(t, "1", w.text(`select count(*)::text from audit_events where action = 'agent.called'`))
}

// A program outside cannot fill the audit log.
func TestRecordsOfAnHour(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const wrong = `{}` // it counts all the same
	for range 3600 {
		require.Equal(t, 400, w.send("/api/v3/agent-calls", w.key, "", wrong).Code)
	}
	require.Equal(t, 429, w.send("/api/v3/agent-calls", w.key, "", wrong).Code)
	require.Equal(t, 400, w.send("/api/v3/agent-calls", w.scoped(account.ScopeRead), "", wrong).Code, "another key has its own")
	w.now = w.now.Add(time.Second)
	require.Equal(t, 400, w.send("/api/v3/agent-calls", w.key, "", wrong).Code)
	require.Equal(t, 429, w.send("/api/v3/agent-calls", w.key, "", wrong).Code)
}

func manyNames(n int) string {
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("n%d", i))
	}
	return strings.Join(names, `","`)
}
