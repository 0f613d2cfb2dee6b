package terminal

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// noon is when the records of these tests are made.
var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func printed(t *testing.T, h slog.Handler, buf *bytes.Buffer, at time.Time, level slog.Level, message string, attrs ...slog.Attr) string {
	t.Helper()
	buf.Reset()
	r := slog.NewRecord(at, level, message, 0)
	r.AddAttrs(attrs...)
	if h.Enabled(t.Context(), level) {
		require.NoError(t, h.Handle(t.Context(), r))
	}
	return buf.String()
}

func TestHandlerPrintsWhatIsWorthKnowing(t *testing.T) {
	t.Parallel()
	kind := func(name string) slog.Attr { return slog.String("kind", name) }
	failed := slog.Any("error", errors.New("no browser: connection refused"))
	for _, c := range []struct {
		name    string
		level   slog.Level
		message string
		attrs   []slog.Attr
		want    string
	}{
		{"a task that nobody waits for", slog.LevelInfo, "task ended", []slog.Attr{kind("schedule:tick"),
			slog.String("outcome", "succeeded")}, ""},
		{"a test", slog.LevelInfo, "task ended", []slog.Attr{kind("test:generate"), slog.String("outcome", "succeeded"), slog.Any("error", nil)},
			"a test was written from its sentence"},
		{"a task that failed", slog.LevelWarn, "task ended", []slog.Attr{kind("test:job"), slog.String("outcome", "retry"),
			failed, slog.Int("attempt", 2),
			slog.Duration("took", time.Second)}, "warning: task test:job failed, and is tried again: no browser: connection refused (attempt 2)"},
		{"a dead task", slog.LevelWarn, "task ended", []slog.Attr{kind("build:sync"), slog.String("outcome", "dead"), failed},
			"warning: task build:sync failed for good: no browser: connection refused"},
		{"an error without a reason", slog.LevelError, "chromedriver got another address", nil, "error: chromedriver got another address"},
		{"a panic without its stack", slog.LevelError, "handler panicked", []slog.Attr{slog.String("panic", "nil map"),
			slog.String("stack", "goroutine 1")},
			"error: handler panicked: nil map"},
		{"a request", slog.LevelInfo, "request", []slog.Attr{slog.String("method", "GET"), slog.Int("status", 200)}, ""},
		{"a request that failed", slog.LevelInfo, "request", []slog.Attr{slog.String("method", "GET"), slog.Int("status", 500),
			slog.String("path", "/x"),
			slog.String("request_id", "r1")}, "a request failed: GET /x (status 500, request_id r1)"},
		{"an upload", slog.LevelInfo, "request", []slog.Attr{slog.String("method", "POST"), slog.Int("status", 200),
			slog.String("route", "/api/upload/")},
			"a build was uploaded"},
		{"a refused upload", slog.LevelInfo, "request", []slog.Attr{slog.String("method", "POST"), slog.Int("status", 400),
			slog.String("route", "/api/upload")}, ""},
		{"the start", slog.LevelInfo, "api started", []slog.Attr{slog.String("listen", "x"), slog.Bool(Routine, true)}, ""},
		{"what is not marked as routine", slog.LevelInfo, "api started", []slog.Attr{slog.Bool(Routine, false)}, "api started"},
		{"a warning, whatever it is marked as", slog.LevelWarn, "odd", []slog.Attr{slog.Bool(Routine, true)}, "warning: odd"},
		{"anything else", slog.LevelInfo, "webhook suspended", []slog.Attr{slog.Int("webhook_id", 7),
			slog.Duration("after", 1500*time.Millisecond),
			slog.String("empty", ""), slog.Group("to", slog.String("host", "h"))}, "webhook suspended (webhook_id 7, after 1500 ms, to.host h)"},
		{"why", slog.LevelInfo, "webhook suspended", []slog.Attr{failed, slog.String("reason", "20 failures"),
			slog.Duration("took", time.Second)},
			"webhook suspended (error no browser: connection refused, reason 20 failures)"},
		{"an error and a reason", slog.LevelWarn, "odd", []slog.Attr{slog.String("reason", "20 failures"), failed},
			"warning: odd: no browser: connection refused (reason 20 failures)"},
		{"debug", slog.LevelDebug, "detail", nil, ""},
		{"what a terminal would obey", slog.LevelWarn, "odd\x1b]0;owned\a", []slog.Attr{slog.String("error", "a\r\nb\x1b[2J\u202ec\xff")},
			"warning: odd ]0;owned : a b [2J c?"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var buf bytes.Buffer
			if c.want != "" {
				c.want = "12:00:00  " + c.want + "\n"
			}
			require.Equal(t, c.want, printed(t, NewHandler(&buf, slog.LevelInfo), &buf, noon, c.level, c.message, c.attrs...))
		})
	}
}

func TestHandlerSaysEqualLinesOnceASecond(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind        string
		level       slog.Level
		first, more string
	}{
		{"crash:process", slog.LevelDebug, "crashes were read", "crashes were read"},
		{"symbol:index", slog.LevelInfo, "a symbol file was read", "a symbol file was read (19 more)"},
	} {
		synctest.Test(t, func(t *testing.T) {
			var buf bytes.Buffer
			log := slog.New(NewHandler(&buf, slog.LevelInfo))
			ended := func() { log.Log(t.Context(), c.level, "task ended", "kind", c.kind, "outcome", "succeeded") }
			begin := time.Now()
			said := func(after time.Duration, text string) {
				synctest.Wait()
				require.Equal(t, begin.Add(after).Format("15:04:05")+"  "+text+"\n", buf.String())
				buf.Reset()
			}
			ended()
			said(0, c.first)
			for range 19 {
				ended()
			}
			require.Empty(t, buf.String())
			time.Sleep(time.Second)
			said(time.Second, c.more)
			time.Sleep(1500 * time.Millisecond)
			synctest.Wait()
			require.Empty(t, buf.String(), "nothing came since")
			ended()
			said(2500*time.Millisecond, c.first)
			time.Sleep(time.Second)
		})
	}
}

func TestHandlerLeavesNothingOutAtDebugLevel(t *testing.T) {
	t.Parallel()
	var buf bytes.Buffer
	h := NewHandler(&buf, slog.LevelDebug)
	stack := strings.Repeat("main.go ", maxLine)
	out := printed(t, h, &buf, noon, slog.LevelWarn, "task ended", slog.String("kind", "test:job"), slog.String("outcome", "retry"),
		slog.String("error", "no browser"), slog.Duration("took", time.Second), slog.String("request_id", "r1"), slog.String("stack", stack))
	require.Equal(t, "12:00:00  WARN task ended (kind test:job, outcome retry, error no browser, took 1000 ms, request_id r1, stack "+
		strings.TrimSpace(stack)+" )\n", out)
	require.Equal(t, out, printed(t, h, &buf, noon, slog.LevelWarn, "task ended", slog.String("kind", "test:job"),
		slog.String("outcome", "retry"),
		slog.String("error", "no browser"), slog.Duration("took", time.Second), slog.String("request_id", "r1"), slog.String("stack", stack)),
		"no line is held back")
}

func TestHandlerLevels(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ handler, record slog.Level }{
		{slog.LevelDebug, slog.LevelDebug}, {slog.LevelDebug, slog.LevelInfo}, {slog.LevelInfo, slog.LevelInfo}, {slog.LevelInfo, slog.LevelWarn},
		{slog.LevelInfo, slog.LevelDebug}, {slog.LevelWarn, slog.LevelInfo}, {slog.LevelWarn, slog.LevelWarn}, {slog.LevelError, slog.LevelWarn},
		{slog.LevelError, slog.LevelError},
	} {
		var buf bytes.Buffer
		out := printed(t, NewHandler(&buf, c.handler), &buf, noon, c.record, "something")
		require.Equal(t, c.record >= c.handler, out != "", "%v at %v: %q", c.record, c.handler, out)
	}
}

func TestHandlerAttributesAndLength(t *testing.T) {
	t.Parallel()
	var buf bytes.Buffer
	h := NewHandler(&buf, slog.LevelInfo).WithAttrs([]slog.Attr{slog.String("tier",
		"worker")}).WithGroup("in").WithAttrs([]slog.Attr{slog.Int("a", 1)})
	require.Equal(t, "12:00:00  odd (tier worker, in.a 1, in.b 2)\n", printed(t, h, &buf, noon, slog.LevelInfo, "odd", slog.Int("b", 2)))
	out := printed(t, NewHandler(&buf, slog.LevelInfo), &buf, noon, slog.LevelWarn, "odd", slog.String("error", strings.Repeat("ü", 10_000)))
	require.Len(t, []rune(out), len("12:00:00  ")+maxLine+1)
	require.Equal(t, 1, strings.Count(out, "\n"))
}

func TestSparse(t *testing.T) {
	t.Parallel()
	var buf bytes.Buffer
	log := slog.New(slog.NewJSONHandler(&buf, &slog.HandlerOptions{ReplaceAttr: Sparse}))
	log.Info("", "took", 1234567*time.Nanosecond, "error", nil, "text", "", "number", 0, "off", false, "reason", errors.New("x"))
	var line map[string]any
	require.NoError(t, json.Unmarshal(buf.Bytes(), &line))
	delete(line, "time")
	require.Equal(t, map[string]any{"level": "INFO", "msg": "", "took_ms": 1.234, "number": 0.0, "off": false, "reason": "x"}, line)
}
