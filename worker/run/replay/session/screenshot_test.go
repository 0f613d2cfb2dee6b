package session_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/worker/browser/webdriver"
	"github.com/slipway-qa/slipway/worker/run/replay/session"
)

// A browser that replaces one page by another has none to capture; it is asked again.
func TestRefusedScreenshotIsRequestedAgain(t *testing.T) {
	t.Parallel()
	var requests atomic.Int32
	var server *httptest.Server
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/session" {
			socket := strings.Replace(server.URL, "http", "ws", 1)
			_, _ = io.WriteString(w, `{"value":{"sessionId":"s","capabilities":{"webSocketUrl":"`+socket+`"}}}`)
			return
		}
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer conn.CloseNow()
		for {
			_, doc, err := conn.Read(r.Context())
			var command struct {
				ID     uint64
				Method string
			}
			if err != nil || json.Unmarshal(doc, &command) != nil {
				return
			}
			response := fmt.Sprintf(`{"type":"success","id":%d,"result":{"session":"d"}}`, command.ID)
			if command.Method == "goog:cdp.sendCommand" {
				response = fmt.Sprintf(`{"type":"success","id":%d,"result":{"result":{"data":"aW1hZ2U="}}}`, command.ID)
				if requests.Add(1) < 3 {
					response = fmt.Sprintf(`{"type":"error","id":%d,"error":"unknown error","message":"Unable to capture screenshot"}`, command.ID)
				}
			}
			if conn.Write(r.Context(), websocket.MessageText, []byte(response)) != nil {
				return
			}
		}
	}))
	t.Cleanup(server.Close)
	remote, err := webdriver.New(webdriver.Config{URL: server.URL})
	require.NoError(t, err)
	opened, err := remote.NewSession(t.Context(), nil)
	require.NoError(t, err)
	data, err := session.Screenshot(t.Context(), opened, "window")
	require.NoError(t, err)
	require.Equal(t, "image", string(data))
	require.EqualValues(t, 3, requests.Load())
}

func TestLargeScreenshotsAreDropped(t *testing.T) {
	t.Parallel()
	jpeg := "\xff\xd8\xff\xe0"
	require.Len(t, session.Encode([]byte(jpeg+strings.Repeat("x", 1000))), 1004)
	require.Empty(t, session.Encode([]byte(jpeg+strings.Repeat("x", 10<<20))))
	require.Empty(t, session.Encode([]byte("<html>")))
}
