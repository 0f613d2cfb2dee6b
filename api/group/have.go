package group

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution/testergroup"
)

// having are the handlers of the groups that have an app, or a build by itself, in version 3.
type having struct {
	*room
	list       func(ctx context.Context, q storage.Querier, organizationID, id int64, p storage.Page) ([]testergroup.Group, int, error)
	give, take func(ctx context.Context, tx *storage.Tx, w account.Writer, id, groupID int64) error
}

// ofProject are the handlers of an app's groups.
func (r *room) ofProject() having {
	return having{r, testergroup.OfProject, testergroup.GiveProject, testergroup.TakeProject}
}

// ofBuild are those of a build's.
func (r *room) ofBuild() having {
	return having{r, testergroup.OfBuild, testergroup.GiveBuild, testergroup.TakeBuild}
}

// groups serves GET /api/v3/projects/{id}/groups and /api/v3/builds/{id}/groups, by name.
func (h having) groups(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	at, err := pagination.Parse(c.Request.URL.Query(), pagination.Small())
	if err != nil {
		return err
	}
	rows, total, err := h.list(c.Request.Context(), h.db, auth.Organization(c), id, at.Rows())
	if err != nil {
		return err
	}
	views := make([]groupView, 0, len(rows))
	for i := range rows {
		views = append(views, viewGroup(&rows[i]))
	}
	return respond.JSON(c, http.StatusOK, gin.H{"groups": views, "pagination": at.Envelope(total)})
}

// add serves PUT /api/v3/projects/{id}/groups/{group} and that of a build.
func (h having) add(c *gin.Context) error { return h.set(c, h.give) }

// remove serves DELETE /api/v3/projects/{id}/groups/{group} and that of a build.
func (h having) remove(c *gin.Context) error { return h.set(c, h.take) }

func (h having) set(c *gin.Context, do func(ctx context.Context, tx *storage.Tx, w account.Writer, id, groupID int64) error) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	group, err := pagination.ID(c.Param("group"))
	if err != nil {
		return err
	}
	err = h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) error { return do(ctx, tx, w, id, group) })
	if err != nil {
		return err
	}
	return respond.Empty(c, http.StatusNoContent)
}
