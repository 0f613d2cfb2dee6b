package client

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Kind is what a caller decides by.
type Kind int

// The kinds of errors.
const (
	Broken      Kind = iota // the answer is none of the API, or a 500
	Unreachable             // no answer: network, name, TLS, or a server that stays away
	Busy                    // 429, 503: later
	Misused                 // 400, 413, 422: the request is wrong
	Refused                 // 401, 403: no credential, a wrong one, or too few rights
	Missing                 // 404
	Conflict                // 409, 412
)

// maxProblem bounds what is read of an answer that is a failure, in bytes.
const maxProblem = 64 << 10

// Error is a request that failed.
type Error struct {
	Kind         Kind
	Method, Path string // of the request, without its query
	Status       int    // 0: there was no answer
	Code         string // the interface's code, where it has one
	Text         string // for people
	RequestID    string // names the request in the server's log
	RetryAfter   time.Duration
	Err          error // the cause
	sent         bool  // the request may have reached the server
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Text)
	if e.Err != nil && e.Status == 0 {
		b.WriteString(": " + e.Err.Error())
	}
	if e.Status != 0 {
		fmt.Fprintf(&b, " (%s %s: %d", e.Method, e.Path, e.Status)
		if e.RequestID != "" {
			b.WriteString(", request " + e.RequestID)
		}
		b.WriteByte(')')
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// refusal reads the error body of any interface of the API.
func refusal(r Request, res *http.Response) error {
	e := &Error{Method: r.Method, Path: r.Path, Status: res.StatusCode, Kind: kindOf(res.StatusCode), sent: true,
		RequestID: res.Header.Get("X-Request-Id"), RetryAfter: retryAfter(res.Header.Get("Retry-After"))}
	text, _ := io.ReadAll(io.LimitReader(res.Body, maxProblem))
	e.Text, e.Code = problemText(text)
	if e.Text == "" {
		e.Text = "the server answered " + res.Status
	}
	if location := res.Header.Get("Location"); e.Kind == Misused && location != "" {
		e.Text = "the server's address leads elsewhere: " + origin(location)
	}
	return e
}

func kindOf(status int) Kind {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return Refused
	case http.StatusNotFound, http.StatusGone:
		return Missing
	case http.StatusConflict, http.StatusPreconditionFailed:
		return Conflict
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return Busy
	case http.StatusBadGateway, http.StatusGatewayTimeout, http.StatusRequestTimeout: // 408: the body came too slowly
		return Unreachable
	}
	if status < http.StatusInternalServerError {
		return Misused
	}
	return Broken
}

// problemText reads the text and the code of a failure; "" when it is none of the API.
func problemText(body []byte) (text, code string) {
	var v3 struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
		Code    json.RawMessage `json:"code"`
	}
	if json.Unmarshal(body, &v3) != nil {
		return "", ""
	}
	if json.Unmarshal(v3.Error, &text) == nil {
		return text, ""
	}
	var nested struct {
		Code    json.RawMessage `json:"code"`
		Detail  string          `json:"detail"`
		Message string          `json:"message"`
	}
	if json.Unmarshal(v3.Error, &nested) == nil {
		return nested.Detail + nested.Message, strings.Trim(string(nested.Code), `"`)
	}
	return v3.Message, strings.Trim(string(v3.Code), `"`)
}

func retryAfter(value string) time.Duration {
	seconds, err := strconv.Atoi(strings.TrimSpace(value))
	if err != nil || seconds < 0 {
		return 0
	}
	return time.Duration(min(seconds, 3600)) * time.Second
}

// origin is an address without what may be secret in it.
func origin(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "an address that cannot be read"
	}
	return u.Scheme + "://" + u.Host
}

// unreachable says why there was no answer, without the address's query.
func unreachable(ctx context.Context, r Request, err error) error {
	err = withoutAddress(err)
	var file *Error
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errStalled):
		err = cause
	case cause != nil:
		return cause
	case errors.As(err, &file): // the body could not be read
		return file
	}
	e := &Error{Kind: Unreachable, Method: r.Method, Path: r.Path, Err: err, sent: true, Text: "the server did not answer"}
	var dial *net.OpError
	var name *net.DNSError
	var invalid x509.CertificateInvalidError
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	switch {
	case errors.As(err, &name):
		e.Text, e.sent = "the server's name is not known", false
	case errors.As(err, &authority):
		e.Text, e.sent = "the server's certificate is signed by an authority that this machine does not know (SSL_CERT_FILE names "+
			"further ones)", false
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		e.Text, e.sent = "the server's certificate is not valid at this time; this machine's clock says "+
			time.Now().UTC().Format(time.RFC3339), false
	case errors.As(err, &invalid), errors.As(err, &host):
		e.Text, e.sent = "the server's certificate is not for it", false
	case errors.As(err, &dial) && dial.Op == "dial":
		e.Text, e.sent = "the server cannot be reached", false
	}
	return e
}

// brokenOff is an answer that ended before its end.
func brokenOff(r Request, err error) error {
	return &Error{Kind: Unreachable, Method: r.Method, Path: r.Path, Text: "the answer broke off", Err: err, sent: true}
}

// withoutAddress is an error of net/http without the address, whose query may hold a secret.
func withoutAddress(err error) error {
	var address *url.Error
	if errors.As(err, &address) {
		return address.Err
	}
	return err
}

// permanent reports whether trying again is in vain: a certificate does not get better
// within minutes.
func (e *Error) permanent() bool {
	var invalid x509.CertificateInvalidError
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	return errors.As(e.Err, &invalid) || errors.As(e.Err, &authority) || errors.As(e.Err, &host)
}

const (
	firstPause = 500 * time.Millisecond
	mostPause  = 10 * time.Second
)

// retry says whether and when a request is sent once more.
func (c *Client) retry(ctx context.Context, r Request, err error, try int, spent time.Duration) (time.Duration, bool) {
	var e *Error
	if ctx.Err() != nil || !errors.As(err, &e) || e.permanent() {
		return 0, false
	}
	repeatable := r.Method == http.MethodGet || r.Method == http.MethodHead || r.Key != "" || r.Repeatable
	switch {
	case e.Kind == Busy && (e.Status == http.StatusTooManyRequests || repeatable): // 429 did nothing
	case e.Kind == Conflict && repeatable && e.RetryAfter > 0: // somebody else is at it
	case e.Kind == Unreachable && (repeatable || !e.sent):
	case errors.Is(e.Err, syscall.ECONNREFUSED):
	default:
		return 0, false
	}
	wait := max(e.RetryAfter, min(firstPause<<min(try-1, 10), mostPause))
	wait += time.Duration(rand.Int64N(int64(wait/4) + 1)) // jobs that failed together must not come back together
	return wait, spent+wait <= c.cfg.RetryFor
}
