package abuse

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"

	"github.com/slipway-qa/slipway/cmd/bench/process"
)

// stubHub is a WebDriver hub whose browsers show an empty page: enough for cases that
// pause. It starts a session at once, one whose capabilities contain slowSession after
// longRun.
type stubHub struct {
	server   *httptest.Server
	url      string
	sessions atomic.Int64
}

// slowSession is the name of sessions that take their time.
const slowSession = "slow-session"

func startStubHub() *stubHub {
	h := &stubHub{}
	h.server = httptest.NewServer(h)
	h.url = h.server.URL
	return h
}

func (h *stubHub) close() {
	h.server.CloseClientConnections()
	h.server.Close()
}

// ServeHTTP implements http.Handler (www.w3.org/TR/webdriver2).
func (h *stubHub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var value any
	switch {
	case r.Method == http.MethodPost && r.URL.Path == "/session":
		capabilities, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
		if err != nil || bytes.Contains(capabilities, []byte(slowSession)) && process.Sleep(r.Context(), longRun) != nil {
			return
		}
		value = map[string]any{"sessionId": fmt.Sprint("s", h.sessions.Add(1)),
			"capabilities": map[string]any{"browserName": "chrome", "browserVersion": "130.0", "platformName": "linux"}}
	case r.URL.Path == "/status":
		value = map[string]any{"ready": true, "message": "ready"}
	case strings.HasSuffix(r.URL.Path, "/window/handles"):
		value = []string{"w1"}
	case strings.HasSuffix(r.URL.Path, "/window"):
		value = "w1"
	case strings.HasSuffix(r.URL.Path, "/url"):
		value = "about:blank"
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_ = json.NewEncoder(w).Encode(map[string]any{"value": value})
}
