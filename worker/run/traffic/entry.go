package traffic

import (
	"strings"
	"time"
)

// Entry is a request with its response. A redirect has one of its own.
type Entry struct {
	// Number counts the requests of the recording from 1.
	Number int
	// Request is the browser's id of the request, which those that follow redirects
	// share; Redirects counts the redirects before this one.
	Request   string
	Redirects int
	// Page is the window or frame that sent it, "" for a worker; Navigation is true
	// when it loads a document into it.
	Page       string
	Navigation bool
	// Kind is what it is for: document, script, style, image, fetch ...; "" unknown.
	Kind   string
	Method string
	URL    string // without fragment; at most 16 KiB

	RequestHeaders []Header
	RequestSize    int64 // of the body, in bytes; 0 for none

	// Status is 0 until the response begins.
	Status          int
	StatusText      string
	Protocol        string // http/1.1, h2 ...
	MIMEType        string
	FromCache       bool
	ResponseHeaders []Header
	// BodySize is that of the body in bytes after its encoding was undone;
	// TransferSize is what came over the line, with the header.
	BodySize, TransferSize int64

	// Sent is when the request was sent, by the browser's clock. Timing is relative
	// to it.
	Sent   time.Time
	Timing Timing
	// Done is true once the response has ended or failed; Failure is why it did, as the
	// browser calls it (net::ERR_CONNECTION_REFUSED), "" when it did not.
	Done    bool
	Failure string

	// SentAt and AnsweredAt are when the events of both came; AnsweredAt is 0 before.
	SentAt, AnsweredAt Mark

	posted string // the body of the request, where the event had it
	size   int
}

// Header is a line of a header.
type Header struct{ Name, Value string }

// Timing is when the parts of an exchange began and ended, since its start; 0 where it
// had none.
type Timing struct {
	DNSStart, DNSEnd, ConnectStart, ConnectEnd, TLSStart, RequestStart, ResponseStart, ResponseEnd time.Duration
}

// Header returns the first value of a header of the response, "" and false without one.
func (e Entry) Header(name string) (string, bool) {
	for _, h := range e.ResponseHeaders {
		if strings.EqualFold(h.Name, name) {
			return h.Value, true
		}
	}
	return "", false
}
