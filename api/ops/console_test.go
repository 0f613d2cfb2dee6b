package ops

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/hibiken/asynq"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/tasks/dispatch"
)

// TestConsole reads the page and its API over a real Redis, and tries every
// kind of write.
func TestConsole(t *testing.T) {
	t.Parallel()
	redis := openRedis(t, servicetest.RedisURL(t))
	c, err := NewConsole(redis)
	require.NoError(t, err)
	defer c.Close()
	client := asynq.NewClient(redis.Options())
	defer client.Close()
	info, err := client.Enqueue(asynq.NewTask("crash:process", []byte(`{"id":"1"}`)), asynq.Queue(tasks.Crash))
	require.NoError(t, err)

	res, body := get(t, c, http.MethodGet, ConsolePath+"/api/queues")
	require.Equal(t, 200, res.StatusCode, body)
	var queues struct {
		Queues []struct {
			Queue   string `json:"queue"`
			Pending int    `json:"pending"`
			Paused  bool   `json:"paused"`
		} `json:"queues"`
	}
	require.NoError(t, json.Unmarshal([]byte(body), &queues))
	require.Len(t, queues.Queues, 1)
	require.Equal(t, tasks.Crash, queues.Queues[0].Queue)
	require.Equal(t, 1, queues.Queues[0].Pending)

	for _, path := range []string{"/api/queues/crash", "/api/queues/crash/pending_tasks", "/api/queues/crash/tasks/" + info.ID,
		"/api/servers", "/api/scheduler_entries", "/api/redis_info"} {
		res, body := get(t, c, http.MethodGet, ConsolePath+path)
		require.Equal(t, 200, res.StatusCode, "%s: %s", path, body)
	}
	for _, tc := range []struct{ method, path string }{
		{"POST", "/api/queues/crash:pause"},
		{"POST", "/api/queues/crash:resume"},
		{"DELETE", "/api/queues/crash"},
		{"DELETE", "/api/queues/crash/pending_tasks:delete_all"},
		{"DELETE", "/api/queues/crash/pending_tasks/" + info.ID},
		{"POST", "/api/queues/crash/pending_tasks:archive_all"},
		{"POST", "/api/queues/crash/pending_tasks/" + info.ID + ":archive"},
		{"PUT", "/api/queues"}, {"PATCH", ""}, {"POST", ""}, {"OPTIONS", ""}, {"post", "/api/queues/crash:pause"},
	} {
		res, _ := get(t, c, tc.method, ConsolePath+tc.path)
		require.Equal(t, http.StatusMethodNotAllowed, res.StatusCode, "%s %s", tc.method, tc.path)
		// asynqmon's own lock holds alone too.
		if strings.HasPrefix(tc.path, "/api/") {
			res, _ = get(t, c.monitor, tc.method, ConsolePath+tc.path)
			require.Equal(t, http.StatusMethodNotAllowed, res.StatusCode, "asynqmon: %s %s", tc.method, tc.path)
		}
	}
	_, after := get(t, c, http.MethodGet, ConsolePath+"/api/queues")
	var same struct {
		Queues []struct {
			Pending int  `json:"pending"`
			Paused  bool `json:"paused"`
		} `json:"queues"`
	}
	require.NoError(t, json.Unmarshal([]byte(after), &same))
	require.Equal(t, 1, same.Queues[0].Pending)
	require.False(t, same.Queues[0].Paused)
}

var linked = regexp.MustCompile(`(?:src|href)="(/[^"]*)"`)

// TestConsolePage fetches the page and all that it names, and holds the policy
// against the page's inline scripts. No Redis: the page itself needs none.
func TestConsolePage(t *testing.T) {
	t.Parallel()
	redis, err := dispatch.OpenRedis(dispatch.RedisConfig{URL: "redis://127.0.0.1:1"})
	require.NoError(t, err)
	defer redis.Close()
	c, err := NewConsole(redis)
	require.NoError(t, err)
	defer c.Close()

	for _, path := range []string{ConsolePath, ConsolePath + "/", ConsolePath + "/queues/crash"} {
		res, body := get(t, c, http.MethodGet, path)
		require.Equal(t, 200, res.StatusCode, path)
		require.True(t, strings.HasPrefix(res.Header.Get("Content-Type"), "text/html"), path)
		require.Contains(t, body, `window.FLAG_READ_ONLY="true"`)
		require.Contains(t, body, `FLAG_ROOT_PATH="\/ops\/queues"`)

		policy := res.Header.Get("Content-Security-Policy")
		require.Contains(t, policy, "frame-ancestors 'none'")
		scripts, _, _ := strings.Cut(policy[strings.Index(policy, "script-src"):], ";")
		require.NotContains(t, scripts, "unsafe")
		inline := inlineScript.FindAllStringSubmatch(body, -1)
		require.Len(t, inline, 2)
		for _, m := range inline {
			sum := sha256.Sum256([]byte(m[1]))
			require.Contains(t, scripts, base64.StdEncoding.EncodeToString(sum[:]))
		}
		for _, m := range linked.FindAllStringSubmatch(body, -1) {
			require.True(t, strings.HasPrefix(m[1], ConsolePath+"/"), m[1])
			res, _ := get(t, c, http.MethodGet, m[1])
			require.Equal(t, 200, res.StatusCode, m[1])
			kind := res.Header.Get("Content-Type")
			switch {
			case strings.HasSuffix(m[1], ".js"):
				require.Equal(t, "application/javascript; charset=utf-8", kind)
				require.Contains(t, res.Header.Get("Cache-Control"), "max-age")
			case strings.HasSuffix(m[1], ".json"):
				require.Equal(t, "application/json; charset=utf-8", kind)
			default:
				require.True(t, strings.HasPrefix(kind, "image/"), "%s: %s", m[1], kind)
			}
			require.Equal(t, "nosniff", res.Header.Get("X-Content-Type-Options"))
		}
	}
	res, _ := get(t, c, http.MethodGet, ConsolePath+"/static/media/logo-color.c2b0c1f3.svg")
	require.Equal(t, "image/svg+xml", res.Header.Get("Content-Type"))
	for _, path := range []string{"/ops", "/ops/queuesx", "/", ConsolePath + "/api/metrics"} {
		res, _ = get(t, c, http.MethodGet, path)
		require.Equal(t, http.StatusNotFound, res.StatusCode, path)
	}
	res, _ = get(t, c, http.MethodHead, ConsolePath)
	require.Equal(t, 200, res.StatusCode)
}
