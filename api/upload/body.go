package upload

import (
	"io"
	"net/http"
	"time"
)

// bodyReader reads the body: it counts, keeps its error and ends at its limit.
type bodyReader struct {
	r     io.Reader
	n     int64
	limit int64
	rate  *minimumRate // of a sender without a key; nil: none
	err   error
}

func (b *bodyReader) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	n, err := b.read(p)
	if b.n += int64(n); b.n > b.limit {
		err = &http.MaxBytesError{Limit: b.limit}
	}
	b.err = err
	return n, err
}

func (b *bodyReader) read(p []byte) (int, error) {
	if b.rate == nil {
		return b.r.Read(p)
	}
	return b.rate.read(b.r, p)
}

// requireRate sets a least rate from here on.
func (b *bodyReader) requireRate(rate *minimumRate) {
	if b.rate == nil {
		b.rate = rate
	}
}

// liftRate ends the least rate. The router sets its own deadline again when some more bytes
// have come (256 KiB); until then rateLifted is the deadline. At the end of the
// body there must be none: net/http reads on for the client's next request.
func (b *bodyReader) liftRate() {
	if b.rate != nil && b.err == nil {
		b.rate.arm(b.rate.now().Add(rateLifted))
	}
	b.rate = nil
}

// rateLifted is above the 32 s that the router allows for as many bytes as lie
// between two of its checks.
const rateLifted = time.Minute
