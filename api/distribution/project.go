package distribution

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/setting"
	"github.com/slipway-qa/slipway/tasks"
)

// projects are the handlers of apps in version 3.
type projects struct{ *room }

// list serves GET /api/v3/projects, newest first. Parameters: search (part of name
// or package name), team_id, platform, page, per_page.
func (h projects) list(c *gin.Context) error {
	f, err := projectFilter(c)
	if err != nil {
		return err
	}
	rows, at, err := h.projectPage(c, f, pagination.Small())
	if err != nil {
		return err
	}
	views := make([]ProjectView, 0, len(rows))
	for i := range rows {
		views = append(views, h.views.ProjectView(&rows[i]))
	}
	return respond.JSON(c, http.StatusOK, gin.H{"projects": views, "pagination": at})
}

func projectFilter(c *gin.Context) (f distribution.ProjectFilter, err error) {
	if f.TeamID, err = number(c, "team_id"); err != nil {
		return f, err
	}
	if f.Search, err = text(c, "search"); err != nil {
		return f, err
	}
	platform, err := text(c, "platform")
	if err != nil {
		return f, err
	}
	f.Platform, err = distribution.PlatformOf(platform)
	return f, err
}

// get serves GET /api/v3/projects/{id}.
func (h projects) get(c *gin.Context) error {
	p, err := h.projectOf(c)
	if err != nil {
		return err
	}
	return h.show(c, http.StatusOK, p, gin.H{})
}

// show writes a single app, with its newest build in full, beside the members of
// more.
func (h projects) show(c *gin.Context, status int, p *distribution.Project, more gin.H) error {
	view := h.views.ProjectView(p)
	if view.LatestBuild != nil {
		b, err := distribution.BuildByID(c.Request.Context(), h.db, p.OrganizationID, p.ID, p.LatestBuildID)
		switch {
		case errors.Is(err, storage.ErrNotFound):
			view.LatestBuild = nil // deleted between the two reads
		case err != nil:
			return err
		default:
			created := b.CreatedAt.UTC()
			view.LatestBuild.Version, view.LatestBuild.VersionCode = &b.Version, &b.VersionCode
			view.LatestBuild.Status, view.LatestBuild.CreatedAt = b.State, &created
		}
	}
	more["project"] = view
	return respond.JSON(c, status, more)
}

// appBody is what a request may say of an app and of a copy of one. Folder is a synonym
// of FolderName, as uploads call it, and AllowAllTesters of AllTesters, as version 1 does.
type appBody struct {
	Name            *string      `json:"name"`
	FolderName      *string      `json:"folder_name"`
	Folder          *string      `json:"folder"`
	AllTesters      *body.Switch `json:"all_testers"`
	AllowAllTesters *body.Switch `json:"allowAllTesters"`
}

// settle leaves one of two synonyms.
func (in *appBody) settle() {
	if in.FolderName == nil {
		in.FolderName = in.Folder
	}
	if in.AllTesters == nil {
		in.AllTesters = in.AllowAllTesters
	}
}

// projectBody is what a request may say of an app.
type projectBody struct {
	appBody
	PackageName     *string   `json:"package_name"`
	Platform        *string   `json:"platform"`
	TeamID          *int64    `json:"team_id"`
	Description     *string   `json:"description"`
	LandingPageMode *string   `json:"landing_page_mode"`
	LandingPageSlug *string   `json:"landing_page_slug"`
	Groups          body.List `json:"groups"`
	pageBody
	setting.RetentionChange

	platform artifact.Platform // of Platform
}

func readProject(c *gin.Context) (in projectBody, err error) {
	if err = body.Read(c, &in); err != nil {
		return in, err
	}
	in.settle()
	if in.Platform != nil && strings.TrimSpace(*in.Platform) == "" {
		return in, storage.Invalid("platform", artifact.PlatformRule)
	}
	if in.platform, err = distribution.PlatformOf(or(in.Platform, "")); err != nil {
		return in, err
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

// create serves POST /api/v3/projects: an app without a build. Members: name,
// package_name, platform, team_id (may be left out by an organization with one
// team), folder_name, description, landing_page_mode, landing_page_slug, groups,
// all_testers, retention_builds, retention_days, and those of pageBody.
func (h projects) create(c *gin.Context) error {
	in, err := readProject(c)
	if err != nil {
		return err
	}
	page, err := in.change()
	if err != nil {
		return err
	}
	var p *distribution.Project
	var unknown []string
	err = h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) (err error) {
		p, err = distribution.CreateProject(ctx, tx, w, distribution.NewProject{
			TeamID: or(in.TeamID, 0), Folder: or(in.FolderName, ""), Name: or(in.Name, ""),
			PackageName: or(in.PackageName, ""), Platform: in.platform, Description: or(in.Description, ""),
			LandingPageMode: or(in.LandingPageMode, ""), Slug: or(in.LandingPageSlug, ""),
			AllTesters: bool(or(in.AllTesters, false)), Page: page, RetentionChange: in.RetentionChange})
		if err != nil {
			return err
		}
		if err := mayRetain(ctx, in.RetentionChange, p); err != nil || in.Groups == nil {
			return err
		}
		p, unknown, err = distribution.UpdateProject(ctx, tx, w, p.ID, distribution.ProjectChange{Groups: groupsOf(in.Groups)})
		return err
	})
	if err != nil {
		return err
	}
	more := gin.H{}
	if in.Groups != nil {
		more["invalid_groups"] = texts(unknown)
	}
	return h.show(c, http.StatusCreated, p, more)
}

// update serves PUT /api/v3/projects/{id}; only members that are sent are changed:
// name, team_id, folder_name, description, landing_page_mode, landing_page_slug,
// groups (replaces the grants), all_testers, retention_builds, retention_days, and
// those of pageBody. Package name and platform are what identifies the app: they may be
// sent as they are.
func (h projects) update(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	in, err := readProject(c)
	if err != nil {
		return err
	}
	page, err := in.change()
	if err != nil {
		return err
	}
	var p *distribution.Project
	var unknown []string
	err = h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) (err error) {
		p, unknown, err = distribution.UpdateProject(ctx, tx, w, id, distribution.ProjectChange{
			Name: in.Name, Folder: in.FolderName, Description: in.Description, LandingPageMode: in.LandingPageMode,
			Slug: in.LandingPageSlug, TeamID: in.TeamID, Groups: groupsOf(in.Groups),
			AllTesters: in.AllTesters.Bool(), Page: page, RetentionChange: in.RetentionChange})
		if err != nil {
			return err
		}
		if err := in.identifies(p); err != nil {
			return err
		}
		return mayRetain(ctx, in.RetentionChange, p)
	})
	if err != nil {
		return err
	}
	return h.show(c, http.StatusOK, p, gin.H{"invalid_groups": texts(unknown)})
}

// identifies refuses another package name or platform than those of the app.
func (in *projectBody) identifies(p *distribution.Project) error {
	if in.PackageName != nil && *in.PackageName != p.PackageName {
		return storage.Invalid("package_name", "identifies the app and cannot be changed")
	}
	if in.Platform != nil && in.platform != p.Platform {
		return storage.Invalid("platform", "identifies the app and cannot be changed")
	}
	return nil
}

// delete serves DELETE /api/v3/projects/{id}: the app and its builds are gone for
// every reader; a task removes what belongs to them.
func (h projects) delete(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	err = h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) error {
		if err := distribution.DeleteProject(ctx, tx, w, id); err != nil {
			return err
		}
		return h.queue.Insert(ctx, tx, tasks.NewProjectDelete(w.OrganizationID, respond.RequestID(ctx), id))
	})
	if err != nil {
		return err
	}
	return respond.Empty(c, http.StatusNoContent)
}

// copy serves POST /api/v3/projects/{id}/copy: a new app with the latest build of
// this one, in its team. Members, all optional: name, folder_name, all_testers.
func (h projects) copy(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	var in struct {
		appBody
		TeamID *int64 `json:"team_id"`
	}
	if err := body.Read(c, &in); err != nil {
		return err
	}
	in.settle()
	var p *distribution.Project
	err = h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) (err error) {
		p, err = distribution.CopyProject(ctx, tx, w, id, in.Name, in.FolderName, in.AllTesters.Bool())
		if err != nil {
			return err
		}
		if in.TeamID != nil && *in.TeamID != p.TeamID {
			return storage.Invalid("team_id", "must be the team of the app: a copy stays in it")
		}
		return nil
	})
	if err != nil {
		return err
	}
	return h.show(c, http.StatusCreated, p, gin.H{})
}

// builds serves GET /api/v3/projects/{id}/builds, newest first. Parameters: version,
// tag, search (part of version, release notes or a metadata value), page, per_page.
func (h projects) builds(c *gin.Context) error {
	f, err := buildFilter(c)
	if err != nil {
		return err
	}
	rows, at, err := h.buildPage(c, f, pagination.Small())
	if err != nil {
		return err
	}
	views := make([]BuildView, 0, len(rows))
	for i := range rows {
		views = append(views, h.views.BuildView(&rows[i]))
	}
	return respond.JSON(c, http.StatusOK, gin.H{"builds": views, "pagination": at})
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
