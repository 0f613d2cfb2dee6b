package browser

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/step/capability"
)

// fakeHub responds as hubs do, and stores the requests.
type fakeHub struct {
	*httptest.Server
	mu       sync.Mutex
	requests []map[string]any
	user     string
	deleted  int
	respond  func(w http.ResponseWriter, r *http.Request) // to requests of sessions; nil: one starts
}

func newHub(t *testing.T) *fakeHub {
	h := &fakeHub{}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		user, password, _ := r.BasicAuth()
		h.user = user + ":" + password
		respond := h.respond
		if r.Method == http.MethodDelete {
			h.deleted++
		}
		var body struct {
			Capabilities struct {
				AlwaysMatch map[string]any `json:"alwaysMatch"`
			} `json:"capabilities"`
		}
		doc, _ := io.ReadAll(r.Body)
		if json.Unmarshal(doc, &body) == nil && body.Capabilities.AlwaysMatch != nil {
			h.requests = append(h.requests, body.Capabilities.AlwaysMatch)
		}
		h.mu.Unlock()
		if respond != nil && r.Method == http.MethodPost {
			respond(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"value":{"sessionId":"s1","capabilities":{"browserName":"firefox"}}}`)
	}))
	t.Cleanup(h.Close)
	return h
}

func (h *fakeHub) last() map[string]any {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.requests[len(h.requests)-1]
}

func (h *fakeHub) ended() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.deleted
}

func TestParseHubs(t *testing.T) {
	t.Parallel()
	hubs, err := ParseHubs(" android, iOS=http://u:p@grid:4723/wd/hub?a=b ;; https://any.example/x=y;")
	require.NoError(t, err)
	require.Equal(t, []Hub{
		{Platforms: []string{"android", "ios"}, URL: "http://u:p@grid:4723/wd/hub?a=b"},
		{URL: "https://any.example/x=y"},
	}, hubs)
	hubs, err = ParseHubs("")
	require.NoError(t, err)
	require.Empty(t, hubs)
	for _, bad := range []string{"grid:4444", "ftp://u:secret@x", "android=", "=http://x", "an%=http://x",
		"http://u:secret@[::1", "http://", "windows,=http://x", strings.Repeat("http://x;", 33)} {
		_, err := ParseHubs(bad)
		require.Error(t, err, bad)
		require.NotContains(t, err.Error(), "secret")
	}
}

func FuzzParseHubs(f *testing.F) {
	f.Add("android,ios=http://u:p@h:1;https://x")
	f.Add("=;=;http://%zz")
	f.Fuzz(func(t *testing.T, text string) {
		hubs, err := ParseHubs(text)
		if err == nil {
			if _, err := New(Config{Hubs: hubs}); err != nil {
				t.Fatalf("%q: %v", text, err)
			}
		}
	})
}

func TestRoute(t *testing.T) {
	t.Parallel()
	hub := func(names ...string) *remote { return &remote{platforms: names, host: strings.Join(names, "+")} }
	phones, windows, mac, any := hub("android", "ios"), hub("windows"), hub("mac"), hub()
	type c = capability.Capabilities
	for _, test := range []struct {
		caps c
		rdc  bool
		want *remote
	}{
		{c{"platformName": "Android"}, false, phones},
		{c{"platformName": "iOS", "browserName": "safari"}, true, phones},
		{c{"platformName": "Windows 11", "browserName": "chrome"}, false, windows},
		{c{"platformName": "macOS 13"}, false, mac},
		{c{"platformName": "OS X 10.11"}, false, mac},
		{c{"platformName": "linux"}, false, any},
		{c{"browserName": "firefox"}, false, any},
		{c{"appium:app": "https://x/app.apk"}, false, phones},
		{c{"appium:bundleId": "org.x"}, false, phones},
		{c{}, true, phones},
		{c{"platformName": 7}, false, any},
		{nil, false, any},
	} {
		target := capability.Target{Capabilities: test.caps, IsRDC: test.rdc}
		require.Same(t, test.want, route([]*remote{phones, windows, mac, any}, target), "%v", test.caps)
	}
	require.Nil(t, route([]*remote{phones}, capability.Target{Capabilities: c{"browserName": "chrome"}}))
	require.Equal(t, []string{"ios"}, platformsOf(capability.Target{Capabilities: c{"appium:automationName": "XCUITest"}}))
}

func TestWhatNothingServesIsRefused(t *testing.T) {
	t.Parallel()
	p := newPool(t, Config{})
	for _, test := range []struct {
		caps capability.Capabilities
		rdc  bool
		text string
	}{
		{capability.Capabilities{"browserName": "Firefox", "platformName": "Windows 11"}, false,
			"no hub serves browserName firefox on platform windows 11"},
		{capability.Capabilities{"browserName": "safari"}, false, "no hub serves browserName safari"},
		{capability.Capabilities{"appium:app": "x.apk"}, false, "no hub serves a mobile device"},
		{nil, true, "no hub serves a mobile device"},
		{nil, false, "no hub serves this target, and this worker has no browser of its own"},
	} {
		_, err := p.Acquire(t.Context(), Request{Target: capability.Target{Capabilities: test.caps, IsRDC: test.rdc}})
		var refused *SessionError
		require.ErrorAs(t, err, &refused)
		require.Equal(t, test.text, refused.Text)
		require.False(t, refused.Retry)
	}
}

func TestHubSessions(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	address := strings.Replace(h.URL, "://", "://ada:secret@", 1)
	p := newPool(t, Config{Hubs: []Hub{{URL: address}}})
	c := capability.Capabilities{"browserName": "firefox", "acme:options": map[string]any{"name": "n"}, "unhandledPromptBehavior": "accept"}
	l, err := p.Acquire(t.Context(), Request{Target: capability.Target{Capabilities: c}, Proxy: "http://tunnel:3128"})
	require.NoError(t, err)
	require.Equal(t, "s1", l.Session.ID)
	require.False(t, l.Local || l.Mobile || l.Warm)
	require.Equal(t, map[string]any{"browserName": "firefox", "acme:options": map[string]any{"name": "n"},
		"pageLoadStrategy": "eager", "unhandledPromptBehavior": "ignore",
		"proxy": map[string]any{"proxyType": "manual", "httpProxy": "tunnel:3128", "sslProxy": "tunnel:3128"}}, h.last())
	require.Equal(t, "ada:secret", h.user)
	require.Equal(t, "accept", c["unhandledPromptBehavior"], "the target is left as it is")
	l.Release(t.Context(), false)
	l.Release(t.Context(), true)
	require.Eventually(t, func() bool { return h.ended() == 1 }, time.Minute, time.Millisecond)

	phone := capability.Capabilities{"platformName": "android", "appium:app": "storage:1"}
	l, err = p.Acquire(t.Context(), Request{Target: capability.Target{Capabilities: phone}})
	require.NoError(t, err)
	require.True(t, l.Mobile)
	require.Equal(t, map[string]any(phone), h.last())

	chrome := capability.Capabilities{"browserName": "chrome", "pageLoadStrategy": "normal"}
	_, err = p.Acquire(t.Context(), Request{Target: capability.Target{Capabilities: chrome}, Proxy: "socks5://tunnel:1080"})
	require.NoError(t, err)
	require.Equal(t, map[string]any{"browserName": "chrome", "pageLoadStrategy": "normal", "unhandledPromptBehavior": "ignore",
		"proxy": map[string]any{"proxyType": "manual", "socksProxy": "tunnel:1080", "socksVersion": 5.0,
			"noProxy": []any{"<-loopback>"}}}, h.last())
	for _, tunnel := range []string{"http://u:p@tunnel", "ftp://tunnel", "::"} {
		_, err = p.Acquire(t.Context(), Request{Target: capability.Target{Capabilities: chrome}, Proxy: tunnel})
		require.ErrorContains(t, err, "tunnel")
	}

	// Close ends the sessions of all leases.
	p.Close()
	require.Equal(t, 3, h.ended())
	_, err = p.Acquire(t.Context(), Request{Target: capability.Target{Capabilities: chrome}})
	require.Error(t, err)
}

func TestHubsThatFail(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	address := strings.Replace(h.URL, "://", "://ada:secret@", 1)
	host := strings.TrimPrefix(h.URL, "http://")
	released := make(chan struct{})
	defer close(released) // before the pools are closed, which would wait for the one that hangs
	say := func(status int, body string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		}
	}
	for _, test := range []struct {
		name    string
		respond func(http.ResponseWriter, *http.Request)
		text    string
		retry   bool
	}{
		{"it has none", say(500, `{"value":{"error":"session not created","message":"no nodes for http://ada:secret@x\nat java.lang"}}`),
			"the hub " + host + " made no session: no nodes for http://*****@x", false},
		{"long", say(500, `{"value":{"error":"unknown error","message":"`+strings.Repeat("é", 5000)+`"}}`), "the hub " + host, false},
		{"no hub at all", say(502, `<html>bad gateway`), "the hub " + host + " cannot be reached", true},
		{"hangs", func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-r.Context().Done():
			case <-released:
			}
		}, "the hub " + host + " made no session in time", true},
	} {
		h.mu.Lock()
		h.respond = test.respond
		h.mu.Unlock()
		limit := time.Minute
		if test.name == "hangs" {
			limit = 300 * time.Millisecond
		}
		p := newPool(t, Config{Hubs: []Hub{{URL: address}}, StartTimeout: limit})
		_, err := p.Acquire(t.Context(), Request{})
		var failed *SessionError
		require.ErrorAs(t, err, &failed, test.name)
		require.Contains(t, failed.Text, test.text, test.name)
		require.LessOrEqual(t, len(failed.Text), maxMessage)
		require.NotContains(t, failed.Text, "secret")
		require.Equal(t, test.retry, failed.Retry, test.name)
		require.Error(t, errors.Unwrap(err))
	}
	away, err := New(Config{Hubs: []Hub{{URL: "http://u:secret@127.0.0.1:1"}}})
	require.NoError(t, err)
	defer away.Close()
	_, err = away.Acquire(t.Context(), Request{})
	require.EqualError(t, err, "the hub 127.0.0.1:1 cannot be reached")
}

// A session that comes after its caller went away is ended.
func TestLateHubSessionsAreEnded(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	requested, proceed := make(chan struct{}), make(chan struct{})
	h.respond = func(w http.ResponseWriter, _ *http.Request) {
		close(requested)
		<-proceed
		fmt.Fprint(w, `{"value":{"sessionId":"late","capabilities":{}}}`)
	}
	p := newPool(t, Config{Hubs: []Hub{{URL: h.URL}}})
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() {
		_, err := p.Acquire(ctx, Request{})
		failed <- err
	}()
	<-requested
	cancel()
	require.Error(t, <-failed)
	close(proceed)
	require.Eventually(t, func() bool { return h.ended() == 1 }, time.Minute, time.Millisecond)
}

// So is one that comes after its time was over, and one that starts during Close: the
// remote end cannot know that nobody uses them.
func TestSessionsThatComeTooLateAreEnded(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]func(address string) Config{
		"hub":   func(address string) Config { return Config{Hubs: []Hub{{URL: address}}} },
		"local": func(address string) Config { return Config{Local: address} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHub(t)
			requested, released := make(chan struct{}, 2), make(chan struct{})
			h.respond = func(w http.ResponseWriter, _ *http.Request) {
				requested <- struct{}{}
				<-released
				fmt.Fprint(w, `{"value":{"sessionId":"late","capabilities":{}}}`)
			}
			late := config(h.URL)
			late.StartTimeout = 10 * time.Second // in which the request is sent
			_, err := newPool(t, late).Acquire(t.Context(), Request{})
			require.ErrorContains(t, err, "made no session in time")
			<-requested

			p := newPool(t, config(h.URL))
			failed, closed := make(chan error, 1), make(chan struct{})
			go func() {
				_, err := p.Acquire(t.Context(), Request{})
				failed <- err
			}()
			<-requested
			go func() { p.Close(); close(closed) }()
			require.ErrorContains(t, <-failed, "shutting down")
			require.Zero(t, h.ended())
			close(released)
			<-closed
			require.Eventually(t, func() bool { return h.ended() == 2 }, time.Minute, time.Millisecond)
		})
	}
}

// Messages of a hub may quote what was sent to it: signed links, and secrets that
// only the caller knows.
func TestLogShowsNoMessagesOfHubs(t *testing.T) {
	t.Parallel()
	const link = "https://slipway.example.com/files/app.apk?signature=hush"
	h := newHub(t)
	h.respond = func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
		fmt.Fprintf(w, `{"value":{"error":"session not created","message":"cannot download %s","stacktrace":"at %s"}}`, link, link)
	}
	for _, cfg := range []Config{{Hubs: []Hub{{URL: h.URL}}}, {Local: h.URL, Warm: 1}} {
		var log bytes.Buffer
		cfg.Log = slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		p := newPool(t, cfg)
		_, err := p.Acquire(t.Context(), Request{})
		require.ErrorContains(t, err, "hush", "the caller is told")
		if cfg.Local != "" {
			p.maintain() // starts one that no lease waits for
			settled(t, p, 0)
		}
		p.Close()
		require.NotContains(t, log.String(), "hush")
		require.Equal(t, cfg.Local != "", strings.Contains(log.String(), "session not created"))
	}
}
