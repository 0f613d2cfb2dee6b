// Package webdriver is a client of the W3C WebDriver protocol
// (https://www.w3.org/TR/webdriver2/) and of the part of WebDriver BiDi
// (https://www.w3.org/TR/webdriver-bidi/) that Slipway uses. It speaks to
// chromedriver, geckodriver, Selenium Grid and Appium.
//
// A Client is one remote end; NewSession starts a Session, whose methods, and those
// of its Input and Dialog, are the commands of the protocol that Slipway needs, one
// request each over a kept connection. A session has one current window and frame,
// so it serves one test at a time: its methods must not be called concurrently.
// Session.BiDi returns a second connection, on which any number of commands may run
// at the same time, for isolated user contexts and for events. Element ids are
// short-lived; nobody should keep them across steps.
//
// A failure that the remote end reports is an *Error with the protocol's code; the
// error shapes of older Selenium and Appium versions are read as well. Everything
// else (connection refused, a context that ended, a body that is not of the
// protocol) is a *TransportError: the state of the session is unknown afterwards.
//
// Remote ends are not trusted further than needed: bodies, messages and ids are
// bounded, redirects are refused, and the password goes to the client's own
// address only and stays out of error texts.
package webdriver

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Config is what a Client needs.
type Config struct {
	// URL is the remote end's address; user and password in it become Basic
	// authentication.
	URL string
	// Transport carries the requests; default: one that keeps connections.
	Transport http.RoundTripper
	// MaxBody bounds a response in bytes; default 64 MiB (page sources and
	// screenshots come in one).
	MaxBody int64
}

// Client speaks to one remote end.
type Client struct {
	base     string
	user     *url.Userinfo
	secrets  *strings.Replacer // replaces the password in texts
	http     *http.Client
	maxBody  int64
	Redacted string // the address without its password, for logs and errors
}

const (
	defaultMaxBody = 64 << 20
	// idleConnection is how long an unused connection is kept: Node, which Appium
	// runs on, closes them after 5 s, and a command sent just then would be lost.
	idleConnection = 4 * time.Second
	// maxHeader bounds the header of a response; WebDriver's have some lines.
	maxHeader = 64 << 10
)

// New returns a client; it does not connect.
func New(cfg Config) (*Client, error) {
	u, err := url.Parse(cfg.URL)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return nil, errors.New("webdriver: not an http or https address")
	}
	c := &Client{user: u.User, secrets: strings.NewReplacer(), maxBody: cfg.MaxBody, Redacted: u.Redacted()}
	if password, _ := u.User.Password(); password != "" {
		c.secrets = strings.NewReplacer(password, blank, url.QueryEscape(password), blank,
			url.PathEscape(password), blank, strings.TrimPrefix(c.basic(), "Basic "), blank)
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	c.base = strings.TrimRight(u.String(), "/")
	if c.maxBody <= 0 {
		c.maxBody = defaultMaxBody
	}
	transport := cfg.Transport
	if transport == nil {
		t := http.DefaultTransport.(*http.Transport).Clone()
		t.Proxy, t.MaxIdleConnsPerHost = nil, 16
		t.IdleConnTimeout, t.MaxResponseHeaderBytes = idleConnection, maxHeader
		transport = t
	}
	// Deadlines are the callers' contexts: some commands take minutes. A redirect
	// would send commands, and with them typed passwords, to another place.
	c.http = &http.Client{Transport: transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return c, nil
}

// basic is the value of the header Authorization.
func (c *Client) basic() string {
	password, _ := c.user.Password()
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(c.user.Username()+":"+password))
}

// Status is what a remote end reports about itself.
type Status struct {
	Ready   bool   `json:"ready"`
	Message string `json:"message"`
}

// Status requests whether the remote end can start sessions.
func (c *Client) Status(ctx context.Context) (Status, error) {
	var s Status
	err := c.do(ctx, http.MethodGet, "/status", nil, &s)
	s.Message = c.presentable(s.Message)
	return s, err
}
