package api

import (
	"io"
	"net/http"
	"time"
)

const (
	// bodyGrace is what a body has to arrive before its rate counts.
	bodyGrace = 30 * time.Second
	// bodyRate is the slowest transfer in bytes a second that is waited for. A
	// client below it holds memory and a connection that others need.
	bodyRate = 8 << 10
	// bodyStep is how many bytes arrive between two looks at the rate.
	bodyStep = 256 << 10
)

// paced is a request body whose sender must keep to bodyRate: what has arrived
// buys time for the rest. A read beyond it fails with os.ErrDeadlineExceeded.
type paced struct {
	io.ReadCloser
	deadline func(time.Time) error
	start    time.Time
	grace    time.Duration
	end      time.Time // the last of all deadlines: the request's
	n, next  int64
}

func newPaced(control *http.ResponseController, body io.ReadCloser, grace time.Duration, end time.Time) *paced {
	p := &paced{ReadCloser: body, deadline: control.SetReadDeadline, start: time.Now(), grace: grace, end: end}
	p.extend()
	return p
}

// extend ignores the error of writers without a connection, such as tests'.
func (p *paced) extend() {
	p.next = p.n + bodyStep
	at := p.start.Add(p.grace + time.Duration(p.n/bodyRate)*time.Second)
	if at.After(p.end) {
		at = p.end // a read does not look at the request's context
	}
	_ = p.deadline(at)
}

// Read lifts the deadline at the end of the body: net/http reads on to learn
// that the client went away, and would take the deadline for that.
func (p *paced) Read(b []byte) (int, error) {
	n, err := p.ReadCloser.Read(b)
	p.n += int64(n)
	switch {
	case err == io.EOF:
		_ = p.deadline(time.Time{})
	case p.n >= p.next:
		p.extend()
	}
	return n, err
}
