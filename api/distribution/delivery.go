package distribution

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/ledger"
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

// DownloadBuild answers GET /api/v3/builds/{id}/download with a pre-signed link,
// and counts a download. Without an object store it is the link of the install
// page, which counts by itself. 409 when the build is not distributable: whoever
// has the link needs no credentials.
func (h *Handlers) DownloadBuild(c *gin.Context) {
	b, err := h.build(c)
	if err == nil && b.Distributable() != "" {
		err = conflict(b.Distributable())
	}
	if err != nil {
		respond.V3(c, err)
		return
	}
	if h.objects == nil {
		respond.JSON(c, http.StatusOK, linkView{URL: h.links.Page(b.Token)})
		return
	}
	view, err := h.sign(c.Request.Context(), b.File.Key, b.FileName, fileType(b))
	if err == nil && c.Request.Method == http.MethodGet {
		err = distribution.CountDownload(c.Request.Context(), h.db, b.ID)
	}
	if err != nil {
		respond.V3(c, err)
		return
	}
	private(c)
	respond.JSON(c, http.StatusOK, view)
}

func (h *Handlers) sign(ctx context.Context, key, name, contentType string) (linkView, error) {
	expires := h.now().Add(linkAge).UTC().Truncate(time.Second)
	url, err := h.objects.SignGet(ctx, key, linkAge, object.SignOptions{FileName: name, ContentType: contentType})
	return linkView{URL: url, ExpiresAt: &expires}, err
}

// private keeps an answer that is a credential out of caches.
func private(c *gin.Context) { c.Header("Cache-Control", "private, no-store") }

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

// DownloadSymbols answers GET /api/v3/builds/{id}/symbols/download; 404 when the
// build has no symbols.
func (h *Handlers) DownloadSymbols(c *gin.Context) {
	b, err := h.build(c)
	if err == nil && (b.SymbolsKey == "" || h.objects == nil) {
		err = &respond.Problem{Status: http.StatusNotFound, Text: "the build has no symbols"}
	}
	if err != nil {
		respond.V3(c, err)
		return
	}
	view, err := h.sign(c.Request.Context(), b.SymbolsKey, b.SymbolsName, typeBytes)
	if err != nil {
		respond.V3(c, err)
		return
	}
	private(c)
	respond.JSON(c, http.StatusOK, view)
}

// Notify answers POST /api/v3/builds/{id}/notify-testers: 202 once the mail to the
// testers is queued, 409 when they could not install the build.
func (h *Handlers) Notify(c *gin.Context) {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		respond.V3(c, err)
		return
	}
	task := tasks.NewBuildNotify(organization(c), respond.RequestID(c.Request.Context()), id)
	err = h.change(c, func(ctx context.Context, tx *storage.Tx, actor account.Actor) error {
		b, err := distribution.BuildByID(ctx, tx, organization(c), 0, id)
		if err != nil {
			return err
		}
		if !auth.Writer(c).May(b.TeamID) {
			return &respond.Problem{Status: http.StatusForbidden, Text: "this takes admin rights on the app's team"}
		}
		if reason := undeliverable(b); reason != "" {
			return conflict(reason)
		}
		if _, err := ledger.Insert(ctx, tx, task); err != nil {
			return err
		}
		return account.Audit(ctx, tx, account.Event{OrganizationID: b.OrganizationID, Type: account.TestersNotified,
			Actor: actor, Subject: "build " + strconv.FormatInt(b.ID, 10),
			Detail: map[string]any{"build_id": b.ID, "project_id": b.ProjectID, "task_id": task.ID}})
	})
	if err != nil {
		respond.V3(c, problem(err))
		return
	}
	respond.JSON(c, http.StatusAccepted, gin.H{"status": "queued", "task_id": task.ID})
}

// undeliverable says why testers cannot install a build; "" when they can.
func undeliverable(b *distribution.Build) string {
	if reason := b.Distributable(); reason != "" {
		return reason
	}
	if !b.Installable() {
		return "a file of the kind " + string(b.Kind) + " cannot be installed by testers"
	}
	return ""
}
