package webdriver_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

// serve returns a client with a name and password of a remote end that handle
// serves.
func serve(t *testing.T, handle http.HandlerFunc) *webdriver.Client {
	t.Helper()
	return serveWith(t, webdriver.Config{}, handle)
}

func serveWith(t *testing.T, cfg webdriver.Config, handle http.HandlerFunc) *webdriver.Client {
	t.Helper()
	server := httptest.NewServer(handle)
	t.Cleanup(server.Close)
	cfg.URL = strings.Replace(server.URL, "://", "://robot:s3cret@", 1) + "/wd/hub/"
	c, err := webdriver.New(cfg)
	require.NoError(t, err)
	return c
}

// fakeSession starts a session of a remote end that handle serves from then on.
func fakeSession(t *testing.T, id string, handle http.HandlerFunc) *webdriver.Session {
	t.Helper()
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/wd/hub/session" {
			_, _ = io.WriteString(w, `{"value":{"sessionId":"`+id+`","capabilities":{}}}`)
			return
		}
		handle(w, r)
	})
	s, err := c.NewSession(within(t), nil)
	require.NoError(t, err)
	return s
}

func TestNewClient(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", "hub:4444", "ftp://hub", "http://", "http://u:s3cret@h\x00/", "://"} {
		_, err := webdriver.New(webdriver.Config{URL: bad})
		require.Error(t, err, bad)
		require.NotContains(t, err.Error(), "s3cret")
	}
	c, err := webdriver.New(webdriver.Config{URL: "https://u:s3cret@hub/wd/hub"})
	require.NoError(t, err)
	require.Equal(t, "https://u:xxxxx@hub/wd/hub", c.Redacted)
}

func TestNewSession(t *testing.T) {
	t.Parallel()
	var body, path, method string
	response := `{"value":{"sessionId":"a/../b?c","capabilities":{"browserName":"chrome"}}}`
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		doc, _ := io.ReadAll(r.Body)
		body, path, method = string(doc), r.RequestURI, r.Method
		user, password, ok := r.BasicAuth()
		if !ok || user != "robot" || password != "s3cret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = io.WriteString(w, response)
	})
	s, err := c.NewSession(within(t), map[string]any{"browserName": "chrome"})
	require.NoError(t, err)
	require.Equal(t, "a/../b?c", s.ID)
	require.Equal(t, "chrome", s.Capabilities["browserName"])
	require.Equal(t, "/wd/hub/session", path)
	require.JSONEq(t, `{"capabilities":{"alwaysMatch":{"browserName":"chrome"},"firstMatch":[{}]}}`, body)

	response = `{"value":null}`
	require.NoError(t, s.Delete(within(t)))
	require.Equal(t, http.MethodDelete, method)
	require.Equal(t, "/wd/hub/session/a%2F..%2Fb%3Fc", path, "an id is one part of the path")

	for _, bad := range []string{`{"value":{}}`, `{"value":{"sessionId":"` + strings.Repeat("x", 5000) + `"}}`, `{"value":[]}`} {
		response = bad
		_, err = c.NewSession(within(t), nil)
		var te *webdriver.TransportError
		require.ErrorAs(t, err, &te)
	}
}

func TestRedirectsAreRefused(t *testing.T) {
	t.Parallel()
	for _, status := range []int{301, 302, 303, 307, 308} {
		var hits atomic.Int32
		elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			hits.Add(1)
			_, _ = io.WriteString(w, `{"value":{"ready":true}}`)
		}))
		c := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL, status) })
		_, err := c.Status(within(t))
		var te *webdriver.TransportError
		require.ErrorAs(t, err, &te)
		require.Equal(t, status, te.Status)
		elsewhere.Close()
		require.Zero(t, hits.Load())
	}
}

func TestErrorsHideThePassword(t *testing.T) {
	t.Parallel()
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusBadGateway)
		_, _ = io.WriteString(w, "<p>no way to http://robot:s3cret@node as "+r.Header.Get("Authorization")+"</p>")
	})
	_, err := c.Status(within(t))
	require.ErrorContains(t, err, "status 502")
	require.ErrorContains(t, err, "no way to http://*****@node as Basic *****")

	c, err = webdriver.New(webdriver.Config{URL: "http://robot:s3cret@127.0.0.1:1"})
	require.NoError(t, err)
	_, err = c.Status(within(t))
	var te *webdriver.TransportError
	require.ErrorAs(t, err, &te)
	require.Zero(t, te.Status)
	require.ErrorContains(t, err, "refused")
	require.NotContains(t, err.Error(), "s3cret")
}

// deadlineContext is a context whose deadline passes when ended is closed: a timer would
// also end a request that has not reached its server yet.
type deadlineContext struct {
	context.Context
	ended chan struct{}
}

func (c deadlineContext) Done() <-chan struct{} { return c.ended }

func (c deadlineContext) Err() error {
	select {
	case <-c.ended:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// deadlineAfter returns a context whose deadline passes with the next value of reached.
func deadlineAfter(ctx context.Context, reached <-chan struct{}) context.Context {
	ended := make(chan struct{})
	go func() {
		<-reached
		close(ended)
	}()
	return deadlineContext{ctx, ended}
}

func TestContextsThatEnd(t *testing.T) {
	t.Parallel()
	for name, partial := range map[string]string{"before the header": "", "in the body": `{"value":`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reached := make(chan struct{}, 2)
			c := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if partial != "" {
					_, _ = io.WriteString(w, partial)
					_ = http.NewResponseController(w).Flush()
				}
				reached <- struct{}{}
				<-r.Context().Done()
			})
			_, err := c.Status(deadlineAfter(t.Context(), reached))
			var te *webdriver.TransportError
			require.ErrorAs(t, err, &te)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.NotErrorIs(t, err, context.Canceled)

			why := errors.New("the run was cancelled")
			cancelling, stop := context.WithCancelCause(t.Context())
			go func() { <-reached; stop(why) }()
			_, err = c.Status(cancelling)
			require.ErrorAs(t, err, &te)
			require.ErrorIs(t, err, context.Canceled)
			require.ErrorIs(t, err, why)
		})
	}
}

func TestBodiesAreBounded(t *testing.T) {
	t.Parallel()
	c := serveWith(t, webdriver.Config{MaxBody: 1000}, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"value":{"message":"`+strings.Repeat("x", 1000)+`"}}`)
	})
	_, err := c.Status(within(t))
	require.ErrorContains(t, err, "longer than 1000 bytes")
}

func TestNullIsNoElement(t *testing.T) {
	t.Parallel()
	s := fakeSession(t, "s", func(w http.ResponseWriter, r *http.Request) {
		value := "null"
		if strings.HasSuffix(r.URL.Path, "s") {
			value = "[null]"
		}
		_, _ = io.WriteString(w, `{"value":`+value+`}`)
	})
	ctx := within(t)
	_, err := s.FindAll(ctx, webdriver.ByCSS, "a")
	require.True(t, webdriver.Is(err, webdriver.ErrNoSuchElement), "%v", err)
	var e webdriver.Element
	require.NoError(t, s.Execute(ctx, "return null", &e))
	require.Empty(t, e)
}

func TestEmptyBodiesAreDone(t *testing.T) {
	t.Parallel()
	s := fakeSession(t, "s", func(http.ResponseWriter, *http.Request) {})
	require.NoError(t, s.Click(within(t), "e"))
	require.NoError(t, s.Navigate(within(t), "http://x"))
	_, err := s.Title(within(t))
	var te *webdriver.TransportError
	require.ErrorAs(t, err, &te, "a title must come")
}

func TestPathsOfIDs(t *testing.T) {
	t.Parallel()
	var path string
	s := fakeSession(t, "..", func(w http.ResponseWriter, r *http.Request) {
		path = r.RequestURI
		_, _ = io.WriteString(w, `{"value":null}`)
	})
	_, err := s.Text(within(t), "e/1")
	require.NoError(t, err)
	require.Equal(t, "/wd/hub/session/%2E%2E/element/e%2F1/text", path)
}

func TestScriptResultsOfAnotherShape(t *testing.T) {
	t.Parallel()
	s := fakeSession(t, "s", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"value":{"a":1}}`)
	})
	var number int
	err := s.Execute(within(t), "return {a: 1}", &number)
	require.True(t, webdriver.Is(err, webdriver.ErrJavaScript), "the page returned it: %v", err)
	_, err = s.Title(within(t))
	var te *webdriver.TransportError
	require.ErrorAs(t, err, &te)
}
