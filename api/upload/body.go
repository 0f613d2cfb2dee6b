package upload

import (
	"io"
	"net/http"
)

// bodyReader reads the body: it counts, keeps its error and ends at its limit.
type bodyReader struct {
	r     io.Reader
	n     int64
	limit int64
	err   error
}

func (b *bodyReader) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	n, err := b.r.Read(p)
	if b.n += int64(n); b.n > b.limit {
		err = &http.MaxBytesError{Limit: b.limit}
	}
	b.err = err
	return n, err
}
