// Package browser gives tests their browsers: it finds the remote end that can
// serve a target, asks it for a session with the right capabilities, and keeps
// browsers of the own chromedriver warm.
//
// A target goes to the hub that names its platform, else to a hub for all
// platforms, else to the own chromedriver if it asks for Chrome on this system.
// A target that nothing serves is refused at once.
//
// A hub gets the capabilities as they are; its session lives for one lease. Of
// the own browsers only those options can be chosen that cannot reach the machine
// (capability.go): no programs, folders, extensions, debuggers or proxies. They
// reach the network through the egress proxy alone, or through one of their own
// in front of a tunnel. Reading file: addresses cannot be switched off by an
// argument: pages cannot open them, and whoever navigates must not.
//
// A warm browser has a user context (WebDriver BiDi) with one window, ready for
// the next lease: cookies, storage, cache, service workers and log-ins of HTTP
// are the context's own. When a lease ends, the next context is made and the
// former one removed in the background, so that neither costs the test anything.
// A browser serves one lease at a time: leases that shared one would see each
// other's windows. After 200 leases or half an hour it is replaced, as when it
// broke. Leases with other options have browsers of their own, which are kept for
// a short while.
//
// Every failure to get a session is a *SessionError with a text for whoever asked,
// which shows no password.
package browser

import (
	"context"
	"log/slog"
	"time"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/tasks/outbound"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

// Hub is a remote end that somebody runs: Selenium Grid, Appium, or a driver.
type Hub struct {
	// Platforms that it serves by platformName (lower case: android, ios, linux,
	// windows, mac ...); nil: everything that no other hub names.
	Platforms []string
	URL       string // with user and password
}

// Config is what a Pool needs.
type Config struct {
	Hubs []Hub
	// Local is the address of the chromedriver of this process ("" without one),
	// which serves Chrome where no hub does. Its sessions are kept warm, and its
	// capabilities are limited to what cannot reach the machine.
	Local string
	// Warm is how many local browsers are kept ready; default 2. They start with
	// the first lease and end Keep after the last one; default 10 min.
	Warm int
	Keep time.Duration
	// Proxy is host:port of the egress proxy that local browsers go through, so
	// that pages reach no address that the guard refuses.
	// "" lets them connect as they like.
	Proxy string
	// Arguments are those that local browsers need on this machine
	// (private.BrowserArguments).
	Arguments []string
	// Binary is the local browser; "" leaves it to chromedriver to find one.
	Binary string
	// Guard checks the addresses of tunnels; without it local browsers have none.
	Guard  *outbound.Guard
	Vendor string
	// StartTimeout bounds the making of a session; default 60 s, for hubs 5 min.
	StartTimeout time.Duration
	Log          *slog.Logger
	Observer     Observer
}

// Observer hears of sessions, for metrics. May be nil.
type Observer interface {
	// SessionStarted reports where ("local", "hub"), whether it was warm, how
	// long it took, and whether it failed.
	SessionStarted(where string, warm bool, took time.Duration, err error)
}

// Request is what a job wants.
type Request struct {
	Target step.Target // with effective capabilities
	// Proxy is the address of a tunnel, "" without one: http, https or socks5,
	// with user and password.
	Proxy string
}

// Lease is a session that a job holds.
type Lease struct {
	Session *webdriver.Session
	// Local is true for the own chromedriver: only there is CDP to be had.
	Local bool
	// Mobile is true for Appium sessions of native apps, which have no page.
	Mobile bool
	// Warm is true when the browser ran before.
	Warm    bool
	release func(ctx context.Context, broken bool)
}

// Release gives the session back: its context goes with all cookies, storage and
// windows. broken says that its state is unknown: the browser goes as well. It
// always ends, whatever the context.
func (l *Lease) Release(ctx context.Context, broken bool) { l.release(ctx, broken) }

// SessionError says why there is no session, in words for whoever asked. Code is
// SESSION_NOT_CREATED.
type SessionError struct {
	Text string
	// Retry is true when another attempt may find one: a hub that is away.
	Retry bool
	Err   error // for the log
}

func (e *SessionError) Error() string { return e.Text }

// Unwrap gives the cause.
func (e *SessionError) Unwrap() error { return e.Err }
