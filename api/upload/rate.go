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

// minimumRate is the rate that the sender of an upload without a key must keep to:
// it holds a slot that others wait for. Only the time in which its bytes were
// waited for counts, not what the store takes.
type minimumRate struct {
	bytesPerSecond int64 // on average
	grace          time.Duration
	end            time.Time // the request's own; zero: none
	// setDeadline ends reads of the connection.
	setDeadline func(time.Time) error
	now         func() time.Time

	n    int64         // bytes that have arrived
	used time.Duration // the time they took
}

// left is how long the next byte may take.
func (m *minimumRate) left() time.Duration {
	return m.grace + time.Duration(float64(m.n)/float64(m.bytesPerSecond)*float64(time.Second)) - m.used
}

// read sets the deadline each time: the router's, which is later, is set by bytes
// that only the router counts.
func (m *minimumRate) read(r io.Reader, b []byte) (int, error) {
	start := m.now()
	m.arm(start.Add(m.left()))
	n, err := r.Read(b)
	m.n += int64(n)
	m.used += m.now().Sub(start)
	if err == nil && m.left() <= 0 || errors.Is(err, os.ErrDeadlineExceeded) {
		err = m.tooSlow(err)
	}
	return n, err
}

// arm ignores the error of writers without a connection, such as those of tests.
func (m *minimumRate) arm(at time.Time) {
	if !m.end.IsZero() && at.After(m.end) {
		at = m.end // a read does not look at the request's context
	}
	_ = m.setDeadline(at)
}

func (m *minimumRate) tooSlow(err error) error {
	return &respond.Problem{Status: http.StatusRequestTimeout, Err: err,
		Text: "the body arrived too slowly: without a key at least " + strconv.FormatInt(m.bytesPerSecond, 10) +
			" bytes a second are wanted; send the key in a header, or before the file"}
}
