package distribution

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/object"
)

const (
	// firstWindow and maxWindow bound one read from the object store. A range of
	// some bytes costs little, and a whole file some ten requests for each GiB.
	firstWindow = 1 << 20
	maxWindow   = 64 << 20
	// maxRanges of one request; each is a read of its own. Beyond that, and for
	// another unit than bytes, the whole file is the answer, as RFC 9110 has it.
	maxRanges = 16
	// countTimeout bounds the counting of a download whose client has gone.
	countTimeout = 5 * time.Second
)

// download1 serves GET /api/1/projects/{id}/builds/{build}/download with the
// uploaded bytes: single and multiple ranges, If-Range, If-None-Match, HEAD. A
// request that reads the first byte counts as a download.
func (h legacy) download1(c *gin.Context) error {
	b, err := h.buildOfProject(c)
	if err != nil {
		return err
	}
	info, err := h.stat(c.Request.Context(), b.File.Key)
	if err != nil {
		return err
	}
	header := c.Writer.Header()
	header.Set("Content-Type", fileType(b))
	header.Set("Content-Disposition", respond.Attachment(b.FileName, "build"))
	header.Set("ETag", `"`+b.File.SHA256+`"`)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	header.Set("Cache-Control", "private, no-cache")
	if r := c.GetHeader("Range"); strings.Count(r, ",") >= maxRanges || !strings.HasPrefix(r, "bytes=") {
		c.Request.Header.Del("Range")
	}
	file := &content{ctx: c.Request.Context(), store: h.objects, key: b.File.Key, size: info.Size}
	defer file.close()
	w := &refusals{ResponseWriter: c.Writer}
	http.ServeContent(w, c.Request, "", b.CreatedAt, file)
	if w.status != 0 {
		header.Del("Content-Disposition")
		return &respond.Problem{Status: w.status, Text: http.StatusText(w.status) + ": the file does not meet the headers of the request"}
	}
	c.Writer.WriteHeaderNow() // a status without a body, such as 304
	h.finish(c, b, file)
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

// stat looks the object up; one that is gone is not found.
func (h legacy) stat(ctx context.Context, key string) (object.Info, error) {
	if h.objects == nil {
		return object.Info{}, fmt.Errorf("no object store: %w", storage.ErrNotFound)
	}
	info, err := h.objects.Stat(ctx, key)
	if errors.Is(err, object.ErrNotFound) {
		err = fmt.Errorf("%w: %w", storage.ErrNotFound, err)
	}
	return info, err
}

// finish counts the download and logs what went wrong in the middle of it, when
// no other answer can be written any more. The client may have gone by then.
func (h legacy) finish(c *gin.Context, b *distribution.Build, file *content) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request.Context()), countTimeout)
	defer cancel()
	if file.began {
		if err := distribution.CountDownload(ctx, h.db, b.ID); err != nil {
			h.log.WarnContext(ctx, "download not counted", "build_id", b.ID, "error", err)
		}
	}
	if file.err != nil && c.Request.Context().Err() == nil {
		h.log.ErrorContext(ctx, "download broken off", "build_id", b.ID, "error", file.err)
	}
}

// content reads an object from wherever it is asked to. It opens the store only
// when it is read, by windows that grow while the reading goes on.
type content struct {
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

func (f *content) Seek(offset int64, whence int) (int64, error) {
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
		f.close()
		f.window = 0
	}
	f.at = offset
	return offset, nil
}

func (f *content) Read(p []byte) (int, error) {
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
			f.close()
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

func (f *content) close() {
	if f.open != nil {
		_ = f.open.Close()
		f.open = nil
	}
}
