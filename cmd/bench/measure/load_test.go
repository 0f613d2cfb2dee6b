package measure

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
)

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
	l := &Load{Target: target, Samples: Samples(8, 4<<10), Conns: 4, Duration: 200 * time.Millisecond}
	o, err := l.run(context.Background())
	require.NoError(t, err)
	require.Empty(t, o.refused)
	require.Equal(t, len(seen), o.Accepted)
	require.Len(t, o.Times, o.Accepted)
	require.LessOrEqual(t, o.Quantile(0.5), o.Quantile(0.99))

	l.Rate = 100
	o, err = l.run(context.Background())
	require.NoError(t, err)
	require.InDelta(t, 20, o.Accepted, 8, "a rate is kept")
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
		status, err := ReadResponse(bufio.NewReader(strings.NewReader(text)))
		if want < 0 {
			require.Error(t, err, text)
			continue
		}
		require.NoError(t, err, text)
		require.Equal(t, want, status)
	}
}
