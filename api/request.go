package api

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/intake"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/tasks/logfield"
)

// serving is what the middleware knows of a request.
type serving struct {
	route *route.Route       // nil until one matched
	end   context.CancelFunc // of the route's deadline
}

const servingKey = "slipway.serving"

func served(c *gin.Context) *serving {
	s, _ := c.Value(servingKey).(*serving)
	return s
}

// observe gives the request its id, and writes its line and its count after the
// answer, also when a handler panics.
func (r *router) observe(c *gin.Context) {
	start := time.Now()
	id := requestID(c.GetHeader(respond.RequestIDHeader))
	c.Header(respond.RequestIDHeader, id)
	c.Request = c.Request.WithContext(logfield.With(c.Request.Context(), slog.String(logfield.RequestID, id)))
	respond.SetLogger(c, r.cfg.Log)
	s := &serving{}
	c.Set(servingKey, s)
	defer func() {
		if s.end != nil {
			defer s.end()
		}
		took, status := time.Since(start), c.Writer.Status()
		r.cfg.Observer.RequestServed(c.Request.Method, patternOf(s), status, took)
		r.line(c, s, status, took)
	}()
	c.Next()
}

// patternOf is the path of the route that a request matched; "" for none.
func patternOf(s *serving) string {
	if s.route == nil {
		return ""
	}
	return s.route.Path
}

// line writes the request's line; of refusals without a known caller, a sample. The context carries the request id and, after
// authentication, the caller's.
func (r *router) line(c *gin.Context, s *serving, status int, took time.Duration) {
	level := slog.LevelInfo
	if s.route != nil && s.route.Quiet && status < 300 {
		level = slog.LevelDebug
	}
	ctx := c.Request.Context()
	if !r.cfg.Log.Enabled(ctx, level) {
		return
	}
	if status >= 400 && status != http.StatusInternalServerError && auth.CallerOf(ctx) == nil &&
		!r.refusals.first(c.ClientIP(), patternOf(s), status) {
		return
	}
	attrs := []slog.Attr{slog.String("method", clip(c.Request.Method)), slog.Int("status", status),
		slog.Float64("ms", float64(took.Microseconds())/1000), slog.Int("bytes", max(0, c.Writer.Size())),
		slog.String("remote", c.ClientIP())}
	if s.route != nil {
		attrs = append(attrs, slog.String("route", s.route.Path))
	}
	if s.route == nil || s.route.Path != intake.PathRoute {
		attrs = append(attrs, slog.String("path", redact(c.Request.URL.Path)))
	}
	r.cfg.Log.LogAttrs(ctx, level, "request", attrs...)
}

const maxLogged = 256

func clip(s string) string { return strings.ToValidUTF8(s[:min(len(s), maxLogged)], "?") }

// redact keeps keys out of the log that stand in a path by mistake. The query is
// never logged: tokens and signatures stand there on purpose.
func redact(path string) string {
	if !strings.Contains(path, "slp_") {
		return clip(path)
	}
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if strings.Contains(part, "slp_") {
			parts[i] = "(key)"
		}
	}
	return clip(strings.Join(parts, "/"))
}

// requestID takes the caller's id when it is harmless in headers, logs and the
// database, and makes one otherwise: version 7, so that order is time.
func requestID(given string) string {
	if len(given) >= 8 && len(given) <= 64 && !strings.ContainsFunc(given, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.:", r))
	}) {
		return given
	}
	id, err := uuid.NewV7()
	if err != nil {
		return uuid.NewString()
	}
	return id.String()
}

// recover turns a panic into an internal error.
func (r *router) recover(c *gin.Context) {
	defer func() {
		cause := recover()
		if cause == nil {
			return
		}
		ctx := c.Request.Context()
		if cause != http.ErrAbortHandler { //nolint:errorlint // the value of a panic, as net/http compares it
			r.cfg.Log.ErrorContext(ctx, "handler panicked", "panic", fmt.Sprint(cause), "stack", string(debug.Stack()))
			if !c.Writer.Written() {
				of := interfaceOf(c.Request.URL.Path)
				if s := served(c); s.route != nil {
					of = s.route.Interface
				}
				respond.Error(c, of, fmt.Errorf("panic: %v", cause))
				return
			}
		}
		// What is out cannot be taken back; net/http cuts the connection.
		panic(http.ErrAbortHandler)
	}()
	c.Next()
}

// securityHeaders are on every answer; a handler whose answer is a page replaces
// the content policy by its own. The values are shared by all answers: handlers
// replace them, and nobody may write into them.
func securityHeaders(https bool) http.Header {
	h := http.Header{
		"X-Content-Type-Options":  {"nosniff"},
		"Referrer-Policy":         {"no-referrer"},
		"X-Frame-Options":         {"DENY"},
		"Content-Security-Policy": {"default-src 'none'; frame-ancestors 'none'; sandbox"},
		"Cache-Control":           {"no-store"},
	}
	if https {
		h["Strict-Transport-Security"] = []string{"max-age=31536000"}
	}
	return h
}

func (r *router) headers(c *gin.Context) {
	h := c.Writer.Header()
	for name, value := range r.security {
		h[name] = value
	}
	c.Next()
}
