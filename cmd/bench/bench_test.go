package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/report"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint"
)

func TestSamplesAreRealReports(t *testing.T) {
	t.Parallel()
	for name, goal := range crashTargets {
		groups := map[[32]byte]bool{}
		for _, s := range samples(100, goal.bytes) {
			require.InDelta(t, goal.bytes, len(s.body), float64(goal.bytes)/10, name)
			require.Equal(t, placeholder, string(s.body[s.uuid:][:len(placeholder)]))
			head, err := report.Check(s.body, report.DefaultLimits())
			require.NoError(t, err)
			r, err := report.Parse(head.Document)
			require.NoError(t, err)
			groups[fingerprint.Compute(r).Key] = true
		}
		require.Greater(t, len(groups), 20, name)
		require.LessOrEqual(t, len(groups), 50, name)
	}
}

func TestLoadSendsEveryUUIDOnce(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	seen := map[string]bool{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var doc struct{ UUID string }
		if err == nil {
			err = json.Unmarshal(body, &doc)
		}
		mu.Lock()
		again := seen[doc.UUID]
		seen[doc.UUID] = true
		mu.Unlock()
		if err != nil || again {
			w.WriteHeader(http.StatusBadRequest)
		}
		_, _ = io.WriteString(w, `{"response":"ok"}`)
	}))
	defer server.Close()
	target, err := url.Parse(server.URL + "/post?x=1")
	require.NoError(t, err)
	l := &load{target: target, samples: samples(8, 4<<10), conns: 4, duration: 200 * time.Millisecond}
	o, err := l.run(context.Background())
	require.NoError(t, err)
	require.Empty(t, o.refused)
	require.Equal(t, len(seen), o.accepted)
	require.Len(t, o.times, o.accepted)
	require.LessOrEqual(t, o.quantile(0.5), o.quantile(0.99))

	l.rate = 100
	o, err = l.run(context.Background())
	require.NoError(t, err)
	require.InDelta(t, 20, o.accepted, 8, "a rate is kept")
}

func TestReadAnswer(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok":                 200,
		"HTTP/1.1 503 Service Unavailable\r\ncontent-length:  0\r\n\r\n": 503,
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n": -1,
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nok":                 -1,
		"HTTP/1.1 2x0 OK\r\nContent-Length: 0\r\n\r\n":                   -1,
		"nonsense\r\n":           -1,
		"HTTP/1.1 200 OK\r\nCon": -1,
	} {
		status, err := readResponse(bufio.NewReader(strings.NewReader(text)))
		if want < 0 {
			require.Error(t, err, text)
			continue
		}
		require.NoError(t, err, text)
		require.Equal(t, want, status)
	}
}
