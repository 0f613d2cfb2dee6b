package inspect

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"
)

var errClosed = errors.New("the inspection is over")

// closableReader stands between a file and what reads it. It keeps reads inside
// the file, and records the first failure and the time that reads took. After
// close the file is not read any more, even by a decoder that was left behind.
type closableReader struct {
	ctx    context.Context
	reader io.ReaderAt
	size   int64

	// reads is locked shared by every read, and exclusively by close.
	reads  sync.RWMutex
	closed bool

	mu      sync.Mutex
	failure error
	waited  time.Duration
}

// ReadAt reads what lies in the file.
func (r *closableReader) ReadAt(p []byte, off int64) (int, error) {
	r.reads.RLock()
	defer r.reads.RUnlock()
	if r.closed || r.ctx.Err() != nil {
		return 0, errClosed
	}
	if off < 0 || off >= r.size {
		return 0, io.EOF
	}
	short := int64(len(p)) > r.size-off
	if short {
		p = p[:r.size-off]
	}
	start := time.Now()
	n, err := r.reader.ReadAt(p, off)
	r.record(time.Since(start), n < len(p), err)
	if n < len(p) {
		return n, err
	}
	if short {
		return n, io.EOF
	}
	return n, nil
}

// record adds the time of a read, and keeps why it failed. The read lay inside
// the file, so that a short one is the reader's failure whatever its error.
func (r *closableReader) record(took time.Duration, short bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waited += took
	if !short || r.failure != nil {
		return
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	r.failure = err
}

// close waits for the reads under way and refuses all later ones. It returns how
// long reads took in all, and the first failure.
func (r *closableReader) close() (waited time.Duration, failure error) {
	r.reads.Lock()
	r.closed = true
	r.reads.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.waited, r.failure
}
