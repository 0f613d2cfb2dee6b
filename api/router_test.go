package api_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api"
	"github.com/slipway-qa/slipway/api/intake"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/route"
)

func TestPathsAndShapes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for _, tc := range []struct {
		method, path string
		status       int
		text         string
	}{
		// Both spellings, no redirect.
		{"GET", "/healthz", 200, ""}, {"GET", "/healthz/", 200, ""},
		{"GET", "/api/v3/tasks/", 401, ""}, {"GET", "/api/3/tasks", 401, ""}, {"GET", "/api/3/tasks/", 401, ""},
		{"GET", "/ops/mail", 401, ""}, {"GET", "/ops/mail/", 401, ""}, {"GET", "/objects/a/b.txt", 200, ""},
		{"POST", "/post/?token=x", 200, ""}, {"POST", "/api/post/", 200, ""}, {"POST", "//post?token=x", 200, ""},
		{"OPTIONS", "//post/", 200, ""},
		// The crash path, last and for known formats only.
		{"POST", "/universe/token/json", 200, "stub universe token json"}, {"POST", "/u/t/minidump/", 200, "stub u t minidump"},
		{"OPTIONS", "/u/t/plcrash", 200, "stub u t plcrash"},
		{"POST", "/u/t/unreal", 200, "stub u t unreal"},
		{"GET", "/u/t/json", 405, `{"error":{"code":1`}, {"POST", "/u/t/xml", 404, `{"error":"`},
		// An unknown format behind a token is for the receiver to refuse.
		{"POST", "/u/slp_local_crash_" + strings.Repeat("a", 40) + "/xml", 200, "stub u slp_local_crash_"},
		{"POST", "/u/" + strings.Repeat("0aF", 21) + "9/xml/", 200, "stub u 0aF"},
		{"GET", "/u/" + strings.Repeat("0aF", 21) + "9/xml", 405, `{"error":{"code":1`},
		{"POST", "/u/slp_local_api_" + strings.Repeat("a", 40) + "/xml", 404, `{"error":"`},
		{"POST", "/u/" + strings.Repeat("0aF", 21) + "/xml", 404, `{"error":"`},
		{"POST", "/api/" + strings.Repeat("0aF", 21) + "9/xml", 404, `{"error":"`},
		{"POST", "/u/t/json/more", 404, `{"error":"`}, {"POST", "//t/json", 404, `{"error":"`},
		// It shadows nothing.
		{"POST", "/api/v3/tasks", 405, `{"error":"`}, {"POST", "/api/v3/json", 404, `{"error":"`},
		{"POST", "/ops/queues/json", 405, `{"error":"`}, {"DELETE", "/api/v3/tasks", 405, `{"error":"`},
		// 404 and 405 in the shape of the interface.
		{"GET", "/", 404, `{"error":"`}, {"GET", "/api/v3/nothing", 404, `{"error":"`},
		{"GET", "/api/1/nothing", 404, `{"code":404,"message":`}, {"GET", "/api/2/", 404, `{"code":404,"message":`},
		{"POST", "/api/upload/x", 404, `{"code":404,"message":`}, {"GET", "/api/12", 404, `{"error":"`},
		{"GET", "/v1/ai-authoring/x", 404, `{"error":{"code":"NOT_FOUND"`}, {"GET", "/ai-authoring/v1/x", 404, `{"error":{"code":"NOT_FOUND"`},
		{"GET", "/post", 405, `{"error":{"code":1`}, {"PUT", "/api/post", 405, `{"error":{"code":1`},
		{"BREW", "/healthz", 405, `{"error":"`},
	} {
		rec := w.do(t, tc.method, tc.path)
		require.Equal(t, tc.status, rec.Code, "%s %s: %s", tc.method, tc.path, rec.Body)
		require.Contains(t, rec.Body.String(), tc.text, "%s %s", tc.method, tc.path)
		require.NotEmpty(t, rec.Header().Get("X-Request-Id"))
		require.Equal(t, "nosniff", rec.Header().Get("X-Content-Type-Options"))
		if tc.status == 405 {
			require.NotEmpty(t, rec.Header().Get("Allow"), "%s %s", tc.method, tc.path)
		}
		if strings.Contains(tc.text, `{"error":{"code":1`) {
			require.Equal(t, "*", rec.Header().Get("Access-Control-Allow-Origin"))
		}
	}
}

// Symbol files are as large as builds, and have as long to arrive.
func TestDeadlineOfSymbolFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(cfg *api.Config) {
		left := func(c *gin.Context) error {
			end, _ := c.Request.Context().Deadline()
			c.String(http.StatusOK, "%t", time.Until(end) > route.StreamDeadline)
			return nil
		}
		for _, path := range []string{"/post", "/api/post", intake.PathRoute} {
			replace(cfg.Routes, "POST", path, left)
		}
	})
	for path, long := range map[string]string{
		"/post?format=symbols": "true", "/api/post?token=x&format=proguard": "true", "/u/t/sourcemap": "true", "//post?format=sourcemap": "true",
		"/post": "false", "/post?format=json": "false", "/post?format=minidump": "false", "/u/t/json?format=symbols": "false",
	} {
		rec := httptest.NewRecorder()
		w.api.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), "POST", path, nil))
		require.Equal(t, long, rec.Body.String(), path)
	}
}

func TestRequestID(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	rec := w.do(t, "GET", "/healthz", header("X-Request-Id", "ci-job-12345"))
	require.Equal(t, "ci-job-12345", rec.Header().Get("X-Request-Id"))
	for _, bad := range []string{"", "short", strings.Repeat("x", 65), "has space in it", "line\nbreak12", "quote\"12345", "üüüüüüüü"} {
		rec := w.do(t, "GET", "/healthz", header("X-Request-Id", bad))
		require.Regexp(t, `^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-`, rec.Header().Get("X-Request-Id"), "%q", bad)
	}
}

func TestPanicsDoNotReachCallers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(cfg *api.Config) {
		replace(cfg.Routes, "GET", "/healthz", func(*gin.Context) error { panic("secret detail") })
		replace(cfg.Routes, "POST", "/post", func(c *gin.Context) error { panic(c.Request.Header["None"][:1]) })
		replace(cfg.Routes, "GET", "/metrics", func(c *gin.Context) error {
			c.String(http.StatusOK, "half")
			c.Writer.Flush()
			panic("after the first byte")
		})
		replace(cfg.Routes, "GET", "/readyz", func(c *gin.Context) error { return errors.New("secret cause") })
	})
	rec := w.do(t, "GET", "/healthz")
	require.Equal(t, 500, rec.Code)
	require.NotContains(t, rec.Body.String(), "secret")
	require.Contains(t, rec.Body.String(), rec.Header().Get("X-Request-Id"))
	require.Equal(t, "GET /healthz Internal Server Error", w.seen.last())
	require.Contains(t, w.log.String(), "secret detail")
	require.Contains(t, w.log.String(), "router_test.go", "the stack")

	rec = w.do(t, "POST", "/u/t/json")
	require.Equal(t, 200, rec.Code)
	rec = w.do(t, "POST", "/post")
	require.Equal(t, 500, rec.Code)
	require.Contains(t, rec.Body.String(), `{"error":{"code":10`)
	rec = w.do(t, "GET", "/readyz")
	require.Equal(t, 500, rec.Code)
	require.NotContains(t, rec.Body.String(), "secret")
	require.Contains(t, w.log.String(), "secret cause")

	server := httptest.NewServer(w.api)
	defer server.Close()
	resp, err := server.Client().Get(server.URL + "/metrics")
	require.NoError(t, err)
	defer resp.Body.Close()
	_, err = io.ReadAll(resp.Body)
	require.Error(t, err, "half an answer must not look whole")
}

func TestBodiesAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(cfg *api.Config) {
		cfg.MaxBody = 10
		read := func(c *gin.Context) error {
			if _, err := io.ReadAll(c.Request.Body); err != nil {
				return err
			}
			return respond.Empty(c, http.StatusOK)
		}
		replace(cfg.Routes, "PATCH", "/api/v3/crash-groups/:id", read)
		replace(cfg.Routes, "POST", "/post", read)
	})
	owner := key(w.ours.Owner.APIKey)
	require.Equal(t, 200, w.do(t, "PATCH", "/api/v3/crash-groups/1", owner, body("0123456789")).Code)
	rec := w.do(t, "PATCH", "/api/v3/crash-groups/1", owner, body("0123456789a"))
	require.Equal(t, 413, rec.Code)
	require.JSONEq(t, `{"error":"the body is longer than 10 bytes"}`, rec.Body.String())
	rec = w.do(t, "PATCH", "/api/v3/crash-groups/1", owner, body("0123456789a"), func(r *http.Request) { r.ContentLength = -1 })
	require.Equal(t, 413, rec.Code, "chunked")
	require.Equal(t, 200, w.do(t, "POST", "/post", body(strings.Repeat("x", 1000))).Code, "the intake has its own bounds")
}

func TestLogLine(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	secret := w.ours.Crash.Token
	w.do(t, "POST", "/post?token="+secret)
	w.do(t, "POST", "/u/"+secret+"/json")
	w.do(t, "POST", "/u/"+secret+"/wrong")
	w.do(t, "POST", "/u/"+secret+"/wrong/more")
	w.do(t, "GET", "/objects/a?signature="+secret)
	for _, path := range []string{"/session/slp_link_hidden", "/session/slp%5flink_hidden", "/invite/slp_inv_1_hidden/",
		"/mail/unsubscribe/slp_mail_hidden",
		"/udid/done?result=hidden", "/api/1/sdk/update?token=hidden", "/install/a/manifest.plist?ticket=hidden"} {
		w.do(t, "GET", path)
	}
	w.do(t, "GET", "/api/v3/tasks", key(w.ours.Owner.APIKey), header("X-Request-Id", "find-me-please"))
	text := w.log.String()
	require.NotContains(t, text, secret)
	require.NotContains(t, text, w.ours.Owner.APIKey)
	require.NotContains(t, text, "hidden")
	var found map[string]any
	levels := map[string]string{}
	for line := range bytes.Lines([]byte(text)) {
		var entry map[string]any
		require.NoError(t, json.Unmarshal(line, &entry))
		if entry["msg"] != "request" {
			continue
		}
		route, _ := entry["route"].(string)
		levels[route] = entry["level"].(string)
		if entry["request_id"] == "find-me-please" {
			require.Nil(t, found, "one line a request")
			found = entry
		}
	}
	require.NotNil(t, found)
	require.Equal(t, "/api/v3/tasks", found["route"])
	require.EqualValues(t, 200, found["status"])
	require.EqualValues(t, w.ours.Organization.ID, found["organization_id"])
	require.Equal(t, "DEBUG", levels["/post"])
	require.Equal(t, "DEBUG", levels["/:universe/:token/:format"])
	require.Equal(t, "INFO", levels["/api/v3/tasks"])
	require.Equal(t, "INFO", levels[""], "a 404 has no route")
}

func TestForwardedAddressOnlyFromTrustedProxies(t *testing.T) {
	t.Parallel()
	var seen string
	change := func(cfg *api.Config) {
		replace(cfg.Routes, "GET", "/healthz", func(c *gin.Context) error {
			seen = c.ClientIP()
			return nil
		})
	}
	w := newWorld(t, change)
	w.do(t, "GET", "/healthz", header("X-Forwarded-For", "203.0.113.9"))
	require.Equal(t, "192.0.2.1", seen)
	cfg := w.cfg
	cfg.TrustedProxies = []string{"192.0.2.0/24"}
	var err error
	w.api, err = api.New(cfg)
	require.NoError(t, err)
	w.do(t, "GET", "/healthz", header("X-Forwarded-For", "203.0.113.9"))
	require.Equal(t, "203.0.113.9", seen)
	cfg.TrustedProxies = []string{"nonsense"}
	_, err = api.New(cfg)
	require.Error(t, err)
}

func TestMissingHandlerIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	cfg := w.cfg
	cfg.Routes = slices.Clone(cfg.Routes)
	replace(cfg.Routes, "DELETE", "/api/v3/crashes", nil)
	_, err := api.New(cfg)
	require.ErrorContains(t, err, "DELETE /api/v3/crashes")
	cfg = w.cfg
	for _, r := range emptyRooms().Routes() {
		if r.Path == "/objects/*key" {
			replace(cfg.Routes, r.Method, r.Path, r.Handler)
		}
	}
	h, err := api.New(cfg)
	require.NoError(t, err)
	w.api = h
	require.Equal(t, 404, w.do(t, "GET", "/objects/a").Code)
}

// TestHeadWhereverGet walks the list: HEAD is answered as GET is, but for the
// body.
func TestHeadWhereverGet(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	server := httptest.NewServer(w.api)
	defer server.Close()
	for _, route := range w.cfg.Routes {
		if route.Method != http.MethodGet {
			continue
		}
		for _, path := range []string{address(route), strings.Replace(address(route), "/api/v3/", "/api/3/", 1)} {
			status := map[string]int{}
			for _, method := range []string{http.MethodGet, http.MethodHead} {
				req, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, nil)
				require.NoError(t, err)
				key(w.ours.Owner.APIKey)(req)
				resp, err := server.Client().Do(req)
				require.NoError(t, err)
				body, err := io.ReadAll(resp.Body)
				require.NoError(t, err)
				require.NoError(t, resp.Body.Close())
				require.Equal(t, method == http.MethodGet, len(body) > 0, "%s %s", method, path)
				status[method] = resp.StatusCode
			}
			require.Equal(t, status["GET"], status["HEAD"], path)
			require.NotEqual(t, 405, status["HEAD"], path)
		}
	}
}

// TestNoConnectionIsHeldForGood sends the begin of a body and waits for the end
// of the connection.
func TestNoConnectionIsHeldForGood(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(cfg *api.Config) {
		cfg.BodyGrace, cfg.RequestTimeout = 200*time.Millisecond, 10*time.Second
		replace(cfg.Routes, "POST", "/post", func(c *gin.Context) error {
			_, err := io.ReadAll(c.Request.Body)
			return &respond.Problem{Status: http.StatusBadRequest, Text: "late", Err: err}
		})
	})
	server := httptest.NewServer(w.api)
	t.Cleanup(server.Close)
	for request, status := range map[string]int{
		"POST /nothing HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nabc":                   404,
		"POST /nothing HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3e8\r\nabc":      404,
		"POST /u/t/xml HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nabc":                   404,
		"PUT /u/t/json HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nabc":                   405,
		"POST /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nabc":                   405,
		"GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nabc":                    200,
		"POST /api/v3/tasks/1/retry HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nabc":      401,
		"PATCH /api/v3/crash-groups/1 HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999\r\n\r\nabc": 413,
		"POST /post HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nabc":                      400,
	} {
		t.Run(request, func(t *testing.T) {
			t.Parallel()
			conn, err := net.Dial("tcp", strings.TrimPrefix(server.URL, "http://"))
			require.NoError(t, err)
			defer conn.Close()
			require.NoError(t, conn.SetDeadline(time.Now().Add(time.Minute)))
			_, err = io.WriteString(conn, request)
			require.NoError(t, err)
			answer, err := io.ReadAll(conn)
			require.NoError(t, err, "the connection is closed long before the client's deadline")
			require.Contains(t, string(answer), fmt.Sprintf("HTTP/1.1 %d ", status))
		})
	}
}

// A handler may take longer than a body: the body's deadline does not end it.
func TestDeadlineOfABodyThatArrived(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(cfg *api.Config) {
		cfg.BodyGrace = 50 * time.Millisecond
		replace(cfg.Routes, "POST", "/post", func(c *gin.Context) error {
			_, err := io.ReadAll(c.Request.Body)
			select {
			case <-c.Request.Context().Done():
				err = c.Request.Context().Err()
			case <-time.After(300 * time.Millisecond): // six times the body's
			}
			if err != nil {
				return err
			}
			return respond.Empty(c, http.StatusOK)
		})
	})
	server := httptest.NewServer(w.api)
	defer server.Close()
	resp, err := server.Client().Post(server.URL+"/post", "text/plain", strings.NewReader("x"))
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, 200, resp.StatusCode)
}

func FuzzPath(f *testing.F) {
	for _, s := range []string{"/u/t/json", "/api/v3/tasks/x", "/post/", "//", "/%2e%2e/x/json", "/objects/../../etc", "/api/1/\x00"} {
		f.Add("POST", s)
	}
	h, err := routerWithoutServices()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, method, path string) {
		if method == "" || !strings.HasPrefix(path, "/") {
			return
		}
		r := httptest.NewRequest("GET", "/", nil)
		r.Method, r.URL.Path = method, path
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		if rec.Code >= 500 || rec.Code/100 == 3 {
			t.Fatalf("%s %q: %d %s", method, path, rec.Code, rec.Body)
		}
		if rec.Code >= 400 && !json.Valid(rec.Body.Bytes()) {
			t.Fatalf("%s %q: not JSON: %s", method, path, rec.Body)
		}
	})
}
