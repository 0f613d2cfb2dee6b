// Package egress is the proxy through which the managed browsers reach the network:
// the guard of package outbound checks each connection, on the address that a name
// resolved to. So a page, a redirect or a script of a test reaches nothing that a
// webhook could not reach.
//
// It is a plain forward proxy on a loopback port: CONNECT for https and for
// WebSockets, and absolute-form requests for http. It stores nothing, and inspects nothing
// without Headers.
// The response to an address that is refused is 403 with a page that explains it, and
// the header Slipway-Refused with the rule. For a server that cannot be reached over
// http the connection is closed without a response (502 for CONNECT), so that the
// navigation of a browser fails as it does without a proxy. A browser shows no page
// for a CONNECT that failed; Trouble returns afterwards what went wrong with a host.
//
// StartUpstream starts such a proxy in front of another one, a tunnel: it adds the
// user and password that Chromium cannot send by itself, and the guard checks the
// address of the tunnel, which alone decides what lies behind it.
//
// StartWith starts either of them with Headers, which it adds to requests to one site: the only
// one whose https it opens.
//
// Chromium takes no password for a proxy on its command line, so any process of
// this machine may use the port; it reaches no more than the guard allows. The
// proxy's own port is refused as well. At most 1024 connections are open at the same
// time; further ones wait. Connections over which nothing is sent for a quarter of an
// hour are closed.
package egress

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"time"

	"github.com/slipway-qa/slipway/tasks/outbound"
)

const (
	// maxConnections bounds the sockets of all browsers: one opens at most 32
	// to a proxy.
	maxConnections = 1024
	// idleTimeout ends connections over which nothing is sent. WebSockets of pages
	// send something at least every few minutes.
	idleTimeout = 15 * time.Minute
	// RefusedHeader names the rule in the response that refuses an address.
	RefusedHeader = "Slipway-Refused"
)

// Proxy is a forward proxy on a loopback address.
type Proxy struct {
	listener  *listener
	server    *http.Server
	reverse   *httputil.ReverseProxy
	transport *http.Transport
	dial      dial     // for CONNECT
	headers   *Headers // nil: none
	log       *slog.Logger
	buffers   buffers
	troubles  troubles

	mu       sync.Mutex
	closed   bool
	requests sync.WaitGroup // and the serving itself
}

type dial func(ctx context.Context, network, address string) (net.Conn, error)

// route is how a proxy reaches servers.
type route struct {
	connect dial                                  // to the server of a CONNECT
	request dial                                  // to the server of a request, or its proxy
	proxy   func(*http.Request) (*url.URL, error) // of a request; nil: none
	headers *Headers                              // nil: none
}

// Start listens on a loopback port and serves until Close.
func Start(guard *outbound.Guard, log *slog.Logger) (*Proxy, error) {
	return StartWith("", nil, guard, log)
}

// StartWith is StartUpstream, or Start for no upstream, with headers; nil: none.
func StartWith(upstream string, headers *Headers, guard *outbound.Guard, log *slog.Logger) (*Proxy, error) {
	if upstream == "" {
		return start(route{connect: guard.DialContext, request: guard.DialContext, headers: headers}, log)
	}
	to, err := through(upstream, guard)
	if err != nil {
		return nil, err
	}
	to.headers = headers
	return start(to, log)
}

// StartUpstream starts a proxy in front of another one, whose address is http, https
// or socks5 (names are resolved there) with user and password. Errors and logs do
// not show it.
func StartUpstream(upstream string, guard *outbound.Guard, log *slog.Logger) (*Proxy, error) {
	to, err := through(upstream, guard)
	if err != nil {
		return nil, err
	}
	return start(to, log)
}

// through returns how servers are reached behind another proxy.
func through(upstream string, guard *outbound.Guard) (to route, err error) {
	u, err := url.Parse(upstream)
	if err != nil || u.Hostname() == "" {
		return to, errors.New("egress: the proxy is not an address")
	}
	t := tunnel{url: u, dial: guard.DialContext}
	switch u.Scheme {
	case "http", "https":
		// Go adds user and password, and sends whole addresses to the proxy.
		return route{connect: t.connect, request: guard.DialContext, proxy: http.ProxyURL(u)}, nil
	case "socks5", "socks5h":
		return route{connect: t.socks, request: t.socks}, nil
	}
	return to, errors.New("egress: the proxy is none of http, https and socks5")
}

func start(to route, log *slog.Logger) (*Proxy, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	l, err := listen()
	if err != nil {
		return nil, err
	}
	p := &Proxy{listener: l, log: log, headers: to.headers, dial: l.refusingItself(to.connect)}
	p.transport = &http.Transport{
		Proxy:                 to.proxy,
		DialContext:           l.refusingItself(to.request),
		DisableCompression:    true, // the browser decides on compression
		MaxIdleConns:          256,
		MaxIdleConnsPerHost:   32,
		IdleConnTimeout:       60 * time.Second,
		TLSHandshakeTimeout:   10 * time.Second,
		ExpectContinueTimeout: time.Second,
	}
	p.transport.TLSClientConfig = to.headers.transport()
	quiet := slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)
	p.reverse = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.RawQuery = r.In.URL.RawQuery // as it came, also where Go would drop a part
			r.Out.Host = r.In.Host
			p.headers.put(r.Out)
		},
		Transport:    p.transport,
		ErrorHandler: p.fail,
		ErrorLog:     quiet,
		BufferPool:   &p.buffers,
	}
	p.server = &http.Server{
		Handler:           p,
		ReadHeaderTimeout: 30 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    256 << 10, // the cookies of tested pages; Chromium allows as much
		ErrorLog:          quiet,
	}
	p.requests.Go(func() { _ = p.server.Serve(l) }) // until Close
	return p, nil
}

// Addr returns host:port.
func (p *Proxy) Addr() net.Addr { return p.listener.Addr() }

// Close ends the proxy with all its connections.
func (p *Proxy) Close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	_ = p.server.Close()
	p.listener.closeAll()
	p.requests.Wait()
	p.transport.CloseIdleConnections()
}

// ServeHTTP serves one request of a browser.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		panic(http.ErrAbortHandler)
	}
	p.requests.Add(1)
	p.mu.Unlock()
	defer p.requests.Done()
	switch {
	case r.Method == http.MethodConnect && p.headers.opens(r.Host):
		p.serveOpened(w)
	case r.Method == http.MethodConnect:
		p.serveConnect(w, r)
	case r.URL.Scheme == "http" && r.URL.Host != "":
		r.URL.User = nil
		p.reverse.ServeHTTP(w, r)
	default:
		http.Error(w, "This is a proxy for browsers.", http.StatusBadRequest)
	}
}

// fail responds to a request whose server was refused or not reached.
func (p *Proxy) fail(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil { // the browser went away
		return
	}
	host := r.URL.Hostname()
	if r.Method == http.MethodConnect {
		host, _, _ = net.SplitHostPort(r.Host)
	}
	text := p.troubles.add(host, err)
	var forbidden *outbound.ForbiddenError
	var untrusted *tls.CertificateVerificationError
	switch {
	case errors.As(err, &untrusted): // of the site of Headers: the browser cannot check it
		http.Error(w, text, http.StatusBadGateway)
	case errors.As(err, &forbidden):
		p.log.Info("a browser was refused an address", "rule", string(forbidden.Rule))
		w.Header().Set(RefusedHeader, string(forbidden.Rule))
		http.Error(w, text, http.StatusForbidden)
	case r.Method == http.MethodConnect:
		http.Error(w, text, http.StatusBadGateway)
	default:
		panic(http.ErrAbortHandler)
	}
}
