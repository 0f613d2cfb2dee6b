package crash

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/reading"
	"github.com/slipway-qa/slipway/storage/crash/received"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/tasks"
)

// Crash serves GET /api/v3/crashes/{id}.
func (h *Handlers) Crash(c *gin.Context) error {
	id, err := pathUUID(c, "id")
	if err != nil {
		return err
	}
	ctx, organization := c.Request.Context(), auth.Organization(c)
	d, err := reading.CrashByID(ctx, h.store, organization, id)
	if err != nil {
		return err
	}
	var group *reading.GroupHead
	if d.GroupID != nil {
		group, err = reading.GroupOf(ctx, h.store.DB(), organization, id)
		if err != nil && !errors.Is(err, storage.ErrNotFound) {
			return err
		}
	}
	view := crashDetailOf(d, group, h.breadcrumbFiles(ctx, d.Attachments))
	if group != nil && d.OccurredAt != nil {
		beside, err := reading.NeighboursOf(ctx, h.store.DB(), organization, group.ID, *d.OccurredAt, id)
		if err != nil {
			return err
		}
		view.PreviousID, view.NextID = beside.Previous, beside.Next
	}
	return respond.JSON(c, http.StatusOK, gin.H{"crash": view})
}

// Raw serves GET /api/v3/crashes/{id}/raw with the report as it is stored.
func (h *Handlers) Raw(c *gin.Context) error {
	id, err := pathUUID(c, "id")
	if err != nil {
		return err
	}
	doc, err := h.store.Document(c.Request.Context(), auth.Organization(c), id)
	if err != nil {
		return err
	}
	asAttachment(c, "application/json", "crash-"+id.String()+".json", int64(len(doc)))
	_, _ = c.Writer.Write(doc) // fails when the caller has gone
	return nil
}

// Attachments serves GET /api/v3/crashes/{id}/attachments.
func (h *Handlers) Attachments(c *gin.Context) error {
	id, err := pathUUID(c, "id")
	if err != nil {
		return err
	}
	ctx, organization := c.Request.Context(), auth.Organization(c)
	if _, err := h.store.Document(ctx, organization, id); err != nil {
		return err
	}
	list, err := received.Attachments(ctx, h.store.DB(), organization, id)
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusOK, gin.H{"attachments": attachmentViews(list)})
}

// Attachment serves GET /api/v3/crashes/{id}/attachments/{attachment} with the
// bytes. The content type that a client gave stays in the list: here everything
// is a stream of bytes.
func (h *Handlers) Attachment(c *gin.Context) error {
	crashID, err := pathUUID(c, "id")
	if err != nil {
		return err
	}
	id, err := pathUUID(c, "attachment")
	if err != nil {
		return err
	}
	a, err := received.AttachmentByID(c.Request.Context(), h.store.DB(), auth.Organization(c), crashID, id)
	if err != nil {
		return err
	}
	body, info, err := h.objects.Open(c.Request.Context(), a.ObjectKey, 0, -1)
	if errors.Is(err, object.ErrNotFound) {
		return fmt.Errorf("%w: %w", storage.ErrNotFound, err)
	}
	if err != nil {
		return err
	}
	defer body.Close()
	asAttachment(c, "application/octet-stream", a.Name, info.Size)
	_, _ = io.Copy(c.Writer, body) // the length tells a caller that bytes are missing
	return nil
}

// asAttachment writes the headers of bytes that came from outside.
func asAttachment(c *gin.Context, contentType, name string, size int64) {
	header := c.Writer.Header()
	header.Set("Content-Type", contentType)
	header.Set("Content-Length", strconv.FormatInt(size, 10))
	header.Set("Content-Disposition", respond.Attachment(name, "attachment"))
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	respond.Private(c)
	c.Status(http.StatusOK)
}

// Purge serves DELETE /api/v3/crashes?attribute.KEY=VALUE[&project=ID]: it writes
// the task that removes every report that carries the attribute, and responds with
// 202 and the task to poll. Exactly one attribute must be named.
func (h *Handlers) Purge(c *gin.Context) error {
	q := c.Request.URL.Query()
	filters, err := attributes(q)
	if err != nil {
		return err
	}
	if len(filters) != 1 {
		return &storage.InvalidError{Field: "attribute", Msg: "exactly one attribute.KEY=VALUE is required"}
	}
	projectID, err := projectFilter(q)
	if err != nil {
		return err
	}
	ctx, w := c.Request.Context(), auth.Writer(c)
	task := tasks.NewCrashPurge(w.OrganizationID, respond.RequestID(ctx),
		tasks.CrashPurgePayload{Key: filters[0].Key, Value: filters[0].Value, ProjectID: projectID})
	var id uuid.UUID
	err = h.store.DB().InTx(ctx, func(tx *storage.Tx) (err error) {
		id, err = crash.RequestPurge(ctx, tx, w, projectID, filters[0].Key, task)
		return err
	})
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusAccepted, gin.H{"task_id": id})
}
