// Package client calls Slipway's public API from Go: a pipeline's program, an agent's
// tools, a test. It has no state but its credential, and needs little beside the standard
// library.
//
// A Client sends a request and reads its answer as JSON. It sends again what may be sent
// again: a read, a change with an Idempotency-Key, and whatever did not leave the
// machine; when the server asks for it (429, 503 with Retry-After), answers 502 or 504,
// or cannot be reached, until Config.RetryFor is over. A failure is an *Error whose Kind
// says what a caller decides by.
//
// The operations of an area stand in a file of their own and are methods of Client. Their
// members are those of the API's description (/openapi.json), which see.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	// maxAnswer bounds what is read of an answer that is JSON, in bytes.
	maxAnswer = 32 << 20
	// defaultRetry lets a server restart, and a database fail over.
	defaultRetry = 2 * time.Minute
	// longTry is a request that failed after a while: when bytes of its body had gone out, the
	// time begins anew, at most mostAnew times.
	longTry  = 30 * time.Second
	mostAnew = 5
)

// Config is what a Client needs.
type Config struct {
	// Server is the public address, such as https://qa.example.com; a path is kept.
	Server string
	// Credential says who calls; nil calls as nobody.
	Credential Credential
	// HTTP is the transport; nil: http.DefaultTransport, which reads HTTPS_PROXY and
	// its siblings. A deadline is set for each request by its context, not here.
	HTTP http.RoundTripper
	// Agent is the program's name and version, for the header User-Agent.
	Agent string
	// RetryFor is how long a request is tried again; 0: two minutes, negative: once.
	RetryFor time.Duration
	// Again hears that a request will be sent again, why and when; nil: nobody.
	Again func(err error, in time.Duration)
}

// Client calls the API of one server as one caller. It may be used by several
// goroutines.
type Client struct {
	server *url.URL
	cfg    Config
	http   *http.Client
}

// New returns a client, or an *Error of kind Misused for an address that is none.
func New(cfg Config) (*Client, error) {
	server, err := url.Parse(strings.TrimRight(strings.TrimSpace(cfg.Server), "/"))
	if err != nil || server.Host == "" || (server.Scheme != "http" && server.Scheme != "https") {
		return nil, &Error{Kind: Misused, Text: fmt.Sprintf("%q is no address of a server: https://qa.example.com", cfg.Server)}
	}
	if server.User != nil {
		return nil, &Error{Kind: Misused, Text: "the server's address must have no user name or password"}
	}
	if cfg.RetryFor == 0 {
		cfg.RetryFor = defaultRetry
	}
	if cfg.Agent == "" {
		cfg.Agent = "slipway-client"
	}
	if cfg.HTTP == nil {
		cfg.HTTP = http.DefaultTransport
	}
	return &Client{server: server, cfg: cfg, http: &http.Client{Transport: cfg.HTTP, CheckRedirect: refuseRedirect}}, nil
}

// refuseRedirect keeps the credential at the server that it is for.
func refuseRedirect(_ *http.Request, _ []*http.Request) error { return http.ErrUseLastResponse }

// URL returns the address of a path at the server, for people to open.
func (c *Client) URL(path string) string { return c.server.String() + path }

// Request is a request to the API.
type Request struct {
	Method string
	Path   string // below the server's address, each segment escaped (Path)
	Query  url.Values
	// Header are further headers.
	Header http.Header
	// Body returns the body from its beginning each time it is called; nil: none. With
	// it, ContentType, and Size in bytes, -1 for a size that is not known.
	Body        func() (io.ReadCloser, error)
	ContentType string
	Size        int64
	// Key is the Idempotency-Key: with one, a change may be sent again.
	Key string
	// Count hears of bytes of the body that were sent, of negative ones that are sent again.
	Count func(n int64)
	// Repeatable changes are the same when they are sent twice: PUT and DELETE of one thing.
	Repeatable bool
}

// Path joins segments into a path, each escaped: Path("api", "v3", "builds", id).
func Path(segments ...string) string {
	var b strings.Builder
	for _, s := range segments {
		b.WriteByte('/')
		b.WriteString(url.PathEscape(s))
	}
	return b.String()
}

// Get reads a resource into out.
func (c *Client) Get(ctx context.Context, path string, query url.Values, out any) error {
	return c.JSON(ctx, Request{Method: http.MethodGet, Path: path, Query: query}, nil, out)
}

// JSON sends in as JSON (nil: the request's own body, or none) and reads the answer into
// out (nil: nowhere; *json.RawMessage: as it is). An answer that breaks off is asked for again as
// one that did not come.
func (c *Client) JSON(ctx context.Context, r Request, in, out any) error {
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return fmt.Errorf("%s %s: %w", r.Method, r.Path, err)
		}
		r.Body = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }
		r.ContentType, r.Size = "application/json", int64(len(text))
	}
	return c.answer(ctx, r, func(res *http.Response) error { return c.read(r, res, out) })
}

// read reads an answer that is JSON.
func (c *Client) read(r Request, res *http.Response, out any) error {
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if err != nil {
		return brokenOff(r, err)
	}
	if len(text) > maxAnswer {
		return &Error{Kind: Broken, Method: r.Method, Path: r.Path, Text: fmt.Sprintf("the answer has more than %d MiB", maxAnswer>>20)}
	}
	if out == nil || len(text) == 0 {
		return nil
	}
	if err := json.Unmarshal(text, out); err != nil {
		return &Error{Kind: Broken, Method: r.Method, Path: r.Path, Status: res.StatusCode,
			Text: "the answer is no JSON of the API: is this the address of a Slipway server?", Err: err}
	}
	return nil
}

// answer sends a request, again where it may be, and has an answer whose status is below 300
// read by use. An answer that breaks off (brokenOff) is one that did not come.
func (c *Client) answer(ctx context.Context, r Request, use func(*http.Response) error) error {
	var failing time.Time // since when
	renewed, anew := false, 0
	for try := 1; ; try++ {
		begun := time.Now()
		sent, err := c.once(ctx, r, use)
		if err == nil {
			return nil
		}
		if !renewed && c.renew(ctx, err) {
			renewed = true // a request that was refused has done nothing
			continue
		}
		switch {
		case failing.IsZero():
			failing = time.Now()
		case sent > 0 && time.Since(begun) > longTry && anew < mostAnew:
			failing, try, anew = time.Now(), 1, anew+1 // it went well for a while
		}
		wait, again := c.retry(ctx, r, err, try, time.Since(failing))
		if !again {
			return outOfTime(ctx, err)
		}
		if c.cfg.Again != nil {
			c.cfg.Again(err, wait)
		}
		if ended := Pause(ctx, wait); ended != nil {
			return fmt.Errorf("%w (%w)", ended, err)
		}
	}
}

// outOfTime returns an error that names why the context has ended, where that is why there was
// no answer.
func outOfTime(ctx context.Context, err error) error {
	ended := context.Cause(ctx)
	if ended == nil || errors.Is(err, ended) || !Is(err, Unreachable) {
		return err
	}
	return fmt.Errorf("%w (%w)", ended, err)
}

// once sends a request one time and has its answer read. sent are the bytes of its body that
// went out.
func (c *Client) once(ctx context.Context, r Request, use func(*http.Response) error) (sent int64, err error) {
	if r.Body == nil {
		return 0, c.exchange(ctx, r, nil, use)
	}
	body, err := r.Body()
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	counted := newCounter(body, r.Count, func() { cancel(errStalled) })
	if err := c.exchange(ctx, r, counted, use); err != nil {
		return counted.takeBack(), err
	}
	return 0, nil
}

// exchange sends a request with its body and has an answer whose status is below 300 read.
func (c *Client) exchange(ctx context.Context, r Request, body io.ReadCloser, use func(*http.Response) error) error {
	address := c.server.String() + r.Path
	if len(r.Query) > 0 {
		address += "?" + r.Query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, r.Method, address, body)
	if err != nil {
		return fmt.Errorf("%s %s: %w", r.Method, r.Path, err)
	}
	if body != nil {
		req.ContentLength = r.Size
	}
	for name, values := range r.Header {
		req.Header[name] = values
	}
	req.Header.Set("User-Agent", c.cfg.Agent)
	if req.Header.Get("Accept") == "" {
		req.Header.Set("Accept", "application/json")
	}
	if r.ContentType != "" {
		req.Header.Set("Content-Type", r.ContentType)
	}
	if r.Key != "" {
		req.Header.Set("Idempotency-Key", r.Key)
	}
	if c.cfg.Credential != nil {
		if err := c.cfg.Credential.Sign(ctx, req); err != nil {
			return err
		}
	}
	res, err := c.http.Do(req)
	if err != nil {
		return unreachable(ctx, r, err)
	}
	defer res.Body.Close()
	if res.StatusCode < http.StatusMultipleChoices {
		return use(res)
	}
	return refusal(r, res)
}

// Pause waits, and ends early with the context, whose cause it then returns.
func Pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Is reports whether an error is an *Error of the kind.
func Is(err error, kind Kind) bool {
	var e *Error
	return errors.As(err, &e) && e.Kind == kind
}
