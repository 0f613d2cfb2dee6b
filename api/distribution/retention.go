package distribution

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/setting"
)

// mayRetain refuses a change of an app's retention by a caller who may not delete its
// builds: retention deletes them.
func mayRetain(ctx context.Context, change setting.RetentionChange, p *distribution.Project) error {
	if change.Any() && !auth.CallerOf(ctx).TeamAdmin(p.TeamID) {
		return distribution.ErrNoAccess
	}
	return nil
}

// retention serves GET /api/v3/projects/{id}/retention: the builds that the retention of
// the app or its organization would delete now, oldest first. Parameters: page, per_page.
func (h projects) retention(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	at, err := pagination.Parse(c.Request.URL.Query(), pagination.Small())
	if err != nil {
		return err
	}
	rows, total, err := distribution.RetentionPreview(c.Request.Context(), h.db, auth.Organization(c), id, h.now(), at.Rows())
	if err != nil {
		return err
	}
	views := make([]BuildView, 0, len(rows))
	for i := range rows {
		views = append(views, h.views.BuildView(&rows[i]))
	}
	return respond.JSON(c, http.StatusOK, gin.H{"builds": views, "pagination": at.Envelope(total)})
}
