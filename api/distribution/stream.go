package distribution

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/stream"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/object"
)

const (
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
	file := stream.New(c.Request.Context(), h.objects, b.File.Key, info.Size)
	defer file.Close()
	if err := file.Serve(c, b.CreatedAt); err != nil {
		header.Del("Content-Disposition")
		return err
	}
	h.finish(c, b, file)
	return nil
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
func (h legacy) finish(c *gin.Context, b *distribution.Build, file *stream.Content) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request.Context()), countTimeout)
	defer cancel()
	if file.Began() {
		if err := h.recordDownload(ctx, c, b, "v1"); err != nil {
			h.log.WarnContext(ctx, "download not counted", "build_id", b.ID, "error", err)
		}
	}
	if file.Err() != nil && c.Request.Context().Err() == nil {
		h.log.ErrorContext(ctx, "download broken off", "build_id", b.ID, "error", file.Err())
	}
}
