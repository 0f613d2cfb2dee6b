// Package webhookcall makes the requests to webhooks: their bodies, signatures, and what
// is kept of the answers.
//
// A body is made from the event alone, so that all attempts send the same. It is JSON
// with the members that all events have, then the event's own. Addresses of chat services
// get the shape that the service shows (chat.go), with texts escaped so that nothing in
// them mentions people or makes links.
//
// A request is signed by the Standard Webhooks scheme (secret.go). It goes out through
// package outbound, so that neither the address nor a redirect nor a name that resolves
// differently the second time reaches a private address. Redirects that keep the method
// and the body (307, 308) are followed; others are an answer like any, and no success.
//
// An attempt takes at most ten seconds. Of an answer the first bytes are kept, as text
// without control characters; a body that does not end is not waited for. Errors are
// texts for people, and never have an address that a name resolved to.
package webhookcall

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"

	"github.com/slipway-qa/slipway/tasks/outbound"
)

const (
	// Timeout bounds an attempt, redirects included.
	Timeout = 10 * time.Second
	// excerptSize is how much of an answer is kept: an error page's first lines.
	excerptSize = 2 << 10
	// excerptTime bounds the reading of it: the status has come already.
	excerptTime = time.Second
	// UserAgent is the header of that name.
	UserAgent = "Slipway-Webhooks/1.0"
)

// The headers of the Standard Webhooks specification.
const (
	HeaderID        = "webhook-id"
	HeaderTimestamp = "webhook-timestamp"
	HeaderSignature = "webhook-signature"
)

// Request is what is sent.
type Request struct {
	URL         string
	ID          string // stays the same over attempts
	Secrets     []string
	Body        string
	ContentType string
	At          time.Time
}

// Result is what came back.
type Result struct {
	Status     int // 0: no answer
	Response   string
	Duration   time.Duration
	RetryAfter time.Duration
	Error      string // "" for a status of 200 to 299
}

// Sender makes requests. It is safe for concurrent use.
type Sender struct{ client *http.Client }

// NewSender returns a sender whose requests the guard checks.
func NewSender(guard *outbound.Guard) *Sender {
	client := guard.Client(Timeout)
	follow := client.CheckRedirect
	client.CheckRedirect = func(next *http.Request, via []*http.Request) error {
		if next.Method != via[0].Method {
			return http.ErrUseLastResponse
		}
		return follow(next, via)
	}
	return &Sender{client: client}
}

// Send makes one request. When the context ends with a cause, the cause is the error.
func (s *Sender) Send(ctx context.Context, r Request) (result Result) {
	began := time.Now()
	defer func() { result.Duration = time.Since(began) }()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.URL, strings.NewReader(r.Body))
	if err != nil {
		return Result{Error: "the address is not a valid URL"}
	}
	request.Header.Set("Content-Type", r.ContentType)
	request.Header.Set("User-Agent", UserAgent)
	request.Header.Set("Accept-Encoding", "identity")
	// Canonical keys: header names have no case.
	request.Header.Set(HeaderID, r.ID)
	request.Header.Set(HeaderTimestamp, strconv.FormatInt(r.At.Unix(), 10))
	request.Header.Set(HeaderSignature, Sign(r.Secrets, r.ID, r.At, r.Body))
	response, err := s.client.Do(request)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return Result{Error: cause.Error()}
		}
		return Result{Error: explain(err)}
	}
	defer response.Body.Close()
	stop := time.AfterFunc(excerptTime, func() { cancel(nil) })
	defer stop.Stop()
	text, _ := io.ReadAll(io.LimitReader(response.Body, excerptSize)) // what came until then
	result = Result{Status: response.StatusCode, Response: clean(string(text)), RetryAfter: retryAfter(response.Header, began)}
	if response.StatusCode < 200 || response.StatusCode > 299 {
		result.Error = fmt.Sprintf("the receiver answered %d", response.StatusCode)
	}
	return result
}

// clean returns text that a column and a page can have.
func clean(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || r == unicode.ReplacementChar) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "")))
}

// retryAfter reads the header of that name: seconds or a date (RFC 9110, 10.2.3).
func retryAfter(h http.Header, now time.Time) time.Duration {
	text := strings.TrimSpace(h.Get("Retry-After"))
	if n, err := strconv.Atoi(text); err == nil {
		return time.Duration(max(0, min(n, 1<<30))) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// explain returns the text of an error of a request without addresses.
func explain(err error) string {
	var forbidden *outbound.ForbiddenError
	var lookup *net.DNSError
	var timeout net.Error
	var record tls.RecordHeaderError
	var certificate *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	switch {
	case errors.As(err, &forbidden):
		return forbidden.Error()
	case errors.As(err, &lookup):
		return "host name: " + lookup.Err
	case errors.As(err, &timeout) && timeout.Timeout(), errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("no answer within %s", Timeout)
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the receiver closed the connection without an answer"
	case errors.As(err, &certificate), errors.As(err, &authority):
		return "the receiver's TLS certificate is not valid"
	case errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch):
		return "the receiver does not speak TLS"
	case strings.Contains(err.Error(), "redirects"):
		return "too many redirects"
	}
	return "the connection failed"
}
