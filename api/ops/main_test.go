package ops

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
)

func TestMain(m *testing.M) {
	code := servicetest.Main(m)
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

func fine(context.Context) error { return nil }

// get sends a request to a handler and gives status, header and body.
func get(t *testing.T, h http.Handler, method, target string) (*http.Response, string) {
	t.Helper()
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), method, target, nil))
	res := rec.Result()
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res, string(body)
}

// ready asks a readiness handler.
func ready(t *testing.T, r *Readiness) (int, report) {
	t.Helper()
	res, body := get(t, r, http.MethodGet, ReadyPath)
	require.Equal(t, "application/json; charset=utf-8", res.Header.Get("Content-Type"))
	require.Equal(t, "no-store", res.Header.Get("Cache-Control"))
	var rep report
	require.NoError(t, json.Unmarshal([]byte(body), &rep), body)
	return res.StatusCode, rep
}
