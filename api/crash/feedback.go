package crash

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
)

// feedbackView is what a user wrote about a crash.
type feedbackView struct {
	ID        int64     `json:"id"`
	CrashID   uuid.UUID `json:"crash_id"`
	Name      string    `json:"name"`
	Email     string    `json:"email"`
	Text      string    `json:"text"`
	CreatedAt time.Time `json:"created_at"`
}

func feedbackViews(list []crash.Feedback) []feedbackView {
	views := make([]feedbackView, 0, len(list))
	for _, f := range list {
		f.CreatedAt = f.CreatedAt.UTC()
		views = append(views, feedbackView(f))
	}
	return views
}

// Feedback serves GET /api/v3/crashes/{id}/feedback, newest first.
func (h *Handlers) Feedback(c *gin.Context) error {
	id, err := pathUUID(c, "id")
	if err != nil {
		return err
	}
	ctx, organization := c.Request.Context(), auth.Organization(c)
	if err := h.store.Has(ctx, organization, id); err != nil {
		return err
	}
	list, err := crash.FeedbackOf(ctx, h.store.DB(), organization, id)
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusOK, gin.H{"feedback": feedbackViews(list)})
}

// GroupFeedback serves GET /api/v3/crash-groups/{id}/feedback, newest first.
func (h *Handlers) GroupFeedback(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	at, err := pagination.Parse(c.Request.URL.Query(), pagination.Small())
	if err != nil {
		return err
	}
	ctx, db, organization := c.Request.Context(), h.store.DB(), auth.Organization(c)
	group, err := crash.ResolveGroup(ctx, db, organization, id)
	if err != nil {
		return err
	}
	list, total, err := crash.FeedbackOfGroup(ctx, db, organization, group, at.Rows())
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusOK, gin.H{"feedback": feedbackViews(list), "pagination": at.Of(storage.Total{Rows: total, Exact: true})})
}
