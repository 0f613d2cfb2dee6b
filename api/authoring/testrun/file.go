package testrun

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/authoring/problem"
	"github.com/slipway-qa/slipway/api/authoring/request"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/generation"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/run/reading"
)

// linkAge is the life of a signed link to a file: long enough to look through the
// run that a page shows, short enough that a link in a forwarded report is soon
// worth nothing. /files/ makes a new one.
const linkAge = time.Hour

// fileView is a stored file of a job. step is the number of the step, from 0.
type fileView struct {
	ID          uuid.UUID `json:"id"`
	Kind        string    `json:"kind"`
	Step        int       `json:"step"`
	ContentType string    `json:"contentType"`
	Size        int64     `json:"size"`
	URL         string    `json:"url"`
}

func (h reader) viewFile(ctx context.Context, f *run.File) (fileView, error) {
	link, err := h.link(ctx, f)
	return fileView{ID: f.ID, Kind: f.Kind, Step: f.Step, ContentType: f.ContentType, Size: f.Size, URL: link}, err
}

// link signs a link to a file. A browser shows pictures and texts; the source of a
// page is a text to it, never a page of ours.
func (h reader) link(ctx context.Context, f *run.File) (string, error) {
	extension, inline := ".txt", true
	switch {
	case f.Kind == run.Trace:
		extension, inline = ".zip", false
	case run.IsPicture(f.Kind) && f.ContentType == "image/jpeg":
		extension = ".jpg"
	case run.IsPicture(f.Kind):
		extension = ".png"
	}
	return h.Objects.SignGet(ctx, f.Key, linkAge, object.SignOptions{FileName: fmt.Sprintf("%s-%d%s", f.Kind, f.Step+1, extension),
		ContentType: f.ContentType, Inline: inline})
}

// maxContent bounds a file that is answered itself, in bytes; larger ones have links.
const maxContent = 20 << 20

// File serves GET /files/{id} with a redirect to a signed link; with content=1, for clients
// that reach the api only, with the file itself.
func (h Runs) File(c *gin.Context) error {
	id, err := request.UUIDParam(c, "id")
	if err != nil {
		return err
	}
	f, err := h.fileOf(c.Request.Context(), auth.Organization(c), id)
	if err != nil {
		return err
	}
	whole, err := contentWanted(c)
	if err != nil {
		return err
	}
	if whole {
		return h.content(c, f)
	}
	return h.redirect(c, f)
}

// contentWanted reads the parameter content.
func contentWanted(c *gin.Context) (bool, error) {
	switch strings.ToLower(strings.TrimSpace(c.Query("content"))) {
	case "", "0", "false":
		return false, nil
	case "1", "true":
		return true, nil
	}
	return false, problem.InvalidQuery(&storage.InvalidError{Field: "content", Msg: "must be 1 or 0"})
}

// content answers the file itself, never as a page of ours.
func (h reader) content(c *gin.Context, f *run.File) error {
	if f.Size > maxContent {
		return &respond.Problem{Status: http.StatusRequestEntityTooLarge,
			Text: fmt.Sprintf("the file is above %d bytes: read it by its link", maxContent)}
	}
	r, info, err := h.Objects.Open(c.Request.Context(), f.Key, 0, maxContent)
	if errors.Is(err, object.ErrNotFound) {
		return fmt.Errorf("%w: %w", storage.ErrNotFound, err)
	}
	if err != nil {
		return err
	}
	defer r.Close()
	kind := "text/plain; charset=utf-8"
	if run.IsPicture(f.Kind) || f.Kind == run.Trace {
		kind = f.ContentType
	}
	c.Header("Cache-Control", "private, no-store")
	c.Header("X-Content-Type-Options", "nosniff")
	c.DataFromReader(http.StatusOK, min(info.Size, maxContent), kind, r, nil)
	return nil
}

// fileOf reads a file of a run, or one that was captured while a test was written.
func (h reader) fileOf(ctx context.Context, organization int64, id uuid.UUID) (*run.File, error) {
	f, err := reading.FileByID(ctx, h.DB, organization, id)
	if !errors.Is(err, storage.ErrNotFound) {
		return f, err
	}
	g, err := generation.FileByID(ctx, h.DB, organization, id)
	if err != nil {
		return nil, err
	}
	return &run.File{ID: g.ID, Kind: g.Kind, Step: g.Step, Key: g.Key, ContentType: g.ContentType, Size: g.Size, CreatedAt: g.CreatedAt}, nil
}
