package inspect

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"
)

var errClosed = errors.New("the inspection is over")

// closableReader stands between a file and what reads it. It keeps reads inside the file,
// remembers the first failure and the time that reads took, and after its close
// the file is not touched any more, even by a decoder that was left behind.
type closableReader struct {
	ctx    context.Context
	reader io.ReaderAt
	size   int64

	// reads is held shared by every read, and whole by close.
	reads  sync.RWMutex
	closed bool

	mu      sync.Mutex
	failure error
	waited  time.Duration
}

// ReadAt reads what lies in the file.
func (g *closableReader) ReadAt(p []byte, off int64) (int, error) {
	g.reads.RLock()
	defer g.reads.RUnlock()
	if g.closed || g.ctx.Err() != nil {
		return 0, errClosed
	}
	if off < 0 || off >= g.size {
		return 0, io.EOF
	}
	short := int64(len(p)) > g.size-off
	if short {
		p = p[:g.size-off]
	}
	start := time.Now()
	n, err := g.reader.ReadAt(p, off)
	g.note(time.Since(start), n < len(p), err)
	if n == len(p) {
		err = nil
		if short {
			err = io.EOF
		}
	}
	return n, err
}

// note keeps what a read took, and why it failed: it lay inside of the file, so
// that a short one is the reader's failure whatever its error.
func (g *closableReader) note(took time.Duration, short bool, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waited += took
	if short && g.failure == nil {
		if err == nil || errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		g.failure = err
	}
}

// close waits for the reads under way and forbids all others.
func (g *closableReader) close() (waited time.Duration, failure error) {
	g.reads.Lock()
	g.closed = true
	g.reads.Unlock()
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.waited, g.failure
}
