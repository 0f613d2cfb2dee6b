package distribution

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage/distribution"
)

// Projects2 answers GET /api/2/projects. Parameters: page, per_page.
func (h *Handlers) Projects2(c *gin.Context) {
	rows, at, err := h.projects(c, distribution.ProjectFilter{}, pagination.Small())
	if err != nil {
		respond.Legacy(c, err)
		return
	}
	views := make([]project2, 0, len(rows))
	for i := range rows {
		views = append(views, h.views.project2(&rows[i]))
	}
	respond.JSON(c, http.StatusOK, okPage("projects", views, at))
}

// Project2 answers GET /api/2/projects/{id}.
func (h *Handlers) Project2(c *gin.Context) {
	id, err := pagination.ID(c.Param("id"))
	var p *distribution.Project
	if err == nil {
		p, err = distribution.ProjectByID(c.Request.Context(), h.db, organization(c), id)
	}
	if err != nil {
		respond.Legacy(c, err)
		return
	}
	respond.JSON(c, http.StatusOK, okAnswer("project", project2Single{project2: h.views.project2(p),
		FolderName: p.FolderPath, LandingPageMode: p.LandingPageMode}))
}

// Builds2 answers GET /api/2/projects/{id}/builds, newest first. Parameters: page,
// per_page.
func (h *Handlers) Builds2(c *gin.Context) {
	rows, at, err := h.builds(c, distribution.BuildFilter{}, pagination.Small())
	if err != nil {
		respond.Legacy(c, err)
		return
	}
	views := make([]build2, 0, len(rows))
	for i := range rows {
		views = append(views, h.views.build2(&rows[i]))
	}
	respond.JSON(c, http.StatusOK, okPage("builds", views, at))
}

// whole is the rule of the lists of version 1, which clients read without asking
// for pages: the newest thousand, and pages for who asks.
func whole() pagination.Options { return pagination.Options{Default: 1000, Max: 1000} }

// Projects1 answers GET /api/1/projects: the apps that have a build. Parameters of
// ours: page, per_page (1000 by default and at most).
func (h *Handlers) Projects1(c *gin.Context) {
	rows, at, err := h.projects(c, distribution.ProjectFilter{WithBuilds: true}, whole())
	if err != nil {
		respond.Legacy(c, err)
		return
	}
	views := make([]project1, 0, len(rows))
	for i := range rows {
		views = append(views, h.views.project1(&rows[i]))
	}
	respond.JSON(c, http.StatusOK, okPage("projects", views, at))
}

// Builds1 answers GET /api/1/projects/{id}/builds, newest first. Parameters of
// ours: page, per_page (1000 by default and at most).
func (h *Handlers) Builds1(c *gin.Context) {
	rows, at, err := h.builds(c, distribution.BuildFilter{}, whole())
	var views []gin.H
	if err == nil {
		views, err = h.builds1(c, rows)
	}
	if err != nil {
		respond.Legacy(c, err)
		return
	}
	respond.JSON(c, http.StatusOK, okPage("builds", views, at))
}

// builds1 shows builds with the number of their testers, counted for all at once.
func (h *Handlers) builds1(c *gin.Context, rows []distribution.Build) ([]gin.H, error) {
	ids := make([]int64, 0, len(rows))
	for i := range rows {
		ids = append(ids, rows[i].ID)
	}
	testers, err := distribution.Testers(c.Request.Context(), h.db, organization(c), ids)
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
func (h *Handlers) buildOfProject(c *gin.Context) (*distribution.Build, error) {
	projectID, id, err := pathOfBuild(c)
	if err != nil {
		return nil, err
	}
	return distribution.BuildByID(c.Request.Context(), h.db, organization(c), projectID, id)
}

func pathOfBuild(c *gin.Context) (projectID, id int64, err error) {
	if projectID, err = pagination.ID(c.Param("id")); err != nil {
		return 0, 0, err
	}
	id, err = pagination.ID(c.Param("build"))
	return projectID, id, err
}

// Build1 answers GET /api/1/projects/{id}/builds/{build}.
func (h *Handlers) Build1(c *gin.Context) {
	b, err := h.buildOfProject(c)
	var views []gin.H
	if err == nil {
		views, err = h.builds1(c, []distribution.Build{*b})
	}
	if err != nil {
		respond.Legacy(c, err)
		return
	}
	respond.JSON(c, http.StatusOK, okAnswer("build", views[0]))
}
