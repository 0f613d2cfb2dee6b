// Package browser leases browsers to tests: it finds the remote end that can serve a
// target, starts a session with the right capabilities there, and keeps browsers of
// the managed chromedriver warm.
//
// A target goes to the hub that names its platform, else to a hub for all platforms,
// else to the managed chromedriver (the one that Slipway starts itself) if it is
// Chrome on this system. A target that nothing serves is refused immediately.
//
// A session of a hub lives for one lease. Neither of hubs nor of the managed browsers
// options can be chosen that reach the machine (capability.CheckPermitted, capability.go): no
// programs, folders, extensions, debuggers or proxies. A hub that is Unsafe receives the
// capabilities as they are. Managed browsers reach
// the network through the egress proxy alone, or through another such proxy in front
// of a tunnel. Reading file: addresses cannot be switched off by an argument: pages
// cannot open them, and whoever navigates must not.
//
// A warm browser has a user context (WebDriver BiDi) with one window, ready for the
// next lease: cookies, storage, cache, service workers and HTTP log-ins belong to the
// context. When a lease ends, the next context is created and the former one removed
// in the background, so that neither costs the test anything. A browser serves one
// lease at a time: leases that shared one would see each other's windows. After 200
// leases or half an hour it is replaced, as when it broke. Leases with custom options
// have separate browsers, which are kept for a short while.
//
// Every failure to lease a session is a *SessionError with a text for people, which
// shows no password.
package browser

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/slipway-qa/slipway/storage/step/capability"
	"github.com/slipway-qa/slipway/tasks/outbound"
	"github.com/slipway-qa/slipway/worker/browser/egress"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

// Hub is a remote end that Slipway does not start: Selenium Grid, Appium, or a driver.
type Hub struct {
	// Platforms that it serves by platformName (lower case: android, ios, linux,
	// windows, mac ...); nil: everything that no other hub names.
	Platforms []string
	URL       string // with user and password
	// Unsafe lets tests pass any capability to the hub, also those that run programs
	// on its machine.
	Unsafe bool
}

// Config is what a Pool needs.
type Config struct {
	Hubs []Hub
	// Local is the address of the managed chromedriver ("" without one), which serves
	// Chrome where no hub does. Its sessions are kept warm, and its capabilities are
	// limited to what cannot reach the machine.
	Local string
	// Warm is how many local browsers are kept ready; default 2. They start with
	// the first lease and end Keep after the last one; default 10 min.
	Warm int
	Keep time.Duration
	// Proxy is host:port of the egress proxy that local browsers go through, so
	// that pages reach no address that the guard refuses.
	// "" lets them connect as they like.
	Proxy string
	// Arguments are those that local browsers need on this machine, such as
	// --no-sandbox in a container.
	Arguments []string
	// Binary is the local browser; "" leaves it to chromedriver to find one.
	Binary string
	// Limits bound each local browser.
	Limits Limits
	// Vendor names the options that Slipway adds to capabilities.
	Vendor string
	// Guard checks the addresses of tunnels; without it local browsers have none.
	Guard *outbound.Guard
	// StartTimeout bounds the start of a session; default 60 s, for hubs 5 min.
	StartTimeout time.Duration
	Log          *slog.Logger
	Observer     Observer
}

// Observer is called for each session that is requested, for metrics. May be nil.
type Observer interface {
	// SessionStarted reports where ("local", "hub"), whether it was warm, how
	// long it took, and whether it failed.
	SessionStarted(where string, warm bool, took time.Duration, err error)
}

// Request is the session that a test needs.
type Request struct {
	Target capability.Target // with effective capabilities
	// Proxy is the address of a tunnel, "" without one: http, https or socks5,
	// with user and password.
	Proxy string
	// Headers are sent with each request to the site of Site, an http or https address, and
	// with none to another. Only the managed browsers send any.
	Headers []egress.Header
	Site    string
	// Certificate and Key, in PEM, are presented to that site where it asks for them; "" for
	// none.
	Certificate, Key string
}

// Lease is a session that a test uses alone until it releases it.
type Lease struct {
	Session *webdriver.Session
	// Local is true for the managed chromedriver: only there are DevTools commands.
	Local bool
	// Mobile is true for Appium sessions of native apps, which have no page.
	Mobile bool
	// Warm is true when the browser ran before.
	Warm     bool
	release  func(ctx context.Context, broken bool)
	exceeded atomic.Pointer[string]
	lost     chan struct{}
}

// Exceeded returns why the browser was ended before the lease: which of its limits it
// exceeded, in words for people; "" when it was not.
func (l *Lease) Exceeded() string {
	if l == nil || l.exceeded.Load() == nil {
		return ""
	}
	return *l.exceeded.Load()
}

// Lost is closed when the driver of the browser has ended, whatever the test is doing. It is
// nil, and so never closed, where nobody watches the driver: at a hub.
func (l *Lease) Lost() <-chan struct{} {
	if l == nil {
		return nil
	}
	return l.lost
}

// Release ends the lease: its context is removed with all cookies, storage and
// windows. broken means that the state of the session is unknown: the browser ends as
// well. Release always ends, whatever the context.
func (l *Lease) Release(ctx context.Context, broken bool) { l.release(ctx, broken) }

// SessionError is why there is no session, in words for people.
type SessionError struct {
	Text string
	// Retry is true when a later request may find one: a hub that is away.
	Retry bool
	Err   error // for the log
}

func (e *SessionError) Error() string { return e.Text }

// Unwrap returns the cause.
func (e *SessionError) Unwrap() error { return e.Err }
