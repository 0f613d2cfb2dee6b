package respond_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/tasks/logfield"
)

func serve(t *testing.T, ctx context.Context, handle gin.HandlerFunc) (*httptest.ResponseRecorder, string) {
	t.Helper()
	var log bytes.Buffer
	rec := httptest.NewRecorder()
	c, _ := gin.CreateTestContext(rec)
	ctx = logfield.With(ctx, slog.String(logfield.RequestID, "req-1"))
	c.Request = httptest.NewRequestWithContext(ctx, "GET", "/", nil)
	respond.SetLogger(c, slog.New(slog.NewTextHandler(&log, nil)))
	handle(c)
	return rec, log.String()
}

func TestShapes(t *testing.T) {
	t.Parallel()
	type want struct {
		status                       int
		v3, legacy, authoring, crash string
	}
	cases := map[string]struct {
		err  error
		want want
	}{
		"invalid": {fmt.Errorf("bind: %w", &storage.InvalidError{Field: "page", Msg: "must be positive"}), want{400,
			`{"error":"page: must be positive"}`, `{"status":"fail","code":1,"message":"page: must be positive"}`,
			`{"error":{"code":"INVALID_BODY","detail":"page: must be positive"}}`, `{"error":{"code":1,"message":"page: must be positive"}}`}},
		"not found": {fmt.Errorf("project 7 of table x: %w", storage.ErrNotFound), want{404,
			`{"error":"not found"}`, `{"status":"fail","code":404,"message":"not found"}`,
			`{"error":{"code":"NOT_FOUND","detail":"not found"}}`, `{"error":{"code":3,"message":"not found"}}`}},
		"own codes": {&respond.Problem{Status: 403, Text: "no", Legacy: 133, Authoring: "VARIABLE_FORBIDDEN", Crash: 7}, want{403,
			`{"error":"no"}`, `{"status":"fail","code":133,"message":"no"}`,
			`{"error":{"code":"VARIABLE_FORBIDDEN","detail":"no"}}`, `{"error":{"code":7,"message":"no"}}`}},
		"internal": {errors.New("password=hunter2"), want{500,
			`{"error":"internal error; request req-1"}`, `{"status":"fail","code":500,"message":"internal error; request req-1"}`,
			`{"error":{"code":"INTERNAL","detail":"internal error; request req-1"}}`,
			`{"error":{"code":10,"message":"internal error; request req-1"}}`}},
		"too large": {&http.MaxBytesError{Limit: 5}, want{413,
			`{"error":"the body is longer than 5 bytes"}`, `{"status":"fail","code":413,"message":"the body is longer than 5 bytes"}`,
			`{"error":{"code":"TOO_LARGE","detail":"the body is longer than 5 bytes"}}`,
			`{"error":{"code":8,"message":"the body is longer than 5 bytes"}}`}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for shape, of := range map[string]respond.Interface{tc.want.v3: respond.InterfaceV3, tc.want.legacy: respond.InterfaceLegacy,
				tc.want.authoring: respond.InterfaceAuthoring, tc.want.crash: respond.InterfaceCrash} {
				rec, log := serve(t, t.Context(), func(c *gin.Context) { respond.Error(c, of, tc.err) })
				require.Equal(t, tc.want.status, rec.Code)
				require.JSONEq(t, shape, rec.Body.String())
				require.Equal(t, "application/json; charset=utf-8", rec.Header().Get("Content-Type"))
				if tc.want.status == 500 {
					require.Contains(t, log, "hunter2")
					require.Contains(t, log, "level=ERROR")
				} else {
					require.Empty(t, log)
				}
			}
		})
	}
}

func TestHeadersOfFailures(t *testing.T) {
	t.Parallel()
	rec, log := serve(t, t.Context(), func(c *gin.Context) {
		respond.Error(c, respond.InterfaceV3, fmt.Errorf("x: %w", storage.ErrUnavailable))
	})
	require.Equal(t, 503, rec.Code)
	require.Equal(t, "5", rec.Header().Get("Retry-After"))
	require.Contains(t, log, "level=WARN")
	rec, _ = serve(t, t.Context(), func(c *gin.Context) {
		respond.Error(c, respond.InterfaceV3, &respond.Problem{Status: 429, Text: "slow", RetryAfter: 100 * time.Millisecond})
	})
	require.Equal(t, "1", rec.Header().Get("Retry-After"))
	rec, _ = serve(t, t.Context(), func(c *gin.Context) {
		respond.Error(c, respond.InterfaceAuthoring, &respond.Problem{Status: 401, Text: "who"})
	})
	require.Contains(t, rec.Header().Get("WWW-Authenticate"), "Basic")
	rec, _ = serve(t, t.Context(), func(c *gin.Context) {
		respond.Error(c, respond.InterfaceCrash, &respond.Problem{Status: 403, Text: "no"})
	})
	require.Equal(t, "*", rec.Header().Get("Access-Control-Allow-Origin"))
	rec, _ = serve(t, t.Context(), func(c *gin.Context) { respond.Error(c, respond.InterfaceLegacy, storage.ErrConflict) })
	require.Equal(t, 400, rec.Code)
	require.Contains(t, rec.Body.String(), `"code":2`)
	rec, _ = serve(t, t.Context(), func(c *gin.Context) { respond.Error(c, respond.InterfaceV3, context.DeadlineExceeded) })
	require.Equal(t, 503, rec.Code)
}

func TestNothingForACallerWhoLeft(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var status int
	rec, log := serve(t, ctx, func(c *gin.Context) {
		respond.Error(c, respond.InterfaceV3, fmt.Errorf("query: %w", ctx.Err()))
		status = c.Writer.Status()
	})
	require.Equal(t, 499, status)
	require.Zero(t, rec.Body.Len())
	require.Empty(t, log)
}

func TestJSONDoesNotEscape(t *testing.T) {
	t.Parallel()
	var err error
	rec, _ := serve(t, t.Context(), func(c *gin.Context) {
		err = respond.JSON(c, 200, map[string]string{"build_url": "http://h/?a=1&b=<c>"})
	})
	require.NoError(t, err)
	require.Equal(t, `{"build_url":"http://h/?a=1&b=<c>"}`+"\n", rec.Body.String())
	require.Equal(t, fmt.Sprint(rec.Body.Len()), rec.Header().Get("Content-Length"))
	rec, _ = serve(t, t.Context(), func(c *gin.Context) { err = respond.JSON(c, 200, make(chan int)) })
	require.ErrorContains(t, err, "chan int")
	require.Zero(t, rec.Body.Len(), "the failure is written in its place")
}
