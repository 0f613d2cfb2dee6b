package distribution

import (
	"context"
	"errors"
	"fmt"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/change"
	"github.com/slipway-qa/slipway/storage/distribution/grant"
	"github.com/slipway-qa/slipway/storage/distribution/landing"
	"github.com/slipway-qa/slipway/storage/distribution/text"
	"github.com/slipway-qa/slipway/storage/setting"
)

// ProjectFilter selects projects of an organization.
type ProjectFilter struct {
	OrganizationID int64
	WithBuilds     bool  // only those that have a build
	TeamID         int64 // 0: every team
	Platform       artifact.Platform
	Search         string // part of name or package name, case-insensitive
}

const matchingProjects = `
from projects p` + ProjectTables + `
where p.organization_id = $1 and p.deleted_at is null
	and (not $2::boolean or p.build_count > 0)
	and ($3::bigint = 0 or p.team_id = $3)
	and ($4::text = '' or lower(p.platform) = lower($4))
	and ($5::text = '' or position(lower($5) in lower(p.name)) > 0 or position(lower($5) in lower(p.package_name)) > 0)`

const projectList = `
select ` + ProjectColumns + matchingProjects + `
order by p.id desc limit $6 offset $7`

// Projects lists projects, newest first, with the number of all that match.
func Projects(ctx context.Context, q storage.Querier, f ProjectFilter, p storage.Page) ([]Project, int, error) {
	search, platform := text.Scrub(f.Search, text.MaxLine), f.Platform
	var total int
	err := q.GetContext(ctx, &total, `select count(*)`+matchingProjects, f.OrganizationID, f.WithBuilds, f.TeamID,
		platform, search)
	if err != nil {
		return nil, 0, storage.Wrap(err, "count projects")
	}
	list := []Project{}
	err = q.SelectContext(ctx, &list, projectList, f.OrganizationID, f.WithBuilds, f.TeamID, platform, search,
		p.RowLimit(), p.RowOffset())
	return list, total, storage.Wrap(err, "list projects")
}

// NewProject is an app to create without a build.
type NewProject struct {
	TeamID          int64 // 0: as for an upload with TeamRequired
	Folder          string
	Name            string
	PackageName     string
	Platform        artifact.Platform
	Description     string
	LandingPageMode string // "": the organization's default
	Slug            string
	AllTesters      bool // every tester of the organization may have it
	Page            landing.Change
	setting.RetentionChange
}

func (n *NewProject) check() error {
	var err error
	if n.Name, err = storage.Name("name", n.Name, text.MaxLine); err != nil {
		return err
	}
	if n.PackageName, err = storage.Line("package_name", n.PackageName, text.MaxLine); err != nil {
		return err
	}
	if n.Platform, err = PlatformOf(string(n.Platform)); err != nil {
		return err
	}
	if n.Description, err = text.Prose("description", n.Description, text.MaxProse); err != nil {
		return err
	}
	if n.Folder, err = text.Folder(n.Folder); err != nil || n.Slug == "" {
		return err
	}
	return checkSlug(n.Slug, false)
}

// CreateProject creates an app. ErrConflict when the team has one of that package and
// platform, in whatever folder.
func CreateProject(ctx context.Context, tx *storage.Tx, w account.Writer, n NewProject) (*Project, error) {
	if err := n.check(); err != nil {
		return nil, err
	}
	settings, err := setting.Of(ctx, tx, w.OrganizationID)
	if err != nil {
		return nil, err
	}
	if err := settings.CheckMode(n.LandingPageMode); err != nil {
		return nil, err
	}
	mode := n.LandingPageMode
	if mode == "" {
		mode = settings.NewAppMode()
	}
	d := destination{tx: tx, w: w, app: &app{packageName: n.PackageName, platform: n.Platform, name: n.Name},
		teamID: n.TeamID, teamRequired: true, folder: &n.Folder, slug: n.Slug, mode: mode}
	p, err := d.create(ctx)
	if err != nil {
		return nil, err
	}
	if p.Retention, err = n.RetentionChange.Over(setting.Retention{}); err != nil {
		return nil, err
	}
	p.Description, p.Slug, p.AllTesters = n.Description, n.Slug, n.AllTesters
	if err := p.save(ctx, tx, w.Actor, &projectRow{}); err != nil {
		return nil, err
	}
	if err := projectPage(&p.Project).Change(ctx, tx, w.Actor, landing.Limits{}, n.Page); err != nil {
		return nil, err
	}
	return ProjectByID(ctx, tx, w.OrganizationID, p.ID)
}

// create returns a new app that is not written yet; ErrConflict when the team has
// one of its package and platform.
func (d *destination) create(ctx context.Context) (*projectRow, error) {
	if err := d.locks(ctx); err != nil {
		return nil, err
	}
	if err := d.team(ctx); err != nil {
		return nil, err
	}
	if err := d.alone(ctx); err != nil {
		return nil, err
	}
	return d.fresh(ctx, d.teamID)
}

// alone is ErrConflict when the team has an app of the package and platform.
func (d *destination) alone(ctx context.Context) error {
	if d.app.packageName == "" {
		return nil
	}
	anywhere := *d
	anywhere.folder = nil
	id, _, err := anywhere.look(ctx)
	if err != nil || id == 0 {
		return err
	}
	return fmt.Errorf("project %d has the package name and platform: %w", id, storage.ErrConflict)
}

// ProjectChange changes the members that are not nil.
type ProjectChange struct {
	Name            *string
	Folder          *string // "": out of its folder
	Description     *string
	LandingPageMode *string
	Slug            *string // "": none
	TeamID          *int64
	Groups          grant.Groups
	AllTesters      *bool // goes before what Groups says of all
	Page            landing.Change
	setting.RetentionChange
}

// apply changes the project's members; those of a page are checked before.
func (c *ProjectChange) apply(p *projectRow) error {
	var err error
	if c.Name != nil {
		if p.Name, err = storage.Name("name", *c.Name, text.MaxLine); err != nil {
			return err
		}
	}
	if c.Description != nil {
		if p.Description, err = text.Prose("description", *c.Description, text.MaxProse); err != nil {
			return err
		}
	}
	if c.Folder != nil {
		if p.FolderPath, err = text.Folder(*c.Folder); err != nil {
			return err
		}
	}
	change.Set(&p.LandingPageMode, c.LandingPageMode)
	change.Set(&p.Slug, c.Slug)
	change.Set(&p.TeamID, c.TeamID)
	p.Retention, err = c.RetentionChange.Over(p.Retention)
	return err
}

// checkPage takes the mode and slug that a change sets for a landing page, and
// locks the slug.
func checkPage(ctx context.Context, tx *storage.Tx, organizationID int64, mode, slug *string) error {
	if mode != nil {
		settings, err := setting.Of(ctx, tx, organizationID)
		if err != nil {
			return err
		}
		if *mode == "" {
			return storage.Invalid("landing_page_mode", "must be open or closed")
		}
		if err := settings.CheckMode(*mode); err != nil {
			return err
		}
	}
	if slug == nil || *slug == "" {
		return nil
	}
	if err := checkSlug(*slug, false); err != nil {
		return err
	}
	return lockSlug(ctx, tx, *slug)
}

// UpdateProject changes an app; the second result are the names that no group has.
func UpdateProject(ctx context.Context, tx *storage.Tx, w account.Writer, id int64, c ProjectChange) (*Project, []string, error) {
	now, err := ProjectByID(ctx, tx, w.OrganizationID, id)
	if err != nil {
		return nil, nil, err
	}
	if !w.May(now.TeamID) {
		return nil, nil, ErrNoAccess
	}
	if err := checkPage(ctx, tx, w.OrganizationID, c.LandingPageMode, c.Slug); err != nil {
		return nil, nil, err
	}
	if err := mayMove(ctx, tx, w, now, c.TeamID); err != nil {
		return nil, nil, err
	}
	before, err := lockProject(ctx, tx, w, id)
	if err != nil {
		return nil, nil, err
	}
	p := *before
	if err := c.apply(&p); err != nil {
		return nil, nil, err
	}
	if p.TeamID != before.TeamID || p.FolderPath != before.FolderPath {
		if p.FolderID, err = ensureFolder(ctx, tx, p.TeamID, p.FolderPath); err != nil {
			return nil, nil, err
		}
	}
	if err := p.save(ctx, tx, w.Actor, before); err != nil {
		return nil, nil, err
	}
	if err := projectPage(&p.Project).Change(ctx, tx, w.Actor, before.Limits, c.Page); err != nil {
		return nil, nil, err
	}
	to := grant.ToProject(w.OrganizationID, id)
	bad, err := to.Replace(ctx, tx, w.Actor, c.Groups, before.AllTesters)
	if err != nil {
		return nil, nil, err
	}
	if err := to.Open(ctx, tx, w.Actor, c.AllTesters); err != nil {
		return nil, nil, err
	}
	after, err := ProjectByID(ctx, tx, w.OrganizationID, id)
	return after, bad, err
}

// mayMove checks the team that an app is to move to, which has no other app of its
// package and platform.
func mayMove(ctx context.Context, tx *storage.Tx, w account.Writer, p *Project, teamID *int64) error {
	if teamID == nil || *teamID == p.TeamID {
		return nil
	}
	err := TeamOf(ctx, tx, w.OrganizationID, *teamID)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return storage.Invalid("team_id", "is no team of the organization")
	case err == nil && !w.May(*teamID):
		return ErrNoAccess
	case err != nil:
		return err
	}
	d := destination{tx: tx, w: w, teamID: *teamID, app: &app{packageName: p.PackageName, platform: p.Platform, name: p.Name}}
	if err := d.locks(ctx); err != nil {
		return err
	}
	return d.alone(ctx)
}

// OwnedProject is an app and the team that it belongs to.
type OwnedProject struct {
	ID     int64 `db:"id"`
	TeamID int64 `db:"team_id"`
}

// OwnedProjects are an organization's apps, newest first, at most limit.
func OwnedProjects(ctx context.Context, q storage.Querier, organizationID int64, limit int) ([]OwnedProject, error) {
	list := []OwnedProject{}
	err := q.SelectContext(ctx, &list, `select id, team_id from projects
		where organization_id = $1 and deleted_at is null order by id desc limit $2`, organizationID, limit)
	return list, storage.Wrap(err, "teams of apps")
}
