package egress

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/idna"
)

// Header is a header that is sent with requests.
type Header struct{ Name, Value string }

// Headers are sent with each request of a browser to one site, and with none to another. For
// a site over https the proxy is that site to the browser, by a certificate of its own for
// the site's name, and checks the certificate of the site itself. The browser trusts it by
// its Key. What the browser sends to other sites stays closed to the proxy.
type Headers struct {
	site      string // origin
	host      string // without port
	authority string // host:port
	lines     []Header
	insecure  bool
	presents  *tls.Certificate // to the site; nil: none
	tls       *tls.Config      // nil for http
	key       string
}

// NewHeaders returns headers for the site of an address; an error for one without. insecure
// leaves the certificate of the site unchecked.
func NewHeaders(address string, lines []Header, insecure bool) (*Headers, error) {
	h := &Headers{lines: lines, insecure: insecure}
	var secure bool
	var err error
	if h.site, h.host, h.authority, secure, err = SiteOf(address); err != nil || !secure {
		return h, err
	}
	certificate, key, err := newCertificate(h.host)
	if err != nil {
		return nil, err
	}
	h.key = key
	h.tls = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}
	return h, nil
}

// Key returns the digest of the key by which a browser is to trust the proxy, as Chromium
// takes it; "" for a site over http.
func (h *Headers) Key() string { return h.key }

// Present lets the proxy present a certificate with its key, both in PEM, to the site where
// that asks for one. It must be called before the proxy starts. The error tells nothing of
// the key.
func (h *Headers) Present(certificate, key []byte) error {
	if h.tls == nil {
		return errors.New("the site is none of https")
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return errors.New("certificate and key are no pair in PEM")
	}
	h.presents = &pair
	return nil
}

// transport returns how the site is reached over TLS; nil for the usual way.
func (h *Headers) transport() *tls.Config {
	if h == nil || !h.insecure && h.presents == nil {
		return nil
	}
	config := &tls.Config{InsecureSkipVerify: h.insecure, MinVersion: tls.VersionTLS12} // insecure: the test says so
	if h.presents != nil {
		config.Certificates = []tls.Certificate{*h.presents}
	}
	return config
}

// SiteOf returns the origin of an http or https address as browsers write it, with its host,
// and its host and port.
func SiteOf(address string) (origin, host, authority string, secure bool, err error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return "", "", "", false, errors.New("no address of a site")
	}
	scheme, port := strings.ToLower(u.Scheme), u.Port()
	standard := map[string]string{"http": "80", "https": "443"}[scheme]
	if standard == "" {
		return "", "", "", false, errors.New("no http or https address")
	}
	host = strings.ToLower(u.Hostname())
	if net.ParseIP(host) == nil {
		if host, err = idna.Lookup.ToASCII(host); err != nil || host == "" {
			return "", "", "", false, errors.New("no host of a site")
		}
	}
	if port == "" {
		port = standard
	}
	authority = net.JoinHostPort(host, port)
	origin = scheme + "://" + authority
	return origin, host, authority, scheme == "https", nil
}

// certificateAge is longer than a browser lives.
const certificateAge = 48 * time.Hour

// newCertificate returns a certificate of a key of its own for a host, and the digest of the
// key.
func newCertificate(host string) (tls.Certificate, string, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, "", fmt.Errorf("egress: %w", err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return tls.Certificate{}, "", fmt.Errorf("egress: %w", err)
	}
	template := &x509.Certificate{SerialNumber: serial, Subject: pkix.Name{CommonName: "Slipway"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(certificateAge),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	if ip := net.ParseIP(host); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{host}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, "", fmt.Errorf("egress: %w", err)
	}
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return tls.Certificate{}, "", fmt.Errorf("egress: %w", err)
	}
	digest := sha256.Sum256(public)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, base64.StdEncoding.EncodeToString(digest[:]), nil
}

// isSite reports whether a request is to the site.
func (h *Headers) isSite(u *url.URL) bool {
	if h == nil {
		return false
	}
	origin, _, _, _, err := SiteOf(u.Scheme + "://" + u.Host)
	return err == nil && origin == h.site
}

// put puts the headers into a request to the site.
func (h *Headers) put(r *http.Request) {
	if !h.isSite(r.URL) {
		return
	}
	for _, line := range h.lines {
		r.Header.Set(line.Name, line.Value)
	}
}

// opens reports whether a CONNECT is to the site, and so what it carries is opened.
func (h *Headers) opens(authority string) bool {
	if h == nil || h.tls == nil {
		return false
	}
	_, _, is, _, err := SiteOf("https://" + authority)
	return err == nil && is == h.authority
}

// serveOpened is the site to the browser: it serves the requests of one connection.
func (p *Proxy) serveOpened(w http.ResponseWriter) {
	browser, early, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer browser.Close()
	_ = browser.SetDeadline(time.Time{})
	if _, err := browser.Write([]byte("HTTP/1.1 200 Connection established\r\n\r\n")); err != nil {
		return
	}
	secure := tls.Server(&readFirst{Conn: browser, from: early.Reader}, p.headers.tls)
	l := &oneConnection{conn: secure, closed: make(chan struct{})}
	var requests sync.WaitGroup // a WebSocket outlives the server
	handle := func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		defer requests.Done()
		p.serveSite(w, r)
	}
	server := &http.Server{Handler: http.HandlerFunc(handle), ReadHeaderTimeout: p.server.ReadHeaderTimeout, IdleTimeout: p.server.IdleTimeout,
		MaxHeaderBytes: p.server.MaxHeaderBytes, ErrorLog: p.server.ErrorLog,
		ConnState: func(_ net.Conn, state http.ConnState) {
			if state == http.StateClosed || state == http.StateHijacked {
				_ = l.Close()
			}
		}}
	_ = server.Serve(l)
	requests.Wait()
}

// serveSite sends one request of the browser on to the site.
func (p *Proxy) serveSite(w http.ResponseWriter, r *http.Request) {
	if !p.headers.opens(r.Host) && !p.headers.opens(r.Host+":443") {
		http.Error(w, "This is another site.", http.StatusMisdirectedRequest)
		return
	}
	r.URL.Scheme, r.URL.Host, r.URL.User = "https", r.Host, nil
	p.reverse.ServeHTTP(w, r)
}

// readFirst is a connection of which something was read before.
type readFirst struct {
	net.Conn
	from interface{ Read([]byte) (int, error) }
}

// Read reads what was read before, and then the connection.
func (c *readFirst) Read(b []byte) (int, error) { return c.from.Read(b) }

// oneConnection is a listener with one connection, which it waits for after that.
type oneConnection struct {
	mu     sync.Mutex
	conn   net.Conn
	closed chan struct{}
	once   sync.Once
}

// Accept returns the connection, and then waits until it has ended.
func (l *oneConnection) Accept() (net.Conn, error) {
	l.mu.Lock()
	conn := l.conn
	l.conn = nil
	l.mu.Unlock()
	if conn != nil {
		return conn, nil
	}
	<-l.closed
	return nil, net.ErrClosed
}

// Close ends the waiting.
func (l *oneConnection) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr is that of no listener.
func (l *oneConnection) Addr() net.Addr { return &net.TCPAddr{} }
