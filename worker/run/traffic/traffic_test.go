package traffic_test

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/chromedriver"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
	"github.com/slipway-qa/slipway/worker/run/traffic"
)

var driver chromedriver.Driver

func TestMain(m *testing.M) { driver.Main(m) }

// site has pages and an interface, with bodies of all kinds.
func site(t testing.TB) string {
	mux := http.NewServeMux()
	page := func(path, body string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprint(w, "<!doctype html><link rel=icon href=data:,>"+body)
		})
	}
	page("/", `<p>start`)
	page("/other", `<p>other`)
	mux.HandleFunc("/api/echo", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Asked", r.Header.Get("X-Ask"))
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, `{"got":%q}`, body)
	})
	mux.HandleFunc("/api/moved", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/api/echo", http.StatusFound) })
	mux.HandleFunc("/picture", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "image/png")
		_, _ = w.Write([]byte{0x89, 'P', 'N', 'G', 0, 0xff})
	})
	mux.HandleFunc("/large", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.Copy(w, io.LimitReader(letters{}, 50<<20))
	})
	mux.HandleFunc("/bomb", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("Content-Encoding", "gzip")
		packed := gzip.NewWriter(w)
		_, _ = io.Copy(packed, io.LimitReader(letters{}, 50<<20))
		_ = packed.Close()
	})
	server := httptest.NewServer(mux)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL
}

type letters struct{}

func (letters) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// request has the page request an address, and waits for its end.
func request(t testing.TB, s *webdriver.Session, address string, options ...any) {
	t.Helper()
	var options0 any
	if len(options) > 0 {
		options0 = options[0]
	}
	var ended string
	require.NoError(t, s.Execute(chromedriver.Context(t), `const [address, options] = arguments;
return fetch(address, options || {}).then(r => r.arrayBuffer()).then(() => "ended", () => "failed");`, &ended, address, options0))
	require.NotEmpty(t, ended)
}

// ended waits for the end of the last request of an address.
func ended(t testing.TB, r *traffic.Recorder, suffix string) (found traffic.Entry) {
	t.Helper()
	require.Eventually(t, func() bool {
		for _, e := range r.Entries() {
			if strings.HasSuffix(e.URL, suffix) && e.Done {
				found = e
			}
		}
		return found.Number > 0
	}, time.Minute, 10*time.Millisecond)
	return found
}

func open(t testing.TB, cfg traffic.Config) *traffic.Recorder {
	t.Helper()
	r, err := traffic.Open(chromedriver.Context(t), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { r.Close(context.Background()) })
	return r
}

func TestRequestsAreRecorded(t *testing.T) {
	s, at, ctx := driver.Session(t, nil), site(t), chromedriver.Context(t)
	r := open(t, traffic.Config{Session: s})
	began := time.Now()
	require.NoError(t, s.Navigate(ctx, at+"/"))
	mark := r.Mark()
	request(t, s, "/api/echo?n=1#part", map[string]any{"method": "POST", "body": `{"a":"ü"}`, "headers": map[string]string{"X-Ask": "why"}})
	request(t, s, "/api/moved")
	request(t, s, "/picture")
	request(t, s, "http://127.0.0.1:9/")
	request(t, s, "data:text/plain,hello")
	ended(t, r, ":9/")

	entries := r.Entries()
	require.Len(t, entries, 6)
	for i, want := range []traffic.Entry{
		{URL: at + "/", Method: "GET", Status: 200, MIMEType: "text/html", Navigation: true, Kind: "document"},
		{URL: at + "/api/echo?n=1", Method: "POST", Status: 201, MIMEType: "application/json", Kind: "fetch", RequestSize: 10},
		{URL: at + "/api/moved", Method: "GET", Status: 302, Kind: "fetch"},
		{URL: at + "/api/echo", Method: "GET", Status: 201, MIMEType: "application/json", Kind: "fetch", Redirects: 1},
		{URL: at + "/picture", Method: "GET", Status: 200, MIMEType: "image/png", Kind: "fetch"},
		{URL: "http://127.0.0.1:9/", Method: "GET", Kind: "fetch", Failure: "net::ERR_UNSAFE_PORT"},
	} {
		got := entries[i]
		require.True(t, got.Done, got.URL)
		require.Equal(t, i+1, got.Number)
		if i == 2 {
			got.MIMEType = "" // of the link in a redirect's body
		}
		require.Equal(t, want, traffic.Entry{URL: got.URL, Method: got.Method, Status: got.Status, MIMEType: got.MIMEType,
			Navigation: got.Navigation,
			Kind:       got.Kind, RequestSize: got.RequestSize, Redirects: got.Redirects, Failure: got.Failure})
		require.WithinDuration(t, began, got.Sent, time.Minute)
		if i > 0 {
			require.GreaterOrEqual(t, got.SentAt, mark, "after the mark")
		}
	}
	require.Equal(t, entries[2].Request, entries[3].Request, "a redirect goes on with the request")
	require.Contains(t, entries[1].RequestHeaders, traffic.Header{Name: "X-Ask", Value: "why"})
	asked, ok := entries[1].Header("x-asked")
	require.True(t, ok)
	require.Equal(t, "why", asked)
	require.Positive(t, entries[1].Timing.ResponseEnd)
	require.LessOrEqual(t, entries[1].Timing.ResponseStart, entries[1].Timing.ResponseEnd)

	// The bodies stay when the page was left.
	require.NoError(t, s.Navigate(ctx, strings.Replace(at, "127.0.0.1", "localhost", 1)+"/other"))
	body, err := r.RequestBody(ctx, entries[1])
	require.NoError(t, err)
	require.Equal(t, traffic.Body{Data: []byte(`{"a":"ü"}`), Text: true}, body)
	body, err = r.ResponseBody(ctx, entries[1])
	require.NoError(t, err)
	require.Equal(t, `{"got":"{\"a\":\"ü\"}"}`, string(body.Data))
	body, err = r.ResponseBody(ctx, entries[4])
	require.NoError(t, err)
	require.Equal(t, traffic.Body{Data: []byte{0x89, 'P', 'N', 'G', 0, 0xff}}, body)
	for _, empty := range []func() (traffic.Body, error){
		func() (traffic.Body, error) { return r.RequestBody(ctx, entries[0]) },
		func() (traffic.Body, error) { return r.ResponseBody(ctx, entries[2]) },
	} {
		body, err = empty()
		require.NoError(t, err)
		require.Empty(t, body.Data)
	}
	var without *traffic.BodyError
	_, err = r.ResponseBody(ctx, entries[5])
	require.ErrorAs(t, err, &without)
	require.Contains(t, without.Text, "ERR_UNSAFE_PORT")

	r.Close(ctx)
	request(t, s, "/api/echo?after")
	require.Len(t, r.Entries(), 7, "with the page that was opened last")
}

func TestOnlyTheContextOfTheTestIsRecorded(t *testing.T) {
	s, at, ctx := driver.Session(t, nil), site(t), chromedriver.Context(t)
	conn, err := s.BiDi(ctx)
	require.NoError(t, err)
	foreign, err := conn.CreateUserContext(ctx)
	require.NoError(t, err)
	theirs, err := conn.CreateWindow(ctx, "tab", foreign)
	require.NoError(t, err)
	mine, err := s.Window(ctx)
	require.NoError(t, err)
	r := open(t, traffic.Config{Session: s})
	second, err := conn.CreateWindow(ctx, "tab", "")
	require.NoError(t, err)

	for _, visit := range []struct{ window, path string }{{mine, "/?mine"}, {theirs, "/?theirs"}, {second, "/?second"}} {
		require.NoError(t, s.SwitchWindow(ctx, visit.window))
		require.NoError(t, s.Navigate(ctx, at+visit.path))
	}
	ended(t, r, "/?second")
	var seen []string
	for _, e := range r.Entries() {
		seen = append(seen, strings.TrimPrefix(e.URL, at))
	}
	require.Equal(t, []string{"/?mine", "/?second"}, seen)
}

func TestLargeBodiesAreNotAskedFor(t *testing.T) {
	s, at, ctx := driver.Session(t, nil), site(t), chromedriver.Context(t)
	r := open(t, traffic.Config{Session: s})
	require.NoError(t, s.Navigate(ctx, at+"/"))
	for _, path := range []string{"/large", "/bomb"} {
		request(t, s, path)
		e := ended(t, r, path)
		require.Equal(t, 200, e.Status)
		var tooLarge *traffic.BodyError
		_, err := r.ResponseBody(ctx, e)
		require.ErrorAs(t, err, &tooLarge, path)
		require.Contains(t, tooLarge.Text, "larger than 1024 KiB", path)
		require.NoError(t, tooLarge.Err, "nothing was asked of the browser")
	}
	request(t, s, "/api/echo")
	_, err := r.ResponseBody(ctx, ended(t, r, "/api/echo"))
	require.NoError(t, err, "the connection is as it was")
}

func TestTheOldestEntriesAreForgotten(t *testing.T) {
	s, at, ctx := driver.Session(t, nil), site(t), chromedriver.Context(t)
	r := open(t, traffic.Config{Session: s, MaxEntries: 50})
	require.NoError(t, s.Navigate(ctx, at+"/"))
	var watched int
	done := make(chan struct{})
	defer r.Watch(func(e traffic.Entry) {
		if e.Done {
			watched++
		}
		if e.Done && strings.HasSuffix(e.URL, "?last") {
			close(done)
		}
	})()
	const n = 500
	require.NoError(t, s.Execute(ctx, `const n = arguments[0];
(async () => { for (let i = 0; i < n; i++) await fetch("/api/echo?" + i); await fetch("/api/echo?last"); })();`, nil, n),
		"not awaited: all of them may take longer than a script may")
	select {
	case <-done:
	case <-ctx.Done():
		require.Fail(t, "the last request was not reported")
	}
	entries := r.Entries()
	lost, events := r.Lost()
	require.Zero(t, events)
	require.Len(t, entries, 50)
	require.Equal(t, n+2-50, lost)
	require.Equal(t, n+2, entries[49].Number)
	require.GreaterOrEqual(t, watched, n, "each was reported")
}

func TestNoBiDiIsSaidAtOnce(t *testing.T) {
	s := driver.Session(t, map[string]any{"webSocketUrl": false})
	_, err := traffic.Open(chromedriver.Context(t), traffic.Config{Session: s})
	var unavailable *traffic.UnavailableError
	require.ErrorAs(t, err, &unavailable)
	require.Contains(t, unavailable.Text, "no WebDriver BiDi")
}

func TestABrowserThatDiesEndsTheRecording(t *testing.T) {
	s, at, ctx := driver.Session(t, nil), site(t), chromedriver.Context(t)
	r := open(t, traffic.Config{Session: s})
	require.NoError(t, s.Navigate(ctx, at+"/"))
	request(t, s, "/api/echo")
	e := ended(t, r, "/api/echo")
	chromedriver.Kill(t, s)
	select {
	case <-r.Ended():
	case <-ctx.Done():
		t.Fatal("nobody noticed the end of the browser")
	}
	_, err := r.ResponseBody(ctx, e)
	require.Error(t, err)
	require.NotEmpty(t, r.Entries(), "what was recorded stays")
	r.Settle(ctx)
	r.Close(ctx)
}
