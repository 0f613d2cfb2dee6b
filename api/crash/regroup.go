package crash

import (
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash/crashproject"
	"github.com/slipway-qa/slipway/tasks"
)

// Regroup serves POST /api/v3/crash-projects/{id}/regroup: it writes the task that groups the stored
// reports of the project anew, and responds with 202 and the task to poll. With dry_run the task
// only says what that would merge and split.
func (h *Handlers) Regroup(c *gin.Context) error {
	ctx, w := c.Request.Context(), auth.Writer(c)
	dry, err := dryRun(c.Request.URL.Query())
	if err != nil {
		return err
	}
	p, err := h.project(c, w.OrganizationID)
	if err != nil {
		return err
	}
	var id uuid.UUID
	err = h.store.DB().InTx(ctx, func(tx *storage.Tx) error {
		id, err = crashproject.RequestRegroup(ctx, tx, w, p, tasks.NewCrashRegroup(w.OrganizationID, respond.RequestID(ctx), p.ID, dry), dry)
		return err
	})
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusAccepted, gin.H{"task_id": id, "dry_run": dry})
}
