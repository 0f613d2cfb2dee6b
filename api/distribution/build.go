package distribution

import (
	"context"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution"
)

func buildPath(id int64) string { return "/api/v3/builds/" + strconv.FormatInt(id, 10) }

// builds are the handlers of builds in version 3.
type builds struct{ *room }

// build reads the build that the path names.
func (h builds) build(c *gin.Context) (*distribution.Build, error) {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return nil, err
	}
	return distribution.BuildByID(c.Request.Context(), h.db, auth.Organization(c), 0, id)
}

// get serves GET /api/v3/builds/{id}.
func (h builds) get(c *gin.Context) error {
	b, err := h.build(c)
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusOK, gin.H{"build": h.views.BuildView(b)})
}

// buildBody is what a request may change of a build.
type buildBody struct {
	ReleaseNotes    *string             `json:"release_notes"`
	Tags            body.List           `json:"tags"`
	Metadata        map[string]string   `json:"metadata"`
	LandingPageSlug *string             `json:"landing_page_slug"`
	LandingPageMode *string             `json:"landing_page_mode"`
	Status          *distribution.State `json:"status"`
	AutoUpdate      *body.Switch        `json:"auto_update"`
	Keep            *body.Switch        `json:"keep"`
	AllTesters      *body.Switch        `json:"all_testers"`
	Groups          body.List           `json:"groups"`
	pageBody
}

func readBuild(c *gin.Context) (in buildBody, err error) {
	if err = body.Read(c, &in); err != nil {
		return in, err
	}
	if s := in.Status; s != nil && *s != distribution.Enabled && *s != distribution.Disabled {
		return in, &storage.InvalidError{Field: "status", Msg: "must be enabled or disabled"}
	}
	return in, checkMode(in.LandingPageMode)
}

// update serves PUT /api/v3/builds/{id}; only members that are sent are changed:
// release_notes, tags, metadata (merged; an empty value removes the key),
// landing_page_slug and landing_page_mode (of the app), status, auto_update, keep
// (from retention), groups (replaces the build's grants), all_testers (beside the grants), and those of pageBody (of the build's own page).
func (h builds) update(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	in, err := readBuild(c)
	if err != nil {
		return err
	}
	change := distribution.BuildChange{ReleaseNotes: in.ReleaseNotes, Metadata: in.Metadata,
		LandingPageMode: in.LandingPageMode, Slug: in.LandingPageSlug, Groups: groupsOf(in.Groups),
		AutoUpdate: in.AutoUpdate.Bool(), Keep: in.Keep.Bool(), AllTesters: in.AllTesters.Bool(), State: in.Status, Tags: tagsOf(in.Tags)}
	if change.Page, err = in.pageBody.change(); err != nil {
		return err
	}
	var b *distribution.Build
	var unknown []string
	err = h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) (err error) {
		b, unknown, err = distribution.UpdateBuild(ctx, tx, w, 0, id, change)
		return err
	})
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusOK, gin.H{"build": h.views.BuildView(b), "invalid_groups": texts(unknown)})
}

// tagsOf is nil when the request does not name tags.
func tagsOf(list body.List) *[]string {
	if list == nil {
		return nil
	}
	tags := []string(list)
	return &tags
}

// delete serves DELETE /api/v3/builds/{id}.
func (h builds) delete(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	if err := h.deleteBuild(c, 0, id); err != nil {
		return err
	}
	return respond.Empty(c, http.StatusNoContent)
}

// copy serves POST /api/v3/builds/{id}/copy: a build of the same app that references
// the same file.
func (h builds) copy(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	var copied *distribution.CopiedBuild
	err = h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) (err error) {
		copied, err = h.copyBuild(ctx, tx, w, 0, id, distribution.BuildCopy{})
		return err
	})
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusCreated, gin.H{"build": h.views.BuildView(copied.Build)})
}
