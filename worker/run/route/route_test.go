package route_test

import (
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

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/chromedriver"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
	"github.com/slipway-qa/slipway/worker/run/route"
	"github.com/slipway-qa/slipway/worker/run/traffic"
)

var driver chromedriver.Driver

func TestMain(m *testing.M) { driver.Main(m) }

// site counts what reaches it.
func site(t testing.TB) (at string, hits *atomic.Int64) {
	hits = &atomic.Int64{}
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, "<!doctype html><link rel=icon href=data:,><title>real</title><a id=link href=/linked>linked</a>")
	})
	mux.HandleFunc("/api/", func(w http.ResponseWriter, r *http.Request) {
		hits.Add(1)
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("X-Real", "yes")
		fmt.Fprintf(w, "real %s %s %s", r.Method, r.URL.Path, body)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL, hits
}

type got struct {
	Status int
	Body   string
	Kind   string
	Real   string
	Added  string
	Failed string
}

// ask has the page request an address: the script, which is a command over HTTP, waits
// for it.
func ask(t testing.TB, s *webdriver.Session, address string, options ...any) (g got) {
	t.Helper()
	var given any
	if len(options) > 0 {
		given = options[0]
	}
	require.NoError(t, s.Execute(chromedriver.Context(t), `const [address, options] = arguments;
return fetch(address, options || {}).then(async (r) => ({Status: r.status, Body: await r.text(), Kind: r.headers.get("content-type") || "",
  Real: r.headers.get("x-real") || "", Added: r.headers.get("x-added") || ""}), (e) => ({Failed: String(e)}));`, &g, address, given))
	return g
}

func ptr[T any](v T) *T { return &v }

func open(t testing.TB) (*webdriver.Session, *route.Router, string, *atomic.Int64) {
	t.Helper()
	s := driver.Session(t, nil)
	at, hits := site(t)
	r, err := route.Open(chromedriver.Context(t), s)
	require.NoError(t, err)
	t.Cleanup(func() { _ = r.Close(chromedriver.Context(t)) })
	require.NoError(t, s.Navigate(chromedriver.Context(t), at+"/"))
	return s, r, at, hits
}

func TestRoutes(t *testing.T) {
	s, r, at, hits := open(t)
	ctx := chromedriver.Context(t)
	add := func(a step.Args) { t.Helper(); require.NoError(t, r.Add(ctx, a)) }

	require.Equal(t, "real GET /api/cart ", ask(t, s, "/api/cart").Body)
	add(step.Args{URL: "**/api/cart", Answer: &step.Answer{JSON: json.RawMessage(`{"total":3}`)}})
	reached := hits.Load()
	require.Equal(t, got{Status: 200, Body: `{"total":3}`, Kind: "application/json"}, ask(t, s, "/api/cart"))
	require.Equal(t, reached, hits.Load(), "the server was not asked")
	require.Equal(t, "real GET /api/other ", ask(t, s, "/api/other").Body)

	// A later one wins, for its method and as often as it says.
	add(step.Args{URL: "/api/cart", Method: "POST", Times: ptr(2), Answer: &step.Answer{Status: 503, Body: ptr("ü no"),
		Headers: map[string]string{"X-Added": "a"}}})
	post := map[string]any{"method": "POST", "body": "x"}
	for range 2 {
		require.Equal(t, got{Status: 503, Body: "ü no", Kind: "text/plain; charset=utf-8", Added: "a"}, ask(t, s, "/api/cart", post))
	}
	require.Equal(t, `{"total":3}`, ask(t, s, "/api/cart", post).Body)

	add(step.Args{URL: "**/api/gone", Abort: "connectionrefused"})
	require.Contains(t, ask(t, s, "/api/gone").Failed, "Failed to fetch")

	add(step.Args{URL: "**/api/slow", Delay: ptr(300)})
	began := time.Now()
	require.Equal(t, "real GET /api/slow ", ask(t, s, "/api/slow").Body)
	require.GreaterOrEqual(t, time.Since(began), 300*time.Millisecond)

	add(step.Args{URL: "**/api/changed", Change: &step.Change{Status: 201, Headers: map[string]string{"X-Added": "b", "X-Real": ""}}})
	require.Equal(t, got{Status: 201, Body: "real GET /api/changed ", Kind: "text/plain", Added: "b"}, ask(t, s, "/api/changed"))
	add(step.Args{URL: "**/api/changed", Change: &step.Change{Body: ptr("other")}})
	require.Equal(t, got{Status: 200, Body: "other", Kind: "text/plain", Real: "yes"}, ask(t, s, "/api/changed"))
	add(step.Args{URL: "**/api/moved", Change: &step.Change{URLTo: at + "/api/elsewhere"}})
	require.Equal(t, "real POST /api/elsewhere x", ask(t, s, "/api/moved", post).Body)

	// A page of another origin may read what a rule answers.
	require.Equal(t, `{"total":3}`, ask(t, s, strings.Replace(at, "127.0.0.1", "localhost", 1)+"/api/cart",
		map[string]any{"headers": map[string]string{"X-Own": "1"}}).Body)

	n, err := r.Remove(ctx, "**/api/changed")
	require.NoError(t, err)
	require.Equal(t, 2, n)
	require.Equal(t, "real GET /api/changed ", ask(t, s, "/api/changed").Body)
	_, err = r.Remove(ctx, "")
	require.NoError(t, err)
	require.Equal(t, "real GET /api/cart ", ask(t, s, "/api/cart").Body)
	texts, err := r.Troubles(ctx)
	require.NoError(t, err)
	require.Empty(t, texts)
}

// Commands that wait for the page that a rule answers are no reason to hang.
func TestNavigationsAreAnswered(t *testing.T) {
	s, r, at, _ := open(t)
	ctx := chromedriver.Context(t)
	page := "<!doctype html><title>mine</title>"
	require.NoError(t, r.Add(ctx, step.Args{URL: "**/linked", Answer: &step.Answer{Body: &page,
		Headers: map[string]string{"content-type": "text/html"}}}))
	links, err := s.FindAll(ctx, webdriver.ByCSS, "#link")
	require.NoError(t, err)
	require.NoError(t, s.Click(ctx, links[0]))
	title, err := s.Title(ctx)
	require.NoError(t, err)
	require.Equal(t, "mine", title)
	require.NoError(t, s.Navigate(ctx, at+"/linked"))
	windows, err := s.Windows(ctx)
	require.NoError(t, err)
	require.Len(t, windows, 1, "the agent's is hidden")

	// One that leads to itself ends as such redirects end.
	require.NoError(t, r.Add(ctx, step.Args{URL: "**/circle", Answer: &step.Answer{Status: 302,
		Headers: map[string]string{"Location": "/circle"}}}))
	require.Contains(t, ask(t, s, "/circle").Failed, "Failed to fetch")

	require.NoError(t, r.Close(ctx))
	require.NoError(t, s.Navigate(ctx, at+"/linked"))
	title, err = s.Title(ctx)
	require.NoError(t, err)
	require.Equal(t, "real", title, "no rule outlives its router")
}

func TestARefusedAnswerFailsItsRequest(t *testing.T) {
	s, r, _, _ := open(t)
	ctx := chromedriver.Context(t)
	require.NoError(t, r.Add(ctx, step.Args{URL: "**/api/bad", Answer: &step.Answer{Headers: map[string]string{"X-Bad": "a\nb"}}}))
	require.Contains(t, ask(t, s, "/api/bad").Failed, "Failed to fetch")
	texts, err := r.Troubles(ctx)
	require.NoError(t, err)
	require.Len(t, texts, 1)
}

func TestManyRequestsAndRulesAreBounded(t *testing.T) {
	s, r, _, _ := open(t)
	ctx := chromedriver.Context(t)
	for i := range route.MaxRules {
		require.NoError(t, r.Add(ctx, step.Args{URL: fmt.Sprintf("**/rule/%d", i), Answer: &step.Answer{Body: ptr(fmt.Sprint(i))}}))
	}
	require.ErrorIs(t, r.Add(ctx, step.Args{URL: "**", Abort: "failed"}), route.ErrTooMany)
	var all int
	require.NoError(t, s.Execute(ctx, `return (async () => {
let sum = 0;
for (let i = 0; i < 1000; i++) sum += Number(await (await fetch("/rule/" + i % 100)).text());
return sum; })();`, &all))
	require.Equal(t, 49_500, all)
}

func TestWithoutDevToolsItIsSaidAtOnce(t *testing.T) {
	_, err := route.Open(chromedriver.Context(t), driver.Session(t, map[string]any{"webSocketUrl": false}))
	var unavailable *traffic.UnavailableError
	require.ErrorAs(t, err, &unavailable)
}

func TestABrowserThatDies(t *testing.T) {
	s, r, _, _ := open(t)
	ctx := chromedriver.Context(t)
	require.NoError(t, r.Add(ctx, step.Args{URL: "**", Delay: ptr(60_000)}))
	chromedriver.Kill(t, s)
	require.Error(t, r.Add(ctx, step.Args{URL: "**", Abort: "failed"}))
	require.Error(t, r.Close(ctx), "whoever has the lease ends the browser")
}
