package object

import (
	"context"
	"fmt"
	"io"
)

// source cuts a reader into buffers, knows which one is the last (it reads one
// byte ahead), and holds the reader to its announced size.
type source struct {
	r       io.Reader
	size    int64 // -1: not announced
	total   int64 // bytes handed out
	ahead   [1]byte
	isAhead bool
}

// next fills buf. n is smaller than len(buf) only in the last one.
func (s *source) next(ctx context.Context, buf []byte) (n int, last bool, err error) {
	if s.isAhead {
		buf[0], n, s.isAhead = s.ahead[0], 1, false
	}
	m, err := fill(ctx, s.r, buf[n:])
	n += m
	if err == nil {
		m, err = fill(ctx, s.r, s.ahead[:])
		s.isAhead = m == 1
		if s.isAhead && err == io.EOF {
			err = nil // the end shows again at the next read
		}
	}
	if err != nil && err != io.EOF {
		return n, false, fmt.Errorf("read: %w", err)
	}
	last = err == io.EOF
	s.total += int64(n)
	if s.size >= 0 && (last && s.total != s.size || !last && s.total >= s.size) {
		return n, last, ErrSize
	}
	return n, last, nil
}
