package upload

import (
	"errors"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/slipway-qa/slipway/api/respond"
)

// source is the body: it counts, keeps its error and ends at its limit.
type source struct {
	r     io.Reader
	n     int64
	limit int64
	pace  *pace // of a sender that is not known, nil for others
	err   error
}

func (s *source) Read(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	n, err := s.read(p)
	if s.n += int64(n); s.n > s.limit {
		err = &http.MaxBytesError{Limit: s.limit}
	}
	s.err = err
	return n, err
}

func (s *source) read(p []byte) (int, error) {
	if s.pace == nil {
		return s.r.Read(p)
	}
	return s.pace.read(s.r, p)
}

// hurry sets a least rate from here on.
func (s *source) hurry(p *pace) {
	if s.pace == nil {
		s.pace = p
	}
}

// trust lifts it. The router sets its own deadline again when some more bytes have
// come (256 KiB), for which this one is long enough. At the end of the body there
// must be none: net/http reads on for the client's next request.
func (s *source) trust() {
	if s.pace != nil && s.err == nil {
		s.pace.arm(s.pace.now().Add(trustTime))
	}
	s.pace = nil
}

// trustTime: the router waits 32 s for as many bytes as lie between two of its
// looks.
const trustTime = time.Minute

// pace is the rate that the sender of an upload without a key must keep to: it
// holds a place that others wait for. Only time in which its bytes were waited
// for counts, not what the store takes.
type pace struct {
	rate  int64 // bytes a second, averaged
	grace time.Duration
	end   time.Time // the request's own; zero: none
	// deadline ends reads of the connection.
	deadline func(time.Time) error
	now      func() time.Time

	n    int64
	used time.Duration
}

// left is how long the next byte may take.
func (p *pace) left() time.Duration {
	return p.grace + time.Duration(float64(p.n)/float64(p.rate)*float64(time.Second)) - p.used
}

// read sets the deadline each time: the router's, which is later, comes with
// bytes that only it counts.
func (p *pace) read(r io.Reader, b []byte) (int, error) {
	start := p.now()
	p.arm(start.Add(p.left()))
	n, err := r.Read(b)
	p.n += int64(n)
	p.used += p.now().Sub(start)
	if err == nil && p.left() <= 0 || errors.Is(err, os.ErrDeadlineExceeded) {
		err = p.tooSlow(err)
	}
	return n, err
}

// arm ignores the error of writers without a connection, such as tests'.
func (p *pace) arm(at time.Time) {
	if !p.end.IsZero() && at.After(p.end) {
		at = p.end // a read does not look at the request's context
	}
	_ = p.deadline(at)
}

func (p *pace) tooSlow(err error) error {
	return &respond.Problem{Status: http.StatusRequestTimeout, Err: err,
		Text: "the body arrived too slowly: without a key at least " + strconv.FormatInt(p.rate, 10) +
			" bytes a second are wanted; send the key in a header, or before the file"}
}
