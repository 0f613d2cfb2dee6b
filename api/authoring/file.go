package authoring

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/generation"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/storage/run"
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

func (h *room) viewFile(ctx context.Context, f *run.File) (fileView, error) {
	link, err := h.link(ctx, f)
	return fileView{ID: f.ID, Kind: f.Kind, Step: f.Step, ContentType: f.ContentType, Size: f.Size, URL: link}, err
}

// link signs a link to a file. A browser shows pictures and texts; the source of a
// page is a text to it, never a page of ours.
func (h *room) link(ctx context.Context, f *run.File) (string, error) {
	extension := ".txt"
	if f.Kind == run.Screenshot {
		extension = ".png"
		if f.ContentType == "image/jpeg" {
			extension = ".jpg"
		}
	}
	return h.cfg.Objects.SignGet(ctx, f.Key, linkAge, object.SignOptions{FileName: fmt.Sprintf("%s-%d%s", f.Kind, f.Step+1, extension),
		ContentType: f.ContentType, Inline: true})
}

// file serves GET /files/{id} with a redirect to a signed link.
func (h runs) file(c *gin.Context) error {
	id, err := uuidParam(c, "id")
	if err != nil {
		return err
	}
	f, err := h.fileOf(c.Request.Context(), auth.Organization(c), id)
	if err != nil {
		return err
	}
	link, err := h.link(c.Request.Context(), f)
	if err != nil {
		return err
	}
	c.Header("Cache-Control", "no-store") // the link is a credential
	c.Header("Location", link)
	return respond.Empty(c, http.StatusFound)
}

// fileOf reads a file of a run, or one that was captured while a test was written.
func (h *room) fileOf(ctx context.Context, organization int64, id uuid.UUID) (*run.File, error) {
	f, err := run.FileByID(ctx, h.cfg.DB, organization, id)
	if !errors.Is(err, storage.ErrNotFound) {
		return f, err
	}
	g, err := generation.FileByID(ctx, h.cfg.DB, organization, id)
	if err != nil {
		return nil, err
	}
	return &run.File{ID: g.ID, Kind: g.Kind, Step: g.Step, Key: g.Key, ContentType: g.ContentType, Size: g.Size, CreatedAt: g.CreatedAt}, nil
}
