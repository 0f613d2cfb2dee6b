package webdriver_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

func TestBiDiIsNotOffered(t *testing.T) {
	t.Parallel()
	for capability, want := range map[string]string{`{}`: "", `{"webSocketUrl":true}`: "",
		`{"webSocketUrl":"http://x"}`: "not a ws or wss address", `{"webSocketUrl":"\u0000"}`: "not a ws"} {
		c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"value":{"sessionId":"s","capabilities":`+capability+`}}`)
		})
		s, err := c.NewSession(within(t), nil)
		require.NoError(t, err)
		_, err = s.BiDi(within(t))
		if want == "" {
			require.ErrorIs(t, err, webdriver.ErrNoBiDi)
			continue
		}
		var te *webdriver.TransportError
		require.ErrorAs(t, err, &te)
		require.ErrorContains(t, err, want)
	}
}

func TestBiDiSendsThePasswordToItsHubOnly(t *testing.T) {
	t.Parallel()
	got := make(chan string, 1)
	b := dial(t, func(p *peer) {
		got <- p.header.Get("Authorization")
		p.echo()
	})
	require.Equal(t, "Basic cm9ib3Q6czNjcmV0", <-got)
	b.Close()

	// The same host at another port is another service; a redirect leads to one.
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got <- r.Header.Get("Authorization")
		w.WriteHeader(http.StatusForbidden)
	}))
	t.Cleanup(elsewhere.Close)
	var socket string
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/moved" {
			http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
			return
		}
		_, _ = io.WriteString(w, `{"value":{"sessionId":"s","capabilities":{"webSocketUrl":"`+socket+`"}}}`)
	})
	var te *webdriver.TransportError
	socket = strings.Replace(elsewhere.URL, "http://", "ws://robot:other@", 1)
	s, err := c.NewSession(within(t), nil)
	require.NoError(t, err)
	_, err = s.BiDi(within(t))
	require.ErrorAs(t, err, &te)
	require.Equal(t, http.StatusForbidden, te.Status)
	require.Empty(t, <-got)
	require.NotContains(t, err.Error(), "other")

	u := strings.TrimSuffix(strings.Replace(c.Redacted, "robot:xxxxx@", "", 1), "/wd/hub/")
	socket = strings.Replace(u, "http", "ws", 1) + "/moved"
	s, err = c.NewSession(within(t), nil)
	require.NoError(t, err)
	_, err = s.BiDi(within(t))
	require.ErrorAs(t, err, &te)
	require.Equal(t, http.StatusTemporaryRedirect, te.Status)
	require.Empty(t, got)
}

func TestBiDiIsDialledOnceAndOnceMoreAfterItsEnd(t *testing.T) {
	t.Parallel()
	var dials atomic.Int32
	s := bidiSession(t, func(p *peer) {
		dials.Add(1)
		p.echo()
	})
	first, err := s.BiDi(within(t))
	require.NoError(t, err)
	same, err := s.BiDi(within(t))
	require.NoError(t, err)
	require.Same(t, first, same)
	// The remote end counts a moment after it has accepted: its response comes later.
	require.NoError(t, first.Command(within(t), "x", nil, nil))
	first.Close()
	second, err := s.BiDi(within(t))
	require.NoError(t, err)
	require.NotSame(t, first, second)
	require.NoError(t, second.Command(within(t), "x", nil, nil))
	require.EqualValues(t, 2, dials.Load())
	require.NoError(t, s.Delete(within(t)))
	<-second.Done()
	_, err = s.BiDi(within(t))
	require.ErrorContains(t, err, "closed")
}
