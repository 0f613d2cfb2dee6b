// Package api is the thin tier: it authenticates, validates, writes one
// transaction and responds. Everything slow becomes a row of the task ledger.
//
// Each room lists its routes once; Rooms.Routes is all of them. New returns the
// handler that serves them: around every route run the request's id, the log line,
// recovery from panics, security headers, a deadline, a bound on the body and the
// authentication of the route's action. What a handler returns is written in the
// shape of the route's interface.
//
// Paths are served with and without a trailing slash, never redirected. For a path
// that no route has the answer is 404, or 405 with Allow, in the shape of the
// interface that its prefix belongs to. `/{universe}/{token}/{format}` could be
// nearly any path, so it is tried last, and only for the formats of crash submission
// or when its second segment has the form of a crash token.
//
// HEAD is served wherever GET is. No client holds a connection for good: reads
// and writes have deadlines, on paths that no route has as well.
//
// Nothing of the inside reaches a caller: a panic is logged with its stack, and the
// answer is an internal error with the request's id. When the answer has begun
// the connection is cut, so that half an answer is not taken for a whole one.
// Tokens in paths and queries never reach the log.
package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/intake"
	"github.com/slipway-qa/slipway/api/pace"
	"github.com/slipway-qa/slipway/api/route"
)

// Config is what the router is made from. Log, Auth and Routes are required.
type Config struct {
	Log  *slog.Logger
	Auth *auth.Authenticator
	// Routes are those of Rooms.
	Routes []route.Route
	// Console has the pages of the console; nil: there are none.
	Console Console
	// Inside are rooms whose handlers ask the api's own routes on behalf of their caller.
	Inside []Inside

	// Observer counts each request after its answer; may be nil.
	Observer Observer
	// TrustedProxies are addresses and networks whose X-Forwarded-For is
	// believed; none by default, for anybody could send the header.
	TrustedProxies []string
	// RequestTimeout ends the context of an ordinary request; default 30 s.
	RequestTimeout time.Duration
	// BodyGrace is what a body has to arrive before its rate counts (8 KiB/s);
	// default 30 s: a phone may change its network in the middle of it.
	BodyGrace time.Duration
	// MaxBody bounds an ordinary body in bytes; default 1 MiB.
	MaxBody int64
	// Shared are the rooms of routes that read many rows; nil: NewShared(0).
	Shared *Shared
	// HTTPS: callers come by TLS, and browsers are told to keep to it.
	HTTPS bool
}

// Inside is what asks the api's own routes.
type Inside interface {
	// Connect leads it to the api: the handler serves a request on behalf of the caller in
	// its context, by the rules of the route that it matches.
	Connect(api http.Handler)
}

// Console is a set of pages over the routes of the api.
type Console interface {
	Inside
	// Pages are the routes of the pages.
	Pages() []route.Route
	// Unmatched writes why no page serves a request below the pages' address.
	Unmatched(c *gin.Context, err error)
}

// Observer counts requests. route is the pattern of the list, "" when none
// matched; method is the caller's text.
type Observer interface {
	RequestServed(method, route string, status int, took time.Duration)
}

type silent struct{}

func (silent) RequestServed(string, string, int, time.Duration) {}

const (
	defaultTimeout = 30 * time.Second
	// defaultBody is far above any JSON document of the interfaces; uploads and
	// crash reports have bounds of their own.
	defaultBody = 1 << 20
	// answerGrace is what a client has to take the answer after the deadline of
	// its request.
	answerGrace = 30 * time.Second
)

type router struct {
	cfg      Config
	late     map[string]gin.HandlerFunc // intake.PathRoute, by method
	security http.Header
	refusals *refusals
}

// New returns the handler of the whole api.
func New(cfg Config) (http.Handler, error) {
	if cfg.Log == nil || cfg.Auth == nil {
		return nil, errors.New("api: log and authenticator are required")
	}
	if cfg.Observer == nil {
		cfg.Observer = silent{}
	}
	if cfg.RequestTimeout <= 0 {
		cfg.RequestTimeout = defaultTimeout
	}
	if cfg.MaxBody <= 0 {
		cfg.MaxBody = defaultBody
	}
	if cfg.Shared == nil {
		cfg.Shared = NewShared(0)
	}
	if cfg.BodyGrace <= 0 {
		cfg.BodyGrace = pace.DefaultGrace
	}
	gin.SetMode(gin.ReleaseMode)
	g := gin.New()
	g.ContextWithFallback = true
	g.RedirectTrailingSlash = false
	g.RedirectFixedPath = false
	g.HandleMethodNotAllowed = true
	if err := g.SetTrustedProxies(cfg.TrustedProxies); err != nil {
		return nil, fmt.Errorf("api: trusted proxies: %w", err)
	}
	r := &router{cfg: cfg, late: map[string]gin.HandlerFunc{}, security: securityHeaders(cfg.HTTPS), refusals: newRefusals(cfg.Log)}
	g.Use(r.observe, r.recover, r.headers)
	own := map[string]bool{} // paths whose HEAD stands in the list
	for _, line := range cfg.Routes {
		if line.Method == http.MethodHead {
			own[line.Path] = true
		}
	}
	lines := cfg.Routes
	inside := r.inside()
	for _, room := range cfg.Inside {
		room.Connect(inside)
	}
	if cfg.Console != nil {
		cfg.Console.Connect(inside)
		lines = slices.Concat(lines, cfg.Console.Pages())
	}
	for _, line := range lines {
		handler, err := r.handler(line)
		if err != nil {
			return nil, fmt.Errorf("api: route %s %s: %w", line.Method, line.Path, err)
		}
		if line.Path == intake.PathRoute {
			r.late[line.Method] = handler
			continue
		}
		for _, path := range spellings(line.Path) {
			g.Handle(line.Method, path, handler)
			if line.Method == http.MethodGet && !own[line.Path] {
				g.Handle(http.MethodHead, path, handler) // net/http drops the body
			}
		}
	}
	g.NoRoute(r.noRoute)
	g.NoMethod(r.noMethod)
	return oneSlash(g), nil
}

// oneSlash serves //post as /post: clients of crash submission append "/post" to an address
// that ends in a slash. Other paths stay as they are.
func oneSlash(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if path := r.URL.Path; path == "//post" || path == "//post/" {
			r.URL.Path, r.URL.RawPath = path[1:], ""
		}
		next.ServeHTTP(w, r)
	})
}

// spellings are the paths under which a route is served.
func spellings(path string) []string {
	if path == "/" {
		return []string{path}
	}
	paths := []string{path}
	if rest, ok := strings.CutPrefix(path, "/api/v3/"); ok {
		paths = append(paths, "/api/3/"+rest)
	}
	if rest, ok := strings.CutPrefix(path, "/v1/ai-authoring/"); ok {
		paths = append(paths, "/ai-authoring/v1/"+rest)
	}
	if strings.Contains(path, "*") {
		return paths
	}
	for _, p := range slices.Clone(paths) {
		if p == "/ops/queues" {
			continue // the catch-all below it has the slash
		}
		paths = append(paths, p+"/")
	}
	return paths
}

// handler puts around a route's handler what the route says.
func (r *router) handler(line route.Route) (gin.HandlerFunc, error) {
	if line.Handler == nil {
		return nil, errors.New("no handler")
	}
	if (line.Action == "") == (line.Public == "") {
		return nil, errors.New("needs either an action or the reason why it is public")
	}
	var guard func(*gin.Context) error
	if line.Action != "" {
		var err error
		if guard, err = r.cfg.Auth.Check(line.Interface, line.Action); err != nil {
			return nil, err
		}
	}
	line.Handler = r.cfg.Shared.around(line)
	deadline, body := line.Deadline, line.Body
	if deadline == 0 {
		deadline = r.cfg.RequestTimeout
	}
	if body == 0 {
		body = r.cfg.MaxBody
	}
	return func(c *gin.Context) {
		s, end := served(c), deadline
		s.route = &line
		if line.DeadlineOf != nil {
			end = cmp.Or(line.DeadlineOf(c), deadline)
		}
		r.bound(c, s, end)
		if body > 0 && c.Request.Body != nil {
			if c.Request.ContentLength > body {
				line.Refuse(c, &http.MaxBytesError{Limit: body})
				return
			}
			c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, body)
		}
		if guard != nil {
			if err := guard(c); err != nil {
				line.Refuse(c, err)
				return
			}
		}
		line.Serve(c)
	}, nil
}

// bound sets the times of a request: its context ends at the deadline, its body
// must arrive before that and keep its rate, also when nobody reads it (net/http
// does, up to 256 KiB, before the answer goes out), and the answer must be taken
// answerGrace after it at the latest.
func (r *router) bound(c *gin.Context, s *serving, deadline time.Duration) {
	ctx, cancel := context.WithTimeout(c.Request.Context(), deadline)
	s.end = cancel // by observe: a panic is still to be answered
	c.Request = c.Request.WithContext(ctx)
	end, _ := ctx.Deadline()
	control := http.NewResponseController(c.Writer)
	// Writers without a connection, such as tests', refuse.
	_ = control.SetWriteDeadline(end.Add(answerGrace))
	if c.Request.Body != nil && c.Request.ContentLength != 0 {
		pace.Start(c, r.cfg.BodyGrace, end)
	}
}
