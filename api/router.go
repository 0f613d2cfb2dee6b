// Package api is the thin tier: it authenticates, validates, writes one
// transaction and answers. Everything slow becomes a row of the task ledger.
//
// All routes of all interfaces stand in one list (Routes). New makes the handler
// out of it: around every route run the request's id, the log line, recovery from
// panics, security headers, a deadline, a bound on the body and the
// authentication of the route's action. Rooms hand in their handlers by Config.
//
// Paths are served with and without a trailing slash, never redirected. A path
// that no route has is answered in the shape of the interface that its prefix
// belongs to: 404, or 405 with Allow. `/{universe}/{token}/{format}` could be
// nearly any path, so it is tried last, and only for the formats of crash submission or
// when its second segment has the form of a crash token.
//
// HEAD is served wherever GET is. No client holds a connection for good: reads
// and writes have deadlines, on paths that no route has as well.
//
// Nothing of the inside reaches a caller: a panic is logged with its stack and
// answered as an internal error with the request's id. When the answer has begun
// the connection is cut, so that half an answer is not taken for a whole one.
// Tokens in paths and queries never reach the log.
package api

import (
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
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
)

// Config is what the router is made from. Every handler but Objects is
// required.
type Config struct {
	Log  *slog.Logger
	Auth *auth.Authenticator

	Tasks   Tasks
	Crashes Crashes
	Intake  Intake
	Ops     Ops

	Accounts Accounts
	Projects Projects
	Builds   Builds
	Legacy   Legacy
	Uploads  Uploads
	Pages    Pages

	Cases     Cases
	Suites    Suites
	Schedules Schedules
	Variables Variables
	Tunnels   Tunnels

	// Objects serves the signed links of the folder store; nil when objects are
	// in S3, then the links lead there.
	Objects gin.HandlerFunc

	// Observer hears of each answered request; may be nil.
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
	// HTTPS says that callers come by TLS: browsers are told to keep to it.
	HTTPS bool
	// ProtectMetrics asks for operator credentials at /metrics.
	ProtectMetrics bool
}

// Tasks are the handlers of package task.
type Tasks struct{ List, Get, Retry, Cancel gin.HandlerFunc }

// Crashes are the handlers that read and change crashes.
type Crashes struct {
	Groups, Group, UpdateGroup, GroupCrashes   gin.HandlerFunc
	List                                       gin.HandlerFunc // all crashes
	Crash, Raw, Attachments, Attachment, Purge gin.HandlerFunc
}

// Intake are the handlers that receive crashes. SubmitPath finds the path
// parameters universe, token and format.
type Intake struct{ Submit, SubmitPath, Preflight gin.HandlerFunc }

// Accounts are the handlers of package account: tokens, keys, service accounts,
// crash projects and the organization's settings.
type Accounts struct {
	Token                                                           gin.HandlerFunc
	Keys, CreateKey, DeleteKey                                      gin.HandlerFunc // the caller's own
	ServiceAccounts, CreateServiceAccount, DeleteServiceAccount     gin.HandlerFunc
	ServiceKeys, CreateServiceKey, DeleteServiceKey                 gin.HandlerFunc
	CrashProjects, CrashProject, CreateCrashProject                 gin.HandlerFunc
	UpdateCrashProject, DeleteCrashProject                          gin.HandlerFunc
	CrashTokens, CreateCrashToken, DeleteCrashToken                 gin.HandlerFunc
	Settings, UpdateSettings, Storage, UpdateStorage, DeleteStorage gin.HandlerFunc
}

// Projects are the handlers of apps in version 3.
type Projects struct{ List, Get, Create, Update, Delete, Copy, Builds gin.HandlerFunc }

// Builds are the handlers of builds in version 3.
type Builds struct{ Get, Update, Delete, Copy, Download, Symbols, Notify gin.HandlerFunc }

// Legacy are the handlers of versions 1 and 2.
type Legacy struct {
	Projects2, Project2, Builds2                                   gin.HandlerFunc
	Projects1, Builds1, Build1, Delete1, Update1, Copy1, Download1 gin.HandlerFunc
}

// Uploads are the handlers that receive builds and symbols.
type Uploads struct{ Upload, V3, Symbols gin.HandlerFunc }

// Pages are the handlers of install pages.
type Pages struct {
	Landing, Icon, QR, Download, Manifest gin.HandlerFunc
	SignIn, Session, Confirm, SignOut     gin.HandlerFunc
}

// Cases are the handlers of test cases, their runs and the runs' files.
type Cases struct {
	List, Get, Create, Delete, Rename gin.HandlerFunc
	Start, StartRevision              gin.HandlerFunc
	Runs, Run, CancelRun              gin.HandlerFunc
	CodeTargets, Code                 gin.HandlerFunc
	File                              gin.HandlerFunc
}

// Suites are the handlers of test suites and their runs.
type Suites struct {
	List, Create, Get, Update, Delete gin.HandlerFunc
	Start, Runs, Run, CancelRun       gin.HandlerFunc
}

// Schedules are the handlers of what runs suites by the clock. Fires lists what
// became of each time.
type Schedules struct {
	List, Create, Get, Update, Delete gin.HandlerFunc
	Enable, Disable, Start, Fires     gin.HandlerFunc
}

// Variables are the handlers of the variables of tests.
type Variables struct{ List, Create, Get, Update, Delete gin.HandlerFunc }

// Tunnels are the handlers of named proxies.
type Tunnels struct{ List, Create, Get, Delete gin.HandlerFunc }

// Wrap makes a route's handler of a plain one, as package ops and the folder of
// objects have them.
func Wrap(h http.Handler) gin.HandlerFunc { return gin.WrapH(h) }

// Ops are the handlers of package ops, wrapped.
type Ops struct{ Health, Ready, Metrics, Console, Mail gin.HandlerFunc }

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
	late     map[string]gin.HandlerFunc // crashPath, by method
	security http.Header
}

// New makes the handler of the whole api.
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
	if cfg.BodyGrace <= 0 {
		cfg.BodyGrace = bodyGrace
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
	r := &router{cfg: cfg, late: map[string]gin.HandlerFunc{}, security: securityHeaders(cfg.HTTPS)}
	g.Use(r.observe, r.recover, r.headers)
	own := map[string]bool{} // paths whose HEAD stands in the list
	for _, route := range cfg.Routes() {
		if route.Method == http.MethodHead {
			own[route.Path] = true
		}
	}
	for _, route := range cfg.Routes() {
		handler, err := r.handler(route)
		if err != nil {
			return nil, fmt.Errorf("api: route %s %s: %w", route.Method, route.Path, err)
		}
		if route.Path == crashPath {
			r.late[route.Method] = handler
			continue
		}
		for _, path := range spellings(route.Path) {
			g.Handle(route.Method, path, handler)
			if route.Method == http.MethodGet && !own[route.Path] {
				g.Handle(http.MethodHead, path, handler) // net/http drops the body
			}
		}
	}
	g.NoRoute(r.noRoute)
	g.NoMethod(r.noMethod)
	return g, nil
}

// spellings are the paths under which a route is served.
func spellings(path string) []string {
	paths := []string{path}
	if rest, ok := strings.CutPrefix(path, "/api/v3/"); ok {
		paths = append(paths, "/api/3/"+rest)
	}
	if rest, ok := strings.CutPrefix(path, authoringPath+"/"); ok {
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

// handler puts what a route asks for around its handler.
func (r *router) handler(route Route) (gin.HandlerFunc, error) {
	if route.Handler == nil {
		return nil, errors.New("no handler")
	}
	if (route.Action == "") == (route.Public == "") {
		return nil, errors.New("needs either an action or the reason why it is public")
	}
	var guard gin.HandlerFunc
	if route.Action != "" {
		var err error
		if guard, err = r.cfg.Auth.Require(route.Interface, route.Action); err != nil {
			return nil, err
		}
	}
	deadline, body := route.Deadline, route.Body
	if deadline == 0 {
		deadline = r.cfg.RequestTimeout
	}
	if body == 0 {
		body = r.cfg.MaxBody
	}
	return func(c *gin.Context) {
		s := served(c)
		s.route = &route
		r.bound(c, s, deadline)
		if body > 0 && c.Request.Body != nil {
			if c.Request.ContentLength > body {
				respond.Error(c, route.Interface, &http.MaxBytesError{Limit: body})
				return
			}
			c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, body)
		}
		if guard != nil {
			if guard(c); c.IsAborted() {
				return
			}
		}
		route.Handler(c)
	}, nil
}

// bound gives a request its times: its context ends at the deadline, its body
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
		c.Request.Body = newPaced(control, c.Request.Body, r.cfg.BodyGrace, end)
	}
}

// objects answers 404 where the api serves no objects.
func (cfg *Config) objects() gin.HandlerFunc {
	if cfg.Objects != nil {
		return cfg.Objects
	}
	return func(c *gin.Context) { respond.V3(c, storage.ErrNotFound) }
}
