package outbound

import (
	"errors"
	"io"
)

// ErrTooLarge means that the response is longer than the caller's limit.
var ErrTooLarge = errors.New("response too large")

// ReadBody reads a response's body to its end and closes it. Of a body longer
// than limit bytes (after decompression) it returns the first limit bytes and
// ErrTooLarge.
func ReadBody(body io.ReadCloser, limit int64) ([]byte, error) {
	defer body.Close()
	data, err := io.ReadAll(io.LimitReader(body, limit+1))
	if int64(len(data)) > limit {
		return data[:limit], ErrTooLarge
	}
	return data, err
}
