// Package outbound guards every connection that Slipway opens to an address
// that somebody else has chosen: webhooks, issuers of tokens, tested pages.
// Without it such an address could reach what only this machine can reach: its
// services, the network behind it, the metadata service of its cloud.
//
// The check is where it cannot be bypassed: in the dialer, on the address of each
// socket before it connects, after the name was resolved. A name that
// resolves differently the second time (DNS rebinding) is checked the second
// time; each redirect is a new request and a new check. CheckURL applies the
// same rules when an address is configured, so that a mistake shows at once; it
// is a help for users, not the guard.
//
// Refused are all addresses that are not globally reachable unicast by the
// special-purpose registries of IANA (RFC 6890), addresses that embed such a
// one (NAT64, 6to4, Teredo, ISATAP), metadata services at public addresses,
// ports of protocols other than HTTP, schemes other than http and https, user
// names in URLs, and spellings of addresses that programs read differently.
// AllowPrivate allows loopback, private and shared (100.64.0.0/10) addresses;
// link-local ones and metadata services stay refused without AllowMetadata.
//
// A refusal is a *ForbiddenError, which has the rule and neither the address nor
// what was found there: it may be shown to whoever chose the address.
// Clients use no proxy of the environment and keep no cookies. The package
// imports the standard library only.
package outbound

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"
)

// ErrForbiddenAddress matches every *ForbiddenError (errors.Is).
var ErrForbiddenAddress = errors.New("address refused")

// ForbiddenError is a refusal. Its text may be shown to whoever chose the address.
type ForbiddenError struct {
	Rule Rule
}

func (e *ForbiddenError) Error() string { return ErrForbiddenAddress.Error() + ": " + string(e.Rule) }

// Is reports whether target is ErrForbiddenAddress.
func (e *ForbiddenError) Is(target error) bool { return target == ErrForbiddenAddress }

func forbid(rule Rule) error { return &ForbiddenError{Rule: rule} }

// Config is what a Guard allows. Its zero value is the strict one.
type Config struct {
	// AllowPrivate allows loopback, private (RFC 1918, unique local) and shared
	// (100.64.0.0/10) addresses. For a Slipway on a loopback address, or one whose
	// organizations may reach its network.
	AllowPrivate bool

	// AllowMetadata also allows link-local addresses and metadata services:
	// whoever chooses an address can then read the machine's cloud
	// credentials. It needs AllowPrivate.
	AllowMetadata bool

	// Resolver resolves names; net.DefaultResolver by default.
	Resolver *net.Resolver

	// DialTimeout bounds how long connecting takes: 10 s by default.
	DialTimeout time.Duration
}

// Guard checks addresses and returns clients that cannot bypass the check. It is
// safe for concurrent use; a process needs one, since its clients share
// connections.
type Guard struct {
	cfg       Config
	dialer    net.Dialer
	transport *http.Transport
}

const (
	// maxRedirects is enough for http to https to the canonical host to the
	// page; a longer chain is a loop or a probe.
	maxRedirects = 3
	// maxResponseHeader bounds the memory that a foreign server can occupy.
	maxResponseHeader = 64 << 10
)

// New returns a guard. It refuses AllowMetadata without AllowPrivate.
func New(cfg Config) (*Guard, error) {
	if cfg.AllowMetadata && !cfg.AllowPrivate {
		return nil, errors.New("outbound: AllowMetadata needs AllowPrivate")
	}
	if cfg.Resolver == nil {
		cfg.Resolver = net.DefaultResolver
	}
	if cfg.DialTimeout <= 0 {
		cfg.DialTimeout = 10 * time.Second
	}
	g := &Guard{cfg: cfg}
	g.dialer = net.Dialer{
		Timeout:        cfg.DialTimeout,
		Resolver:       cfg.Resolver,
		ControlContext: g.control,
	}
	g.transport = &http.Transport{
		Proxy:                  nil, // a proxy would resolve and connect in our place
		DialContext:            g.DialContext,
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           100,
		MaxIdleConnsPerHost:    2,
		IdleConnTimeout:        30 * time.Second,
		TLSHandshakeTimeout:    10 * time.Second,
		ExpectContinueTimeout:  time.Second,
		MaxResponseHeaderBytes: maxResponseHeader,
	}
	return g, nil
}

// DialContext connects like net.Dialer, to addresses that the guard
// allows. network is tcp, tcp4 or tcp6.
func (g *Guard) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := g.dialer.DialContext(ctx, network, address)
	// What wraps these two contains the address that a name resolved to, or that of
	// the resolver.
	var forbidden *ForbiddenError
	if errors.As(err, &forbidden) {
		return nil, forbidden
	}
	var lookup *net.DNSError
	if errors.As(err, &lookup) {
		return nil, cleanLookup(lookup)
	}
	return conn, err
}

func cleanLookup(err *net.DNSError) error {
	text := "lookup failed"
	switch {
	case err.IsNotFound:
		text = "no such host"
	case err.IsTimeout:
		text = "lookup timed out"
	}
	return &net.DNSError{Err: text, Name: err.Name, IsNotFound: err.IsNotFound, IsTimeout: err.IsTimeout, IsTemporary: err.IsTemporary}
}

// control is called for each socket before it connects, with the address that it
// will connect to.
func (g *Guard) control(_ context.Context, network, address string, _ syscall.RawConn) error {
	if network != "tcp4" && network != "tcp6" {
		return forbid(RuleNetwork)
	}
	target, err := netip.ParseAddrPort(address)
	if err != nil {
		return forbid(RuleSpelling)
	}
	if err := g.checkPort(target.Port()); err != nil {
		return err
	}
	return g.CheckAddr(target.Addr())
}

// AllowsPrivate reports whether private addresses are allowed.
func (g *Guard) AllowsPrivate() bool { return g.cfg.AllowPrivate }

// CheckAddr refuses an address by the rules of the package. IPv4 addresses in
// their IPv6 form (::ffff:a.b.c.d) are refused: unmap what a resolver returned.
func (g *Guard) CheckAddr(addr netip.Addr) error {
	rule := classify(addr)
	switch {
	case rule == "":
		return nil
	case rule.private() && g.cfg.AllowPrivate:
		return nil
	case rule.metadata() && g.cfg.AllowMetadata:
		return nil
	}
	return forbid(rule)
}

// Client returns a client whose every request, redirects included, is checked.
// timeout bounds a request with its redirects and the reading of the body; 30 s
// when it is not positive. All clients of a guard share its connections.
func (g *Guard) Client(timeout time.Duration) *http.Client {
	if timeout <= 0 {
		timeout = 30 * time.Second
	}
	return &http.Client{
		Timeout:       timeout,
		Transport:     guardedTransport{g},
		CheckRedirect: checkRedirect,
	}
}

// CloseIdleConnections drops the connections that no request uses.
func (g *Guard) CloseIdleConnections() { g.transport.CloseIdleConnections() }

func checkRedirect(next *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return fmt.Errorf("more than %d redirects", maxRedirects)
	}
	// A signed body or a token must not leave TLS because a server redirects.
	if via[len(via)-1].URL.Scheme == "https" && next.URL.Scheme == "http" {
		return forbid(RuleDowngrade)
	}
	return nil
}

// guardedTransport checks the URL of each request; the dialer checks the address.
type guardedTransport struct{ *Guard }

func (t guardedTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	if err := t.checkParts(request.URL); err != nil {
		if request.Body != nil {
			request.Body.Close() // as http.RoundTripper requires
		}
		return nil, err
	}
	return t.transport.RoundTrip(request)
}
