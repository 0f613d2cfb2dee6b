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
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

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
		return Result{Error: outbound.Explain(err, Timeout)}
	}
	defer response.Body.Close()
	stop := time.AfterFunc(excerptTime, func() { cancel(nil) })
	defer stop.Stop()
	text, _ := io.ReadAll(io.LimitReader(response.Body, excerptSize)) // what came until then
	result = Result{Status: response.StatusCode, Response: outbound.CleanText(string(text)),
		RetryAfter: outbound.RetryAfter(response.Header, began)}
	if response.StatusCode < 200 || response.StatusCode > 299 {
		result.Error = fmt.Sprintf("the receiver answered %d", response.StatusCode)
	}
	return result
}
