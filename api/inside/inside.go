// Package inside asks the api's own routes on behalf of a caller who was found already: the
// pages of the console do, and the tools for agents. The handler that it asks is the
// router's, which applies the action, the limits and the audit of each route.
//
// An answer is kept in memory up to MaxAnswer bytes. A route that panics does so in the
// caller's goroutine.
package inside

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/respond"
)

// MaxAnswer bounds what is kept of one answer; the largest, a crash with its threads, has
// some hundred KiB.
const MaxAnswer = 16 << 20

// Origin is where the request came from that routes are asked for.
type Origin struct {
	Host    string // that the client called
	Address string // of the client, without its port
	Agent   string // its User-Agent
}

// Request returns a request to a route, on behalf of the caller in the context.
func Request(ctx context.Context, method, path string, body io.Reader, from Origin) (*http.Request, error) {
	r, err := http.NewRequestWithContext(auth.FromInside(ctx), method, path, body)
	if err != nil {
		return nil, fmt.Errorf("request of %s: %w", path, err)
	}
	r.Host, r.RemoteAddr = from.Host, net.JoinHostPort(from.Address, "0")
	r.Header.Set("Accept", "application/json")
	r.Header.Set("User-Agent", from.Agent)
	return r, nil
}

// Answer keeps what a route answers: an http.ResponseWriter.
type Answer struct {
	Status  int // 0 until the route answers
	Body    bytes.Buffer
	TooLong bool // Body is not all of it

	header http.Header
}

// Header returns the header of the answer.
func (a *Answer) Header() http.Header {
	if a.header == nil {
		a.header = http.Header{}
	}
	return a.header
}

// WriteHeader keeps the first status.
func (a *Answer) WriteHeader(status int) {
	if a.Status == 0 {
		a.Status = status
	}
}

// Write keeps a part of the body.
func (a *Answer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	if a.Body.Len()+len(p) > MaxAnswer {
		a.TooLong = true
		return len(p), nil
	}
	return a.Body.Write(p)
}

// Problem reads a failure in the shapes of the interfaces.
func (a *Answer) Problem() error {
	var plain struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
	}
	text := http.StatusText(a.Status)
	if json.Unmarshal(a.Body.Bytes(), &plain) == nil {
		var inner struct{ Detail, Message string }
		switch {
		case plain.Message != "":
			text = plain.Message
		case json.Unmarshal(plain.Error, &text) == nil:
		case json.Unmarshal(plain.Error, &inner) == nil:
			text = inner.Detail + inner.Message
		}
	}
	return &respond.Problem{Status: a.Status, Text: text}
}

type originKey struct{}

// WithOrigin returns a context whose requests by a Transport come from there.
func WithOrigin(ctx context.Context, from Origin) context.Context {
	return context.WithValue(ctx, originKey{}, from)
}

// ByTransport reports whether a request came by a Transport.
func ByTransport(ctx context.Context) bool {
	_, ok := ctx.Value(originKey{}).(Origin)
	return ok
}

// Transport is an http.RoundTripper to the routes, for clients of the api that run within
// it. The caller and the origin of a request are in its context; without a caller it fails.
type Transport struct {
	// Handler is the router's; it may be set until the first request.
	Handler http.Handler
}

var errNobody = errors.New("a request from inside has no caller")

// RoundTrip asks the route. What the request has of credentials is left out.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		defer r.Body.Close()
	}
	ctx := r.Context()
	if auth.CallerOf(ctx) == nil {
		return nil, errNobody
	}
	body := io.Reader(http.NoBody)
	if r.Body != nil {
		body = r.Body
	}
	from, _ := ctx.Value(originKey{}).(Origin)
	asked, err := Request(ctx, r.Method, r.URL.RequestURI(), body, from)
	if err != nil {
		return nil, err
	}
	asked.ContentLength = r.ContentLength
	for _, name := range []string{"Accept", "Content-Type", "Idempotency-Key", "User-Agent"} {
		if value := r.Header.Get(name); value != "" {
			asked.Header.Set(name, value)
		}
	}
	answer := &Answer{}
	t.Handler.ServeHTTP(answer, asked)
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if answer.TooLong {
		return nil, fmt.Errorf("the answer of %s is above %d bytes", r.URL.Path, MaxAnswer)
	}
	answer.WriteHeader(http.StatusOK)
	return &http.Response{Status: fmt.Sprintf("%d %s", answer.Status, http.StatusText(answer.Status)), StatusCode: answer.Status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: answer.Header(), ContentLength: int64(answer.Body.Len()),
		Body: io.NopCloser(&answer.Body), Request: r}, nil
}
