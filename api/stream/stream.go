// Package stream serves stored objects of any size over HTTP: whole, by single and
// multiple ranges, and by condition.
//
// A Content is an io.ReadSeeker over an object. It opens the store only when it is
// read, by windows that grow while the reading goes on: a range of some bytes costs
// little, and a whole file some ten requests for each GiB. Serve lets net/http answer
// the request's headers from it; what these ask for and cannot have is returned as a
// failure, to be written in the shape of the interface.
//
// An error of the store in the middle of an answer cuts the answer off. Err returns it
// for the log.
package stream

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage/object"
)

const (
	// firstWindow and maxWindow bound one read from the object store.
	firstWindow = 1 << 20
	maxWindow   = 64 << 20
	// maxRanges of one request; each is a read of its own. Beyond that, and for
	// another unit than bytes, the whole file is the answer, as RFC 9110 has it.
	maxRanges = 16
)

// New returns the content of an object of the given size in bytes. Nothing is read yet.
func New(ctx context.Context, store object.Store, key string, size int64) *Content {
	return &Content{ctx: ctx, store: store, key: key, size: size}
}

// Began reports whether the first byte was read.
func (f *Content) Began() bool { return f.began }

// Err returns the failure of the store, if there was one.
func (f *Content) Err() error { return f.err }

// Serve writes the answer of GET or HEAD; the headers that describe the object, such as
// ETag, are set already. A range or condition that cannot be met is a *respond.Problem.
func (f *Content) Serve(c *gin.Context, modified time.Time) error {
	if r := c.GetHeader("Range"); strings.Count(r, ",") >= maxRanges || !strings.HasPrefix(r, "bytes=") {
		c.Request.Header.Del("Range")
	}
	w := &refusals{ResponseWriter: c.Writer}
	http.ServeContent(w, c.Request, "", modified, f)
	if w.status != 0 {
		return &respond.Problem{Status: w.status, Text: http.StatusText(w.status) + ": the file does not meet the headers of the request"}
	}
	c.Writer.WriteHeaderNow() // a status without a body, such as 304
	return nil
}

// refusals keeps what net/http writes about a range or a condition that cannot be
// met, so that it is written in the shape of the interface.
type refusals struct {
	http.ResponseWriter
	status int // 0: none
}

func (w *refusals) WriteHeader(status int) {
	if status >= http.StatusBadRequest {
		w.status = status
		return
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *refusals) Write(p []byte) (int, error) {
	if w.status != 0 {
		return len(p), nil
	}
	return w.ResponseWriter.Write(p)
}

// Content reads an object from wherever it is asked to. It is for one goroutine.
type Content struct {
	ctx    context.Context
	store  object.Store
	key    string
	size   int64
	at     int64
	window int64         // of the next opening
	open   io.ReadCloser // stands at at; nil: to be opened
	opened int64         // at, when it was opened
	began  bool          // the first byte was read
	err    error         // of the store
}

// Seek sets where the next Read begins.
func (f *Content) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += f.at
	case io.SeekEnd:
		offset += f.size
	}
	if offset < 0 {
		return f.at, errors.New("seek before the beginning")
	}
	if offset != f.at {
		f.Close()
		f.window = 0
	}
	f.at = offset
	return offset, nil
}

// Read reads on from the store.
func (f *Content) Read(p []byte) (int, error) {
	for f.err == nil {
		if f.at >= f.size {
			return 0, io.EOF
		}
		if f.open == nil {
			f.window, f.opened = min(max(2*f.window, firstWindow), maxWindow), f.at
			if f.open, _, f.err = f.store.Open(f.ctx, f.key, f.at, f.window); f.err != nil {
				break
			}
		}
		n, err := f.open.Read(p)
		f.began = f.began || n > 0 && f.at == 0
		f.at += int64(n)
		if err != nil {
			f.Close()
			if !errors.Is(err, io.EOF) {
				f.err = err
			} else if f.at == f.opened {
				f.err = io.ErrUnexpectedEOF // the object is shorter than it was
			}
		}
		if n > 0 || len(p) == 0 {
			return n, f.err
		}
	}
	return 0, f.err
}

// Close frees what is open; the content can be read on.
func (f *Content) Close() {
	if f.open != nil {
		_ = f.open.Close()
		f.open = nil
	}
}
