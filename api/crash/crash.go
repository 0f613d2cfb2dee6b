package crash

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/tasks"
)

// GetCrash answers GET /api/v3/crashes/{id}.
func (h *Handlers) GetCrash(c *gin.Context) {
	id, err := pathUUID(c, "id")
	if err != nil {
		respond.V3(c, err)
		return
	}
	d, err := h.store.CrashByID(c.Request.Context(), organization(c), id)
	if err != nil {
		respond.V3(c, err)
		return
	}
	var group *crash.GroupHead
	if d.GroupID != nil {
		group, err = h.store.GroupOf(c.Request.Context(), organization(c), id)
		if err != nil && !errors.Is(err, storage.ErrNotFound) {
			respond.V3(c, err)
			return
		}
	}
	respond.JSON(c, http.StatusOK, gin.H{"crash": crashDetailOf(d, group)})
}

// Raw answers GET /api/v3/crashes/{id}/raw with the report as it is stored.
func (h *Handlers) Raw(c *gin.Context) {
	id, err := pathUUID(c, "id")
	if err != nil {
		respond.V3(c, err)
		return
	}
	doc, err := h.store.Document(c.Request.Context(), organization(c), id)
	if err != nil {
		respond.V3(c, err)
		return
	}
	asAttachment(c, "application/json", "crash-"+id.String()+".json", int64(len(doc)))
	_, _ = c.Writer.Write(doc) // fails when the caller has gone
}

// Attachments answers GET /api/v3/crashes/{id}/attachments.
func (h *Handlers) Attachments(c *gin.Context) {
	id, err := pathUUID(c, "id")
	if err == nil {
		_, err = h.store.Document(c.Request.Context(), organization(c), id)
	}
	if err != nil {
		respond.V3(c, err)
		return
	}
	list, err := h.store.Attachments(c.Request.Context(), organization(c), id)
	if err != nil {
		respond.V3(c, err)
		return
	}
	respond.JSON(c, http.StatusOK, gin.H{"attachments": attachmentViews(list)})
}

// Attachment answers GET /api/v3/crashes/{id}/attachments/{attachment} with the
// bytes. The content type that a client gave stays in the list: here everything
// is a stream of bytes.
func (h *Handlers) Attachment(c *gin.Context) {
	crashID, err := pathUUID(c, "id")
	if err != nil {
		respond.V3(c, err)
		return
	}
	id, err := pathUUID(c, "attachment")
	if err != nil {
		respond.V3(c, err)
		return
	}
	a, err := h.store.Attachment(c.Request.Context(), organization(c), crashID, id)
	if err != nil {
		respond.V3(c, err)
		return
	}
	body, info, err := h.objects.Open(c.Request.Context(), a.ObjectKey, 0, -1)
	if errors.Is(err, object.ErrNotFound) {
		err = fmt.Errorf("%w: %w", storage.ErrNotFound, err)
	}
	if err != nil {
		respond.V3(c, err)
		return
	}
	defer body.Close()
	asAttachment(c, "application/octet-stream", a.Name, info.Size)
	_, _ = io.Copy(c.Writer, body) // the length tells a caller that bytes are missing
}

// asAttachment writes the headers of bytes that came from outside.
func asAttachment(c *gin.Context, contentType, name string, size int64) {
	header := c.Writer.Header()
	header.Set("Content-Type", contentType)
	header.Set("Content-Length", strconv.FormatInt(size, 10))
	header.Set("Content-Disposition", respond.Attachment(name, "attachment"))
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	header.Set("Cache-Control", "private, no-store")
	c.Status(http.StatusOK)
}

// Purge answers DELETE /api/v3/crashes?attribute.KEY=VALUE[&project=ID]: it asks
// for the removal of every report that carries the attribute, and answers 202
// with the task to poll. Exactly one attribute must be named.
func (h *Handlers) Purge(c *gin.Context) {
	q := c.Request.URL.Query()
	filters, err := attributes(q)
	if err == nil && len(filters) != 1 {
		err = &storage.InvalidError{Field: "attribute", Msg: "exactly one attribute.KEY=VALUE is required"}
	}
	var projectID int64
	if err == nil {
		projectID, err = project(q)
	}
	if err != nil {
		respond.V3(c, err)
		return
	}
	ctx, org := c.Request.Context(), organization(c)
	task := tasks.NewCrashPurge(org, respond.RequestID(ctx),
		tasks.CrashPurgePayload{Key: filters[0].Key, Value: filters[0].Value, ProjectID: projectID})
	err = h.store.DB().InTx(ctx, func(tx *storage.Tx) error {
		if _, err := ledger.Insert(ctx, tx, task); err != nil {
			return err
		}
		// The value is what the person wants forgotten: the trail, which cannot
		// be changed, names the attribute only.
		return account.Audit(ctx, tx, account.Event{OrganizationID: org, Type: account.CrashPurgeRequested,
			Actor: auth.Actor(c), Subject: "attribute " + filters[0].Key,
			Detail: map[string]any{"task_id": task.ID, "project_id": projectID}})
	})
	if err != nil {
		respond.V3(c, err)
		return
	}
	respond.JSON(c, http.StatusAccepted, gin.H{"task_id": task.ID})
}
