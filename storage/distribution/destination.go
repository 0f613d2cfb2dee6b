package distribution

import (
	"context"
	"errors"
	"fmt"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/artifact"
)

// app is what a build contains of the app it belongs to. One without a package name,
// such as a generic file, is known by its name.
type app struct {
	packageName string
	platform    artifact.Platform
	name        string
	generic     bool
}

// key is what the app is looked for by, besides the platform.
func (a *app) key() (packageName, appName string) {
	if a.packageName == "" || a.generic {
		return "", a.name
	}
	return a.packageName, ""
}

// join checks that a build of the app may go to a project, and returns the project
// what it does not know of itself yet.
func (a *app) join(p *projectRow) error {
	if known, ok := artifact.ParsePlatform(string(p.Platform)); ok {
		p.Platform = known // a program of before may have written it as the request did
	}
	switch {
	case p.Platform == "":
		p.Platform = a.platform
	case a.platform == "":
		a.platform = p.Platform
	case p.Platform != a.platform:
		return storage.Invalid("project_id", "the project is an app for %s, the build is for %s", p.Platform, a.platform)
	}
	switch {
	case a.generic:
	case p.PackageName == "":
		p.PackageName = a.packageName
	case p.PackageName != a.packageName:
		return storage.Invalid("project_id", "the project has the package name %q, the build has %q", p.PackageName, a.packageName)
	}
	return nil
}

func appOf(pkg *artifact.Package, appName string) *app {
	platform, _ := artifact.ParsePlatform(string(pkg.Platform))
	return &app{packageName: pkg.PackageName, platform: platform, name: appName, generic: pkg.Kind == artifact.Generic}
}

// destination finds the project that a build goes to.
type destination struct {
	tx           *storage.Tx
	w            account.Writer
	app          *app
	projectID    int64
	teamID       int64
	teamRequired bool
	folder       *string // nil: any folder
	slug         string  // that the project is to have
	mode         string  // of a new app
}

// maxTries bounds how often a project is looked for that is deleted meanwhile.
const maxTries = 5

// find returns the project, locked, or a new one that is not written yet (id 0).
func (d *destination) find(ctx context.Context) (*projectRow, error) {
	if err := d.locks(ctx); err != nil {
		return nil, err
	}
	if d.projectID != 0 {
		return lockProject(ctx, d.tx, d.w, d.projectID)
	}
	if err := d.team(ctx); err != nil {
		return nil, err
	}
	for range maxTries {
		id, teamID, err := d.look(ctx)
		if err != nil {
			return nil, err
		}
		if id == 0 {
			return d.fresh(ctx, teamID)
		}
		p, err := lockProject(ctx, d.tx, d.w, id)
		if !errors.Is(err, storage.ErrNotFound) {
			return p, err
		}
	}
	return nil, fmt.Errorf("app of %q: %w", d.app.name, storage.ErrConflict)
}

// locks keeps others from making the same app, or taking the slug, meanwhile.
func (d *destination) locks(ctx context.Context) error {
	packageName, appName := d.app.key()
	if err := lock(ctx, d.tx, "package", d.w.OrganizationID, d.app.platform, packageName, appName); err != nil {
		return err
	}
	return lockSlug(ctx, d.tx, d.slug)
}

// team settles the team where the request has to name it.
func (d *destination) team(ctx context.Context) error {
	if d.teamID == 0 {
		if !d.teamRequired {
			return nil
		}
		var ids []int64
		err := d.tx.SelectContext(ctx, &ids, `select id from teams where organization_id = $1 order by id limit 2`,
			d.w.OrganizationID)
		if err != nil {
			return storage.Wrap(err, "teams of the organization")
		}
		if len(ids) != 1 {
			return ErrNoTeam
		}
		d.teamID = ids[0]
	} else if err := TeamOf(ctx, d.tx, d.w.OrganizationID, d.teamID); err != nil {
		if errors.Is(err, storage.ErrNotFound) {
			return storage.Invalid("team_id", "is no team of the organization")
		}
		return err
	}
	if !d.w.May(d.teamID) {
		return ErrNoAccess
	}
	return nil
}

// appProjects finds the projects that an upload may go to. One that the interface created
// without a platform is any platform's. The writer's teams, or the one that was named, bound
// the search. Of the projects that fit the folder, and of those that do not, one stands for
// each team, so two rows show whether there are several however many projects there are.
const appProjects = `
select distinct on (fits, p.team_id) p.id, p.team_id, $5::text is null or lower(coalesce(f.path, '')) = lower($5) as fits
from projects p left join folders f on f.id = p.folder_id
where p.organization_id = $1 and p.deleted_at is null
	and p.package_name = $2 and ($2 <> '' or p.name = $3) and lower(p.platform) in (lower($4), '')
	and ($6::boolean or p.team_id = any($7))
order by fits desc, p.team_id, p.platform = '', p.duplicate_of is not null, p.folder_id is not null, p.id limit 2`

// look returns the project that the app has in the team and folder, or the team
// that gets a new one.
func (d *destination) look(ctx context.Context) (projectID, teamID int64, err error) {
	packageName, appName := d.app.key()
	var rows []struct {
		ID     int64 `db:"id"`
		TeamID int64 `db:"team_id"`
		Fits   bool  `db:"fits"`
	}
	allTeams, teams := d.w.AllTeams, d.w.Teams
	if d.teamID != 0 {
		allTeams, teams = false, []int64{d.teamID}
	}
	err = d.tx.SelectContext(ctx, &rows, appProjects, d.w.OrganizationID, packageName, appName, d.app.platform, d.folder,
		allTeams, pq.Array(teams))
	if err != nil {
		return 0, 0, storage.Wrap(err, "look for the app")
	}
	switch {
	case len(rows) > 0 && rows[0].Fits:
		if len(rows) > 1 && rows[1].Fits {
			return 0, 0, ErrSeveralTeams
		}
		return rows[0].ID, rows[0].TeamID, nil
	case d.teamID != 0:
		return 0, d.teamID, nil
	case len(rows) == 1:
		return 0, rows[0].TeamID, nil
	case len(rows) > 1:
		return 0, 0, ErrSeveralTeams
	}
	teamID, err = DefaultTeam(ctx, d.tx, d.w)
	return 0, teamID, err
}

// writerTeam finds the first of the teams in the writer's order, or the organization's oldest.
const writerTeam = `
select t.id from teams t left join unnest($2::bigint[]) with ordinality as own(id, n) on own.id = t.id
where t.organization_id = $1 and ($3::boolean or own.id is not null)
order by own.n nulls last, t.id limit 1`

// DefaultTeam is the team of what a writer creates without naming one; ErrNoTeam when there is none.
func DefaultTeam(ctx context.Context, tx *storage.Tx, w account.Writer) (int64, error) {
	var ids []int64
	if err := tx.SelectContext(ctx, &ids, writerTeam, w.OrganizationID, pq.Array(w.Teams), w.AllTeams); err != nil {
		return 0, storage.Wrap(err, "team of the caller")
	}
	if len(ids) == 0 {
		return 0, ErrNoTeam
	}
	return ids[0], nil
}

// fresh is a new app in the team.
func (d *destination) fresh(ctx context.Context, teamID int64) (*projectRow, error) {
	p := &projectRow{Project: Project{OrganizationID: d.w.OrganizationID, TeamID: teamID, Name: d.app.name,
		Platform: d.app.platform, LandingPageMode: d.mode}}
	if !d.app.generic {
		p.PackageName = d.app.packageName
	}
	if d.folder != nil {
		p.FolderPath = *d.folder
	}
	var err error
	p.FolderID, err = ensureFolder(ctx, d.tx, teamID, p.FolderPath)
	return p, err
}
