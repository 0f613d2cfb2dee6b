package distribution

import (
	"context"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/distribution/announcement"
	"github.com/slipway-qa/slipway/storage/distribution/installpage"
	"github.com/slipway-qa/slipway/storage/gate"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/tasks"
)

// linkAge is how long a signed link works: as long as a Bearer token, and enough
// for the largest upload over a slow line.
const linkAge = time.Hour

// linkView is a link; ExpiresAt is absent when it works for good.
type linkView struct {
	URL       string     `json:"url"`
	ExpiresAt *time.Time `json:"expires_at,omitempty"`
}

// download serves GET /api/v3/builds/{id}/download with a pre-signed link, and counts
// a download. Without an object store it is the link of the install page, which
// counts by itself. 409 when the build is not distributable: whoever has the link
// needs no credentials.
func (h builds) download(c *gin.Context) error {
	b, err := h.build(c)
	if err != nil {
		return err
	}
	if reason := b.Distributable(); reason != "" {
		return conflict(reason)
	}
	if h.objects == nil {
		return respond.JSON(c, http.StatusOK, linkView{URL: h.links.Page(b.Token)})
	}
	view, err := h.sign(c.Request.Context(), b.File.Key, b.FileName, fileType(b))
	if err != nil {
		return err
	}
	if c.Request.Method == http.MethodGet {
		if err := h.recordDownload(c.Request.Context(), c, b, "v3"); err != nil {
			return err
		}
	}
	respond.Private(c)
	return respond.JSON(c, http.StatusOK, view)
}

// recordDownload counts a download by the caller. The context may outlive the request.
func (r *room) recordDownload(ctx context.Context, c *gin.Context, b *distribution.Build, via string) error {
	d := installpage.Download{Build: b, Actor: auth.Actor(c), BuildURL: r.links.Page(b.Token), Referer: c.Request.Referer(), Via: via}
	return r.db.InTx(ctx, func(tx *storage.Tx) error { return installpage.RecordDownload(ctx, tx, d) })
}

func (h builds) sign(ctx context.Context, key, name, contentType string) (linkView, error) {
	expires := h.now().Add(linkAge).UTC().Truncate(time.Second)
	url, err := h.objects.SignGet(ctx, key, linkAge, object.SignOptions{FileName: name, ContentType: contentType})
	return linkView{URL: url, ExpiresAt: &expires}, err
}

const (
	typeBytes = "application/octet-stream"
	typeAPK   = "application/vnd.android.package-archive"
)

// fileType is what a device goes by: Android installs only what is called a
// package; everything else is a stream of bytes, which browsers save under its
// name.
func fileType(b *distribution.Build) string {
	if b.Kind == artifact.APK {
		return typeAPK
	}
	return typeBytes
}

// symbols serves GET /api/v3/builds/{id}/symbols/download; 404 when the build has no
// symbols.
func (h builds) symbols(c *gin.Context) error {
	b, err := h.build(c)
	if err != nil {
		return err
	}
	if b.SymbolsKey == "" || h.objects == nil {
		return &respond.Problem{Status: http.StatusNotFound, Text: "the build has no symbols"}
	}
	view, err := h.sign(c.Request.Context(), b.SymbolsKey, b.SymbolsName, typeBytes)
	if err != nil {
		return err
	}
	respond.Private(c)
	return respond.JSON(c, http.StatusOK, view)
}

// notify serves POST /api/v3/builds/{id}/notify-testers: 202 once the mail to the
// testers is queued, 409 when they could not install the build.
func (h builds) notify(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	task := tasks.NewBuildNotify(auth.Organization(c), respond.RequestID(c.Request.Context()), id)
	err = h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) error {
		if err := gate.CheckNotify(ctx, tx, w.OrganizationID, id); err != nil {
			return err
		}
		return announcement.NotifyTesters(ctx, tx, w, id, task)
	})
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusAccepted, gin.H{"status": "queued", "task_id": task.ID})
}
