package distribution

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/distribution/announcement"
)

// legacy are the handlers of versions 1 and 2.
type legacy struct{ *room }

// projects2 serves GET /api/2/projects. Parameters: page, per_page.
func (h legacy) projects2(c *gin.Context) error {
	rows, at, err := h.projectPage(c, distribution.ProjectFilter{}, pagination.Small())
	if err != nil {
		return err
	}
	views := make([]project2, 0, len(rows))
	for i := range rows {
		views = append(views, h.views.project2(&rows[i]))
	}
	return respond.JSON(c, http.StatusOK, okPage("projects", views, at))
}

// project2 serves GET /api/2/projects/{id}.
func (h legacy) project2(c *gin.Context) error {
	p, err := h.projectOf(c)
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusOK, okAnswer("project", project2Single{project2: h.views.project2(p),
		FolderName: p.FolderPath, LandingPageMode: p.LandingPageMode}))
}

// builds2 serves GET /api/2/projects/{id}/builds, newest first. Parameters: page,
// per_page.
func (h legacy) builds2(c *gin.Context) error {
	rows, at, err := h.buildPage(c, distribution.BuildFilter{}, pagination.Small())
	if err != nil {
		return err
	}
	views := make([]build2, 0, len(rows))
	for i := range rows {
		views = append(views, h.views.build2(&rows[i]))
	}
	return respond.JSON(c, http.StatusOK, okPage("builds", views, at))
}

// whole is the rule of the lists of version 1, which clients read without asking
// for pages: the newest thousand, and pages for who asks.
func whole() pagination.Options { return pagination.Options{Default: 1000, Max: 1000} }

// projects1 serves GET /api/1/projects: the apps that have a build. Parameters of
// ours: page, per_page (1000 by default and at most).
func (h legacy) projects1(c *gin.Context) error {
	rows, at, err := h.projectPage(c, distribution.ProjectFilter{WithBuilds: true}, whole())
	if err != nil {
		return err
	}
	views := make([]project1, 0, len(rows))
	for i := range rows {
		views = append(views, h.views.project1(&rows[i]))
	}
	return respond.JSON(c, http.StatusOK, okPage("projects", views, at))
}

// builds1 serves GET /api/1/projects/{id}/builds, newest first. Parameters of
// ours: page, per_page (1000 by default and at most).
func (h legacy) builds1(c *gin.Context) error {
	rows, at, err := h.buildPage(c, distribution.BuildFilter{}, whole())
	if err != nil {
		return err
	}
	views, err := h.viewBuilds1(c, rows)
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusOK, okPage("builds", views, at))
}

// viewBuilds1 shows builds with the number of their testers, counted for all at once.
func (h legacy) viewBuilds1(c *gin.Context, rows []distribution.Build) ([]gin.H, error) {
	ids := make([]int64, 0, len(rows))
	for i := range rows {
		ids = append(ids, rows[i].ID)
	}
	testers, err := announcement.Testers(c.Request.Context(), h.db, auth.Organization(c), ids)
	if err != nil {
		return nil, err
	}
	views := make([]gin.H, 0, len(rows))
	for i := range rows {
		views = append(views, h.views.build1(&rows[i], testers[rows[i].ID]))
	}
	return views, nil
}

// buildOfProject reads the build that a path of version 1 names.
func (h legacy) buildOfProject(c *gin.Context) (*distribution.Build, error) {
	projectID, id, err := pathOfBuild(c)
	if err != nil {
		return nil, err
	}
	return distribution.BuildByID(c.Request.Context(), h.db, auth.Organization(c), projectID, id)
}

func pathOfBuild(c *gin.Context) (projectID, id int64, err error) {
	if projectID, err = pagination.ID(c.Param("id")); err != nil {
		return 0, 0, err
	}
	id, err = pagination.ID(c.Param("build"))
	return projectID, id, err
}

// build1 serves GET /api/1/projects/{id}/builds/{build}.
func (h legacy) build1(c *gin.Context) error {
	b, err := h.buildOfProject(c)
	if err != nil {
		return err
	}
	views, err := h.viewBuilds1(c, []distribution.Build{*b})
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusOK, okAnswer("build", views[0]))
}
