// Package auth finds out who calls and decides what the caller may do.
//
// Who: an interface has a list of Methods, tried in order; the first one that
// the request uses decides, and a wrong credential never falls back to another
// method. Version 3 takes the header X-API-Key, a Bearer token that a key was
// exchanged for, Basic authentication (mail address and API key; a service
// account's user name in place of the address) and the form field api_key;
// versions 1 and 2 and the upload take the first three. The authoring interface takes the
// first two, so that one key is enough for everything, and Basic with user name and access
// key. Operators use Basic with their own name and password wherever the table lets them in.
// The pages of the console take the cookie of a session (console.go). A request
// with the header X-OIDC-Config-Key comes with a token of the organization's own issuer
// (oidc.go), and by no other way; an organization can require that of all.
//
// What: Table has one line for each action: the least role, whether members are
// held to their own teams, whether operators may. A route names its action, and
// Require is the middleware that enforces the line. A request gets through with
// a *Caller in its context (CallerOf); handlers read only what belongs to that
// caller's organization.
//
// Refusals are *respond.Problem values: 401 for no or a wrong credential, 403 for
// a blocked or insufficient caller, a tester (legacy code 133), or a key used on
// another organization's host. A key of another region is told so. Wrong
// credentials are counted for each remote address; beyond the limit the answer
// is 429. Right ones always pass and cost nothing, so that a build farm behind
// one address is not locked out by one wrong key in it.
//
// Browsers send Basic credentials along with requests that other pages make, so
// such a request is refused when it changes something and its origin is foreign.
package auth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth/issuer"
	"github.com/slipway-qa/slipway/api/remote"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/tasks/logfield"
	"github.com/slipway-qa/slipway/tasks/outbound"
)

// Config is what an Authenticator needs.
type Config struct {
	DB     *storage.DB
	Region string // keys of another region are refused
	// BaseDomain, when set, makes ORG.<base domain> the host of the organization
	// with the slug ORG.
	BaseDomain string
	// PublicHost is the host of the public URL, which is never read as ORG.
	PublicHost string
	// HTTPS: browsers come by TLS, and their sessions are bound to the host.
	HTTPS bool
	// FailuresPerMinute is how many wrong credentials a remote address may send
	// before it hears 429 instead of 401; default 60. It is a brake on noise,
	// not on guessing, which 238 random bits make hopeless.
	FailuresPerMinute int
	// Guard checks the addresses of issuers; default: one that refuses private ones.
	Guard *outbound.Guard
	Log   *slog.Logger
	Now   func() time.Time // default time.Now
}

// Authenticator holds the methods of each interface and the table.
type Authenticator struct {
	db       *storage.DB
	region   string
	hosts    hosts
	failures *remote.Brake
	issuers  *issuer.Cache
	now      func() time.Time
	log      *slog.Logger
	rules    map[Action]Rule
	methods  map[respond.Interface][]Method
	origin   *http.CrossOriginProtection
	https    bool
}

// defaultFailures leaves room for a farm of CI jobs with a key that has just
// been regenerated.
const defaultFailures = 60

// New returns an authenticator.
func New(cfg Config) (*Authenticator, error) {
	if cfg.DB == nil || cfg.Region == "" {
		return nil, errors.New("auth: database and region are required")
	}
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.FailuresPerMinute <= 0 {
		cfg.FailuresPerMinute = defaultFailures
	}
	if cfg.Guard == nil {
		var err error
		if cfg.Guard, err = outbound.New(outbound.Config{}); err != nil {
			return nil, err
		}
	}
	a := &Authenticator{db: cfg.DB, region: cfg.Region, hosts: newHosts(cfg.BaseDomain, cfg.PublicHost),
		failures: remote.NewBrake(cfg.FailuresPerMinute, cfg.Now), now: cfg.Now, log: cfg.Log, rules: Table(),
		issuers: issuer.NewCache(issuer.Config{Client: issuer.NewClient(cfg.Guard), Log: cfg.Log, Now: cfg.Now}),
		origin:  http.NewCrossOriginProtection(), https: cfg.HTTPS}
	a.methods = map[respond.Interface][]Method{
		respond.InterfaceV3:        {a.oidc, a.keyHeader, a.bearer, a.basic(a.operator, a.distribution), a.formKey},
		respond.InterfaceLegacy:    {a.oidc, a.basic(a.distribution), a.keyHeader, a.bearer},
		respond.InterfaceAuthoring: {a.oidc, a.keyHeader, a.bearer, a.basic(a.authoring)},
		respond.InterfaceConsole:   {a.session},
	}
	return a, nil
}

// Require is the middleware of a route: it lets callers through whom the
// action's rule allows, with their Caller in the request's context. An action
// that is not in the table is a mistake in the route list.
func (a *Authenticator) Require(of respond.Interface, action Action) (gin.HandlerFunc, error) {
	check, err := a.Check(of, action)
	if err != nil {
		return nil, err
	}
	return func(c *gin.Context) {
		if err := check(c); err != nil {
			respond.Error(c, of, err)
		}
	}, nil
}

// Check is Require for who writes the refusal itself.
func (a *Authenticator) Check(of respond.Interface, action Action) (func(*gin.Context) error, error) {
	if _, ok := a.rules[action]; !ok {
		return nil, fmt.Errorf("auth: action %q is not in the table", action)
	}
	methods := a.methodsOf(of, action)
	if len(methods) == 0 {
		return nil, fmt.Errorf("auth: no way of authentication for the interface of %q", action)
	}
	return func(c *gin.Context) error {
		caller, err := a.authenticate(c, methods)
		if caller != nil && caller.SessionID != 0 {
			c.Request = c.Request.WithContext(context.WithValue(c.Request.Context(), knownKey{}, caller))
		}
		_, err = a.admit(c, action, caller, err)
		return err
	}, nil
}

func (a *Authenticator) authenticate(c *gin.Context, methods []Method) (*Caller, error) {
	for _, method := range methods {
		caller, err := method(c.Request.Context(), c.Request)
		if err != nil {
			return nil, a.refused(c, err)
		}
		if caller == nil {
			continue
		}
		if err := a.hosts.allow(c.Request.Host, caller); err != nil {
			return nil, err
		}
		a.touch(c.Request.Context(), caller)
		return caller, nil
	}
	return nil, errNone
}

// refused counts a wrong credential. A failure of ours is none.
func (a *Authenticator) refused(c *gin.Context, err error) error {
	if respond.Explain(err).Status != http.StatusUnauthorized {
		return err
	}
	if wait := a.failures.Wait(c.ClientIP()); wait > 0 {
		return &respond.Problem{Status: http.StatusTooManyRequests,
			Text: "too many requests with wrong credentials from this address", RetryAfter: wait, Err: err}
	}
	return err
}

// touch writes down a key's use, once in some minutes. That it fails is no
// reason to refuse the caller.
func (a *Authenticator) touch(ctx context.Context, caller *Caller) {
	if !caller.stale {
		return
	}
	if caller.SessionID != 0 {
		if err := account.TouchConsole(ctx, a.db, caller.SessionID, a.now()); err != nil {
			a.log.WarnContext(ctx, "last use of a session not written", "session_id", caller.SessionID, "error", err)
		}
		return
	}
	if err := account.TouchKey(ctx, a.db, caller.KeyID); err != nil {
		a.log.WarnContext(ctx, "last use of a key not written", "key_id", caller.KeyID, "error", err)
	}
}

// Identify authenticates the headers of a request whose credentials may also come
// in its body: nil, nil when the headers have none. The caller is in the request's
// context afterwards, as Require leaves it.
func (a *Authenticator) Identify(c *gin.Context, action Action) (*Caller, error) {
	if caller := inside(c.Request.Context()); caller != nil {
		as := *caller
		return a.admit(c, action, &as, nil)
	}
	caller, err := a.authenticate(c, a.methods[respond.InterfaceLegacy]) // all of them headers
	if errors.Is(err, errNone) {
		return nil, nil
	}
	return a.admit(c, action, caller, err)
}

// IdentifyKey authenticates a request by the API key in its body.
func (a *Authenticator) IdentifyKey(c *gin.Context, action Action, key string) (*Caller, error) {
	method := func(ctx context.Context, _ *http.Request) (*Caller, error) { return a.byKey(ctx, account.KindAPI, key) }
	caller, err := a.authenticate(c, []Method{a.oidc, method})
	return a.admit(c, action, caller, err)
}

// admit applies the action's rule and puts the caller into the request's context.
func (a *Authenticator) admit(c *gin.Context, action Action, caller *Caller, err error) (*Caller, error) {
	if err != nil {
		return nil, err
	}
	rule, ok := a.rules[action]
	if !ok {
		return nil, fmt.Errorf("auth: action %q is not in the table", action)
	}
	if err := a.allowKey(c, action, caller); err != nil {
		return nil, err
	}
	if err := rule.Allow(caller); err != nil {
		return nil, err
	}
	caller.rule = rule
	ctx := logfield.With(withCaller(c.Request.Context(), caller), caller.logAttrs()...)
	c.Request = c.Request.WithContext(ctx)
	return caller, nil
}
