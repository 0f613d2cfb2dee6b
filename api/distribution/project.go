package distribution

import (
	"context"
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/tasks"
)

// Projects answers GET /api/v3/projects, newest first. Parameters: search (part
// of name or package name), team_id, platform, page, per_page.
func (h *Handlers) Projects(c *gin.Context) {
	f, err := projectFilter(c)
	if err != nil {
		respond.V3(c, err)
		return
	}
	rows, at, err := h.projects(c, f, pagination.Small())
	if err != nil {
		respond.V3(c, err)
		return
	}
	views := make([]ProjectView, 0, len(rows))
	for i := range rows {
		views = append(views, h.views.ProjectView(&rows[i]))
	}
	respond.JSON(c, http.StatusOK, gin.H{"projects": views, "pagination": at})
}

func projectFilter(c *gin.Context) (f distribution.ProjectFilter, err error) {
	if f.TeamID, err = number(c, "team_id"); err != nil {
		return f, err
	}
	if f.Search, err = text(c, "search"); err != nil {
		return f, err
	}
	f.Platform, err = text(c, "platform")
	return f, err
}

// projects reads the page of the caller's apps that the request asks for.
func (h *Handlers) projects(c *gin.Context, f distribution.ProjectFilter, o pagination.Options) ([]distribution.Project, pagination.Pagination, error) {
	at, err := pagination.Parse(c.Request.URL.Query(), o)
	if err != nil {
		return nil, pagination.Pagination{}, err
	}
	f.OrganizationID = organization(c)
	rows, total, err := distribution.Projects(c.Request.Context(), h.db, f, pageOf(at))
	return rows, at.Envelope(total), err
}

func pageOf(at pagination.Request) storage.Page {
	return storage.Page{Limit: at.Limit(), Offset: at.Offset()}
}

// Project answers GET /api/v3/projects/{id}.
func (h *Handlers) Project(c *gin.Context) {
	id, err := pagination.ID(c.Param("id"))
	var p *distribution.Project
	if err == nil {
		p, err = distribution.ProjectByID(c.Request.Context(), h.db, organization(c), id)
	}
	if err != nil {
		respond.V3(c, err)
		return
	}
	h.answerProject(c, http.StatusOK, p, gin.H{})
}

// answerProject answers a single app, with its newest build in full.
func (h *Handlers) answerProject(c *gin.Context, status int, p *distribution.Project, answer gin.H) {
	view := h.views.ProjectView(p)
	if view.LatestBuild != nil {
		b, err := distribution.BuildByID(c.Request.Context(), h.db, p.OrganizationID, p.ID, p.LatestBuildID)
		switch {
		case err == nil:
			created := b.CreatedAt.UTC()
			view.LatestBuild.Version, view.LatestBuild.VersionCode = &b.Version, &b.VersionCode
			view.LatestBuild.Status, view.LatestBuild.CreatedAt = b.State, &created
		case errors.Is(err, storage.ErrNotFound):
			view.LatestBuild = nil // deleted between the two reads
		default:
			respond.V3(c, err)
			return
		}
	}
	answer["project"] = view
	respond.JSON(c, status, answer)
}

// projectBody is what a request may say of an app. Folder is a synonym of
// FolderName, as uploads call it.
type projectBody struct {
	Name            *string   `json:"name"`
	PackageName     *string   `json:"package_name"`
	Platform        *string   `json:"platform"`
	TeamID          *int64    `json:"team_id"`
	FolderName      *string   `json:"folder_name"`
	Folder          *string   `json:"folder"`
	Description     *string   `json:"description"`
	LandingPageMode *string   `json:"landing_page_mode"`
	LandingPageSlug *string   `json:"landing_page_slug"`
	Groups          body.List `json:"groups"`
}

func readProject(c *gin.Context) (in projectBody, err error) {
	if err = body.Read(c, &in); err != nil {
		return in, err
	}
	if in.FolderName == nil {
		in.FolderName = in.Folder
	}
	if in.TeamID != nil && *in.TeamID < 1 {
		return in, &storage.InvalidError{Field: "team_id", Msg: "must be the id of a team"}
	}
	return in, checkMode(in.LandingPageMode)
}

func or[T any](value *T, absent T) T {
	if value == nil {
		return absent
	}
	return *value
}

// CreateProject answers POST /api/v3/projects: an app without a build. Members:
// name, package_name, platform, team_id (may be left out by an organization with
// one team), folder_name, description, landing_page_mode, landing_page_slug.
func (h *Handlers) CreateProject(c *gin.Context) {
	in, err := readProject(c)
	if err != nil {
		respond.V3(c, err)
		return
	}
	var p *distribution.Project
	err = h.change(c, func(ctx context.Context, tx *storage.Tx, actor account.Actor) (err error) {
		p, err = distribution.CreateProject(ctx, tx, actor, auth.Writer(c), distribution.NewProject{
			TeamID: or(in.TeamID, 0), Folder: or(in.FolderName, ""), Name: or(in.Name, ""),
			PackageName: or(in.PackageName, ""), Platform: or(in.Platform, ""), Description: or(in.Description, ""),
			LandingPageMode: or(in.LandingPageMode, ""), Slug: or(in.LandingPageSlug, "")})
		return err
	})
	if err != nil {
		respond.V3(c, problem(err))
		return
	}
	h.answerProject(c, http.StatusCreated, p, gin.H{})
}

// UpdateProject answers PUT /api/v3/projects/{id}; only members that are sent are
// changed: name, team_id, folder_name, description, landing_page_mode,
// landing_page_slug, groups (replaces the grants). Package name and platform are
// what makes the app and stay.
func (h *Handlers) UpdateProject(c *gin.Context) {
	id, err := pagination.ID(c.Param("id"))
	var in projectBody
	if err == nil {
		in, err = readProject(c)
	}
	if err != nil {
		respond.V3(c, err)
		return
	}
	var p *distribution.Project
	var unknown []string
	err = h.change(c, func(ctx context.Context, tx *storage.Tx, actor account.Actor) (err error) {
		p, unknown, err = distribution.UpdateProject(ctx, tx, actor, auth.Writer(c), id, distribution.ProjectChange{
			Name: in.Name, Folder: in.FolderName, Description: in.Description, LandingPageMode: in.LandingPageMode,
			Slug: in.LandingPageSlug, TeamID: in.TeamID, Groups: groupsOf(in.Groups)})
		return err
	})
	if err != nil {
		respond.V3(c, problem(err))
		return
	}
	h.answerProject(c, http.StatusOK, p, gin.H{"invalid_groups": texts(unknown)})
}

// DeleteProject answers DELETE /api/v3/projects/{id}: the app and its builds are
// gone for every reader; a task removes what belongs to them.
func (h *Handlers) DeleteProject(c *gin.Context) {
	id, err := pagination.ID(c.Param("id"))
	if err == nil {
		err = h.change(c, func(ctx context.Context, tx *storage.Tx, actor account.Actor) error {
			if err := distribution.DeleteProject(ctx, tx, actor, auth.Writer(c), id); err != nil {
				return err
			}
			_, err := ledger.Insert(ctx, tx, tasks.NewProjectDelete(organization(c), respond.RequestID(ctx), id))
			return err
		})
	}
	if err != nil {
		respond.V3(c, problem(err))
		return
	}
	respond.Empty(c, http.StatusNoContent)
}

// CopyProject answers POST /api/v3/projects/{id}/copy: a new app with the latest
// build of this one. Members, both optional: name, folder_name.
func (h *Handlers) CopyProject(c *gin.Context) {
	id, err := pagination.ID(c.Param("id"))
	var in projectBody
	if err == nil {
		in, err = readProject(c)
	}
	if err != nil {
		respond.V3(c, err)
		return
	}
	var p *distribution.Project
	err = h.change(c, func(ctx context.Context, tx *storage.Tx, actor account.Actor) (err error) {
		p, err = distribution.CopyProject(ctx, tx, actor, auth.Writer(c), id, in.Name, in.FolderName)
		return err
	})
	if err != nil {
		respond.V3(c, problem(err))
		return
	}
	h.answerProject(c, http.StatusCreated, p, gin.H{})
}

// ProjectBuilds answers GET /api/v3/projects/{id}/builds, newest first.
// Parameters: version, tag, search (part of version, release notes or a metadata
// value), page, per_page.
func (h *Handlers) ProjectBuilds(c *gin.Context) {
	f, err := buildFilter(c)
	if err != nil {
		respond.V3(c, err)
		return
	}
	rows, at, err := h.builds(c, f, pagination.Small())
	if err != nil {
		respond.V3(c, err)
		return
	}
	views := make([]BuildView, 0, len(rows))
	for i := range rows {
		views = append(views, h.views.BuildView(&rows[i]))
	}
	respond.JSON(c, http.StatusOK, gin.H{"builds": views, "pagination": at})
}

func buildFilter(c *gin.Context) (f distribution.BuildFilter, err error) {
	if f.Version, err = text(c, "version"); err != nil {
		return f, err
	}
	if f.Tag, err = text(c, "tag"); err != nil {
		return f, err
	}
	f.Search, err = text(c, "search")
	return f, err
}

// builds reads the page of an app's builds that the request asks for.
func (h *Handlers) builds(c *gin.Context, f distribution.BuildFilter, o pagination.Options) ([]distribution.Build, pagination.Pagination, error) {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return nil, pagination.Pagination{}, err
	}
	at, err := pagination.Parse(c.Request.URL.Query(), o)
	if err != nil {
		return nil, pagination.Pagination{}, err
	}
	rows, total, err := distribution.Builds(c.Request.Context(), h.db, organization(c), id, f, pageOf(at))
	return rows, at.Envelope(total), err
}
